import ControlProtocol
import LinuxSystem
import MPDProtocol

/// Requests of a command list that make one change of the queue.
@PlayerLoop final class JointDesk {
    private let mirror: PlayerMirror
    private let daemon: DaemonCalls
    private let library: LibraryCalls
    private let additions: QueueAdditions

    /// The queue of this mirror.
    init(_ mirror: PlayerMirror, _ daemon: DaemonCalls, _ library: LibraryCalls, _ additions: QueueAdditions) {
        self.mirror = mirror
        self.daemon = daemon
        self.library = library
        self.additions = additions
    }

    /// Carries out several requests as one change.
    func perform(_ requests: [MPDRequest], for client: MPDClient, _ finish: @escaping JointFinish) {
        switch requests[0].command {
        case .add, .addid: add(requests, client, finish)
        case .delete: remove(Self.indexed(requests, mirror.queue.ids), client, finish)
        case .deleteid: remove(Self.identified(requests, mirror.queue.ids), client, finish)
        case _: finish(.first)
        }
    }

    // MARK: Additions

    private func add(_ requests: [MPDRequest], _ client: MPDClient, _ finish: @escaping JointFinish) {
        var index: Int?
        if let place = requests[0].arguments.dropFirst().first {
            guard case .index(let number)? = try? Destination(place), number <= mirror.queue.ids.count else {
                return finish(.first)
            }
            index = number
        }
        var uris: [String] = []
        for request in requests {
            guard let uri = try? additions.uri(request.arguments[0].bytes, client) else { break }
            uris.append(uri)
        }
        let part = uris[...].fittingPrefix
        songs(requests.prefix(part.count), Array(part), client) { [weak self, weak client] count in
            guard let self, let client, count > 1 else { return finish(.first) }
            add(Array(part.prefix(count)), at: index, client) { ids in
                guard let ids else { return finish(.refused) }
                finish(.done(zip(requests, ids).map { $0.command == .addid ? $1 : nil }))
            }
        }
    }

    /// Calls `done` with the number of leading names that are one item each: songs of the library, and all names outside of
    /// it.
    private func songs(
        _ requests: ArraySlice<MPDRequest>, _ uris: [String], _ client: MPDClient,
        _ done: @escaping @PlayerLoop (Int) -> Void
    ) {
        let isAsked = requests.map {
            let name = $0.arguments[0].bytes
            return !SongNames.isAddress(name) && name.first != UInt8(ascii: "/")
        }
        let asked = zip(uris, isAsked).filter(\.1).map { JSONValue.string($0.0) }
        guard library.isThere, !asked.isEmpty else { return done(uris.count) }
        known(asked[...], client) { known in
            var left = known
            done(
                isAsked.prefix { isAsked in
                    if isAsked { left -= 1 }
                    return !isAsked || left >= 0
                }.count)
        }
    }

    /// Songs of one request to the library.
    private static let most = 1000

    /// Calls `done` with the number of leading uris that are songs of the library.
    private func known(_ uris: ArraySlice<JSONValue>, _ client: MPDClient, _ done: @escaping @PlayerLoop (Int) -> Void)
    {
        let part = uris.prefix(Self.most)
        guard !part.isEmpty else { return done(0) }
        let parameters = JSONObject([.init("uris", .array(Array(part))), .init("fields", ["uri"])])
        library.link(client).call("library.get", parameters) { [weak self, weak client] result in
            guard let self, let client, case .success(let reply) = result else { return done(0) }
            let count = (reply.value["rows"]?.arrayValue ?? []).prefix { $0["uri"] != nil }.count
            guard count == part.count else { return done(count) }
            known(uris.dropFirst(count), client) { done(count + $0) }
        }
    }

    /// Adds one item for each uri. `done` gets their ids; nil: no item was added.
    private func add(
        _ uris: [String], at index: Int?, _ client: MPDClient, _ done: @escaping @PlayerLoop ([Int64]?) -> Void
    ) {
        let items = JSONValue.array(uris.map { .string($0) })
        var parameters = JSONObject()
        parameters["at"] = index.map { .integer(Int64($0)) }
        // A folder gives several items, and a missing file gives none.
        let check: @PlayerLoop ([Int64]) -> Void = { [weak self, weak client] ids in
            guard ids.count != uris.count else { return done(ids) }
            guard let self, let client, !ids.isEmpty else { return done(nil) }
            daemon.call("queue.remove", ["ids": .array(ids.map { .integer($0) })], for: client) { _ in done(nil) }
        }
        guard library.isThere else {
            parameters["items"] = items
            parameters["strict"] = true
            return daemon.ask("queue.add", .object(parameters), for: client) { result in
                guard case .success(let answer) = result else { return done(nil) }
                check((answer["ids"]?.arrayValue ?? []).compactMap(\.integerValue))
            }
        }
        var refusal = JSONObject()
        if mirror.isExternal, case .refused = ExternalCall("queue.add", &refusal) { return done(nil) }
        parameters["uris"] = items
        parameters["session"] = mirror.session.map { .string($0) }
        library.link(client).call("library.add", parameters) { [weak self] result in
            guard let self, case .success(let reply) = result, let first = reply.value["firstId"]?.integerValue,
                let count = reply.value["count"]?.integerValue, count > 0
            else { return done(nil) }
            mirror.catchUp { check(Array(first..<first + count)) }
        }
    }

    // MARK: Removals

    /// The ids at the indexes of requests, each counted after the earlier removals, up to the first invalid index.
    nonisolated static func indexed(_ requests: [MPDRequest], _ ids: [Int32]) -> [[Int32]] {
        var left = ids
        var result: [[Int32]] = []
        for request in requests {
            guard let range = (try? request.arguments[0].range())?.clipped(to: left.count) else { break }
            result.append(Array(left[range]))
            left.removeSubrange(range)
        }
        return result
    }

    /// The ids of requests, up to the first that the queue lacks or that is repeated.
    nonisolated static func identified(_ requests: [MPDRequest], _ ids: [Int32]) -> [[Int32]] {
        var left = Set(ids)
        var result: [[Int32]] = []
        for request in requests {
            guard let number = try? request.arguments[0].count(), let id = Int32(exactly: number),
                left.remove(id) != nil
            else { break }
            result.append([id])
        }
        return result
    }

    private func remove(_ removals: [[Int32]], _ client: MPDClient, _ finish: @escaping JointFinish) {
        guard removals.count > 1 else { return finish(.first) }
        let ids = removals.joined().map { JSONValue.integer(Int64($0)) }
        let done = JointOutcome.done([Int64?](repeating: nil, count: removals.count))
        guard !ids.isEmpty else { return finish(done) }
        daemon.call("queue.remove", ["ids": .array(ids)], for: client) { finish($0 == .ok ? done : .refused) }
    }
}
