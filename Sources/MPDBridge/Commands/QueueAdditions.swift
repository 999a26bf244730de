import ControlProtocol
import LinuxSystem
import MPDProtocol

/// Adds items to the queue of a partition, by the library and with the rights of clients.
@PlayerLoop final class QueueAdditions {
    private let mirror: PlayerMirror
    private let library: LibraryCalls

    /// Additions to the queue of this mirror.
    init(_ mirror: PlayerMirror, _ library: LibraryCalls) {
        self.mirror = mirror
        self.library = library
    }

    /// The address or path of a name that a client may add. Throws MPD's message.
    func uri(_ name: [UInt8], _ client: MPDClient) throws(MPDFailure) -> String {
        let text = String(decoding: name, as: UTF8.self)
        let isFile = name.first == UInt8(ascii: "/") && !SongNames.isTop(name) || text.lowercased().hasPrefix("file:")
        // Only users of this machine may add files outside of the library. The daemon applies its own rules to these files.
        if isFile {
            guard client.user != nil, library.isThere || PeerRights.isOwn(client.user) else {
                throw MPDFailure(.permission, "Access denied")
            }
            return text
        }
        let found = SongNames.isAddress(name) ? text : library.names.placeURI(of: name)
        guard let found else { throw MPDFailure(.noExist, "No such directory") }
        return found
    }

    /// Adds files by their uris, in several steps if one line has no room for them.
    func add(_ uris: ArraySlice<String>, at index: Int?, _ client: MPDClient, _ finish: @escaping Finish) {
        guard !uris.isEmpty else { return finish(.ok) }
        // At an index, the last files are added first: the library may leave files out, but the index stays the same.
        let part = index == nil ? uris.fittingPrefix : uris.fittingSuffix
        let parameters = JSONObject([.init("uris", .array(part.map { .string($0) }))])
        add(parameters, at: index, client, allowsNothing: true, answersId: false) { [weak self] outcome in
            guard outcome == .ok else { return finish(outcome) }
            self?.add(index == nil ? uris.dropFirst(part.count) : uris.dropLast(part.count), at: index, client, finish)
        }
    }

    /// Adds items by the library, with the rights of the client. `allowsNothing`: true if an empty addition is no failure.
    func add(
        _ parameters: JSONObject, at index: Int?, _ client: MPDClient, allowsNothing: Bool, answersId: Bool,
        _ finish: @escaping Finish
    ) {
        var parameters = parameters
        if mirror.isExternal, case .refused(let failure) = ExternalCall("queue.add", &parameters) {
            return finish(.failed(failure))
        }
        parameters["session"] = mirror.session.map { .string($0) }
        parameters["at"] = index.map { .integer(Int64($0)) }
        library.link(client).call("library.add", parameters) { [weak self, weak client] result in
            switch result {
            case .failure(let failure):
                finish(allowsNothing && failure.code == .noExist ? .ok : .failed(failure))
            case .success(let reply):
                if answersId, let id = reply.value["firstId"]?.integerValue { client?.write { $0.pair("Id", id) } }
                guard let self else { return }
                mirror.catchUp { finish(.ok) }
            }
        }
    }
}
