import ControlProtocol
import LinuxSystem
import MPDProtocol

/// The command for all fields of a file's tags.
@PlayerLoop final class CommentDesk: CommandDesk {
    private let library: LibraryCalls

    /// Files of this library.
    init(_ library: LibraryCalls) { self.library = library }

    /// Answers the fields of a song's file by their names there.
    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        let name = request.arguments[0].bytes
        let absent = MPDFailure(.noExist, "No such file")
        guard !SongNames.isTop(name), let uri = library.names.placeURI(of: name) else { throw absent }
        library.link(client).call("library.comments", JSONObject([.init("uri", .string(uri))])) {
            [weak client] result in
            guard let client else { return finish(.ok) }
            switch result {
            case .failure(let failure): finish(.failed(failure.code == .noExist ? absent : failure))
            case .success(let reply):
                for comment in reply.value["comments"]?.arrayValue ?? [] {
                    guard let name = comment["name"]?.stringValue, let value = comment["value"]?.stringValue,
                        Self.isCommentName(name)
                    else { continue }
                    client.write { $0.pair(prefix: name, Array(value.utf8)) }
                }
                finish(.ok)
            }
        }
    }

    /// True if clients can read a line with this name: the rule is MPD's.
    nonisolated static func isCommentName(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
