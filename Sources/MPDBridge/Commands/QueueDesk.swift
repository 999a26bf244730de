import ControlProtocol
import LinuxSystem
import MPDProtocol

/// Changes of the queue.
@PlayerLoop final class QueueDesk: CommandDesk {
    private let mirror: PlayerMirror
    private let daemon: DaemonCalls
    private let library: LibraryCalls
    private let additions: QueueAdditions
    private let notes: PartitionNotes

    /// The queue of this mirror.
    init(
        _ mirror: PlayerMirror, _ daemon: DaemonCalls, _ library: LibraryCalls, _ additions: QueueAdditions,
        _ notes: PartitionNotes
    ) {
        self.mirror = mirror
        self.daemon = daemon
        self.library = library
        self.additions = additions
        self.notes = notes
    }

    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        let arguments = request.arguments
        let ids = mirror.queue.ids
        switch request.command {
        case .add, .addid: try add(arguments, client, answersId: request.command == .addid, finish)
        case .clear:
            daemon.call("queue.clear", for: client) { [weak self] outcome in
                if outcome == .ok { self?.notes.loaded("") }
                finish(outcome)
            }
        case .delete: remove(ids[try mirror.indices(arguments[0])], client, finish)
        case .deleteid: remove([try mirror.known(arguments[0])], client, finish)
        case .move:
            let range = try mirror.indices(arguments[0])
            guard !range.isEmpty, try arguments[0].range().upper != nil else {
                throw MPDFailure(.argument, "Open-ended range not supported")
            }
            try move(range, arguments[1], client, finish)
        case .moveid:
            let index = mirror.queue.index(of: try mirror.known(arguments[0])) ?? 0
            try move(index..<index + 1, arguments[1], client, finish)
        case .shuffle:
            guard let argument = arguments.first else { return daemon.call("queue.shuffle", for: client, finish) }
            let range = try mirror.indices(argument)
            guard range.count > 1 else { return finish(.ok) }
            daemon.call("queue.shuffle", ["ids": Self.list(ids[range])], for: client, finish)
        case .swap:
            swap(
                try mirror.id(at: try arguments[0].count()), try mirror.id(at: try arguments[1].count()), client, finish
            )
        case .swapid: swap(try mirror.known(arguments[0]), try mirror.known(arguments[1]), client, finish)
        case .prio:
            var chosen: [Int32] = []
            for argument in arguments.dropFirst() { chosen += ids[try mirror.indices(argument)] }
            try prioritize(chosen, arguments[0], client, finish)
        case _:
            var chosen: [Int32] = []
            for argument in arguments.dropFirst() { chosen.append(try mirror.known(argument)) }
            try prioritize(chosen, arguments[0], client, finish)
        }
    }

    private static func list(_ ids: some Sequence<Int32>) -> JSONValue { .array(ids.map { .integer(Int64($0)) }) }

    // MARK: Additions

    private func add(
        _ arguments: [Argument], _ client: MPDClient, answersId: Bool, _ finish: @escaping Finish
    ) throws(MPDFailure) {
        var index: Int?
        if arguments.count > 1 {
            index = try Destination(arguments[1]).insertion(count: mirror.queue.ids.count, current: mirror.currentIndex)
        }
        let uri = try additions.uri(arguments[0].bytes, client)
        if library.isThere {
            return add(uri, arguments[0].bytes, at: index, client, answersId: answersId, finish)
        }
        var parameters = JSONObject()
        parameters["items"] = [.string(uri)]
        parameters["at"] = index.map { .integer(Int64($0)) }
        daemon.ask("queue.add", .object(parameters), for: client) { [weak client] result in
            switch result {
            case .failure(let failure): finish(.failed(failure))
            case .success(let answer):
                if answersId, let id = answer["ids"]?.arrayValue?.first?.integerValue {
                    client?.write { $0.pair("Id", id) }
                }
                finish(.ok)
            }
        }
    }

    /// Adds by the library, which knows the rights of the client. `addid` takes one song, not a folder.
    private func add(
        _ uri: String, _ name: [UInt8], at index: Int?, _ client: MPDClient, answersId: Bool,
        _ finish: @escaping Finish
    ) {
        let absent = MPDFailure(.noExist, answersId ? "No such song" : "No such directory")
        let parameters = JSONObject([.init("uris", [.string(uri)])])
        let end: Finish = { outcome in
            guard case .failed(let failure) = outcome, failure.code == .noExist else { return finish(outcome) }
            finish(.failed(absent))
        }
        guard answersId, !SongNames.isAddress(name), name.first != UInt8(ascii: "/") else {
            return additions.add(parameters, at: index, client, allowsNothing: false, answersId: answersId, end)
        }
        var fields = parameters
        fields["fields"] = ["uri"]
        library.link(client).call("library.get", fields) { [weak self, weak client] result in
            guard let self, let client, case .success(let reply) = result,
                reply.value["rows"]?.arrayValue?.first?["uri"] != nil
            else { return finish(.failed(absent)) }
            additions.add(parameters, at: index, client, allowsNothing: false, answersId: true, end)
        }
    }

    // MARK: Changes of place

    private func remove(_ ids: some Collection<Int32>, _ client: MPDClient, _ finish: @escaping Finish) {
        guard !ids.isEmpty else { return finish(.ok) }
        daemon.call("queue.remove", ["ids": Self.list(ids)], for: client, finish)
    }

    private func move(
        _ range: Range<Int>, _ place: Argument, _ client: MPDClient, _ finish: @escaping Finish
    ) throws(MPDFailure) {
        let ids = mirror.queue.ids
        let index = try Destination(place).move(of: range, count: ids.count, current: mirror.currentIndex)
        daemon.call("queue.move", ["ids": Self.list(ids[range]), "to": .integer(Int64(index))], for: client, finish)
    }

    private func swap(_ one: Int32, _ other: Int32, _ client: MPDClient, _ finish: @escaping Finish) {
        guard one != other, let first = mirror.queue.index(of: one), let second = mirror.queue.index(of: other) else {
            return finish(.ok)
        }
        let (low, high) = (min(first, second), max(first, second))
        let (lower, upper) = (mirror.queue.ids[low], mirror.queue.ids[high])
        // The item with the higher index moves to the lower one, and the other item to the higher index.
        daemon.call("queue.move", ["ids": Self.list([upper]), "to": .integer(Int64(low))], for: client) {
            [weak self, weak client] outcome in
            guard outcome == .ok, let self, let client else { return finish(outcome) }
            daemon.call("queue.move", ["ids": Self.list([lower]), "to": .integer(Int64(high))], for: client, finish)
        }
    }

    private func prioritize(
        _ ids: [Int32], _ priority: Argument, _ client: MPDClient, _ finish: @escaping Finish
    ) throws(MPDFailure) {
        let number = try priority.count(upTo: 255)
        guard !ids.isEmpty else { return finish(.ok) }
        daemon.call(
            "queue.prioritize", ["ids": Self.list(ids), "priority": .integer(Int64(number))], for: client, finish)
    }
}
