import AudioCore
import LinuxSystem
import NowPlaying

/// Publishes changes of the device, at most one a second.
@PlayerLoop final class DeviceNews {
    private unowned let player: Player
    /// The change that was not published yet.
    private var route: Route?
    private var deadline: EventSource?
    private var last: MonotonicTime?

    /// Seconds between two events about devices, at least.
    static let interval = 1.0

    /// Nothing to publish.
    init(_ player: Player) { self.player = player }

    /// True if a change was published within the last second, or is about to be.
    var isRecent: Bool {
        if deadline != nil { return true }
        return last.map { EventLoop.now.seconds(since: $0) < Self.interval } ?? false
    }

    /// Something about the device was published by other means.
    func note() { last = EventLoop.now }

    /// Publishes the device as it is now. `route`: it is another one.
    func tell(_ route: Route?) {
        if let route {
            self.route = Route(from: self.route?.from ?? route.from, to: route.to, reason: route.reason)
        }
        guard deadline == nil else { return }
        let due = last?.advanced(bySeconds: Self.interval) ?? EventLoop.now
        guard due > EventLoop.now else { return publish() }
        deadline = player.loop.deadline(due) { [unowned self] in publish() }
    }

    private func publish() {
        deadline = nil
        let route = self.route
        self.route = nil
        guard let route, route.from != route.to else { return publishState() }
        last = EventLoop.now
        player.playout.publishRoute(route)
    }

    /// The same device, in another state.
    private func publishState() {
        let state = player.state
        guard let published = state.output, let now = player.output.device else { return }
        let isOtherwise =
            state.state == .playing && player.interruptions.current == nil
            && published.bitPerfect != player.fidelity(at: now)
        guard published.state != now.state.rawValue || isOtherwise else { return }
        last = EventLoop.now
        player.publisher.publish(.outputs)
    }

    /// Ends the deadline; for the end of the process.
    func shutDown() { deadline = nil }
}
