import LinuxSystem
import MPDProtocol

/// Messages between clients.
@PlayerLoop final class MessageDesk: CommandDesk {
    private let clients: PartitionClients
    /// Channels of clients.
    private var board = MessageBoard()

    /// Channels of these clients, none at first.
    init(_ clients: PartitionClients) { self.clients = clients }

    /// Forgets a client that has gone.
    func forget(_ client: MPDClient) { board.forget(client.number) { clients.noteHere($0) } }

    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        let arguments = request.arguments
        let before = board.names
        switch request.command {
        case .subscribe: try board.subscribe(client.number, arguments[0].text)
        case .unsubscribe: try board.unsubscribe(client.number, arguments[0].text)
        case .channels: for name in board.names { client.write { $0.pair("channel", name) } }
        case .readmessages:
            for message in board.take(client.number) {
                client.write { $0.pair("channel", message.channel) }
                client.write { $0.pair("message", message.text) }
            }
        case _:
            let all = clients.all
            let readers = try board.send(arguments[0].text, arguments[1].text) { number in
                guard let memory = clients.memory else { return nil }
                return all.first { $0.number == number }.map { memory.share(of: $0.source) }
            }
            let found = Set(readers)
            for reader in all where found.contains(reader.number) {
                reader.note(SubsystemSet(.message))
            }
        }
        if board.names != before { clients.noteHere(.subscription) }
        finish(.ok)
    }
}
