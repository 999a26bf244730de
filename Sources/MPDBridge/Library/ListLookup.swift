import ControlProtocol
import LinuxSystem
import MPDProtocol

/// Finds lists by the names of clients, and makes MPD's messages for failures of lists.
@PlayerLoop final class ListLookup {
    private let library: LibraryCalls

    /// The failure of a request for a missing list.
    static let noList = MPDFailure(.noExist, "No such playlist")

    /// Lists of this library.
    init(_ library: LibraryCalls) { self.library = library }

    /// The library's parameter for a list: a name of a saved list, or the path of a file. A name with a slash, and a name that
    /// no saved list has, is a path.
    func resolve(
        _ name: [UInt8], _ client: MPDClient, _ finish: @escaping Finish,
        _ done: @escaping @PlayerLoop (JSONObject.Member) -> Void
    ) {
        let text = String(decoding: name, as: UTF8.self)
        let place = library.names.uri(of: name).map { JSONObject.Member("uri", .string($0)) }
        guard !name.isEmpty else { return finish(.failed(Self.noList)) }
        if name.contains(UInt8(ascii: "/")) {
            return find([place].compactMap { $0 }[...], library.link(client), finish, done)
        }
        let own = JSONObject.Member("name", .string(text))
        find([own, place].compactMap { $0 }[...], library.link(client), finish, done)
    }

    /// Calls `done` with the first of these parameters that names a list.
    func find(
        _ candidates: ArraySlice<JSONObject.Member>, _ link: ClientLink, _ finish: @escaping Finish,
        _ done: @escaping @PlayerLoop (JSONObject.Member) -> Void
    ) {
        guard let first = candidates.first else { return finish(.failed(Self.noList)) }
        let parameters = JSONObject([first, .init("limit", 1), .init("fields", ["uri"])])
        link.call("lists.get", parameters) { [weak self] result in
            if case .success = result { return done(first) }
            guard let self else { return finish(.failed(Self.noList)) }
            find(candidates.dropFirst(), link, finish, done)
        }
    }

    /// The outcome of a method of lists in MPD's words.
    static func outcome(_ outcome: Outcome) -> Outcome {
        guard case .failed(let failure) = outcome else { return outcome }
        return .failed(self.failure(failure))
    }

    /// The failure of a method of lists in MPD's words.
    static func failure(_ failure: MPDFailure) -> MPDFailure {
        switch failure.code {
        case .noExist: noList
        case .exist: MPDFailure(.exist, "Playlist already exists")
        case _: failure
        }
    }
}
