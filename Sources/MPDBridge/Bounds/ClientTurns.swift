import LinuxSystem

/// Turns of the loop for clients with work left. One turn of the loop serves one client, and the sources take turns, so that a
/// client's lines delay those of others by one turn.
@PlayerLoop final class ClientTurns {
    private let loop: EventLoop
    private var waiting = FairQueue<MPDClient>()
    private var isComing = false

    /// Seconds of a turn after which a client waits for its next one.
    nonisolated static let seconds = 0.002

    /// No waiting clients.
    init(_ loop: EventLoop) { self.loop = loop }

    /// Gives a client a turn.
    func add(_ client: MPDClient) {
        waiting.put(client, of: client.source)
        come()
    }

    private func come() {
        guard !isComing, !waiting.isEmpty else { return }
        isComing = true
        loop.later { [weak self] in self?.serve() }
    }

    private func serve() {
        isComing = false
        let next = waiting.take()
        come()
        next?.element.turn()
    }
}
