import ControlProtocol
import Glibc
import LinuxSystem
import MPDProtocol

/// Commands for pictures of songs, which clients read part by part.
@PlayerLoop final class PictureDesk: CommandDesk {
    private let links: LinkPool
    private let names: SongNameTable
    /// Pictures that clients are reading. A client whose picture was dropped opens it again.
    private var pictures = RecentByClient<OpenPicture>()

    /// A desk at the library of these connections, whose songs have these names.
    init(_ links: LinkPool, _ names: SongNameTable) {
        self.links = links
        self.names = names
    }

    /// Forgets a client that has gone.
    func forget(_ client: MPDClient) { pictures[client] = nil }

    /// Answers a part of a picture. `readpicture` takes only a picture inside of the file, `albumart` also one beside it.
    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        let isInside = request.command == .readpicture
        let offset = try request.arguments[1].count()
        let name = request.arguments[0].bytes
        let absent = MPDFailure(.noExist, isInside ? "No such song" : "No file exists")
        guard !SongNames.isTop(name), let uri = names.names.placeURI(of: name) else { throw absent }
        let key = OpenPicture.Key(uri: uri, isInside: isInside)
        if offset > 0, let open = pictures[client], open.key == key {
            return finish(open.answer(offset, client))
        }
        pictures[client] = nil
        song(uri, client) { [weak self, weak client] row in
            guard let self, let client else { return finish(.ok) }
            guard let row, let song = row["uri"] else { return finish(.failed(absent)) }
            if isInside, row["hasPicture"]?.boolValue != true { return finish(.ok) }
            let parameters = JSONObject([.init("uri", song), .init("descriptor", true)])
            links.link(for: client.user).call("library.artwork", parameters) { [weak self, weak client] result in
                guard let self, let client else { return finish(.ok) }
                guard case .success(let reply) = result, let file = reply.file,
                    let open = OpenPicture(key, file, reply.value["type"]?.stringValue)
                else { return finish(isInside ? .ok : .failed(absent)) }
                pictures[client] = open
                finish(open.answer(offset, client))
            }
        }
    }

    /// The row of a song, or of the first song of a folder; nil: there is none.
    private func song(_ uri: String, _ client: MPDClient, _ done: @escaping @PlayerLoop (JSONValue?) -> Void) {
        let fields: JSONValue = ["uri", "hasPicture"]
        let link = links.link(for: client.user)
        link.call("library.get", JSONObject([.init("uris", [.string(uri)]), .init("fields", fields)])) { result in
            guard case .success(let reply) = result else { return done(nil) }
            if let row = reply.value["rows"]?.arrayValue?.first, row != .null { return done(row) }
            let filter: JSONValue = ["folder": ["is": .string(uri)]]
            let parameters = JSONObject([.init("filter", filter), .init("limit", 1), .init("fields", fields)])
            link.call("library.query", parameters) { result in
                guard case .success(let reply) = result else { return done(nil) }
                done(reply.value["rows"]?.arrayValue?.first)
            }
        }
    }
}

/// A picture that a client reads part by part.
private struct OpenPicture {
    /// The requested picture.
    struct Key: Equatable {
        let uri: String
        let isInside: Bool
    }

    let key: Key
    private let file: OwnedDescriptor
    private let type: String?
    private let size: Int

    /// An open file; nil: its size is unknown.
    init?(_ key: Key, _ file: OwnedDescriptor, _ type: String?) {
        var status = stat()
        guard fstat(file.number, &status) == 0 else { return nil }
        self.key = key
        self.file = file
        self.type = key.isInside ? type : nil
        size = Int(status.st_size)
    }

    /// Writes the part from an offset on.
    @PlayerLoop func answer(_ offset: Int, _ client: MPDClient) -> Outcome {
        let part: BinaryPart
        do throws(MPDFailure) {
            part = try BinaryPart(from: offset, of: size, limit: client.binaryLimit)
        } catch {
            return .failed(error)
        }
        var bytes = [UInt8](repeating: 0, count: part.range.count)
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                pread(file.number, $0.baseAddress! + done, $0.count - done, off_t(offset + done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return .failed(MPDFailure(.system, "the picture cannot be read")) }
            done += count
        }
        client.write { $0.part(part, type: type, bytes) }
        return .ok
    }
}
