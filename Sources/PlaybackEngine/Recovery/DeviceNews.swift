import AudioCore
import LinuxSystem
import NowPlaying

/// Publishes changes of the device, at most one a second.
@PlayerLoop final class DeviceNews {
    private unowned let player: Player
    /// Change that is not published yet.
    private var route: Route?
    private var deadline: EventSource?
    private var last: MonotonicTime?

    /// Shortest interval between two events about devices, in seconds.
    static let interval = 1.0

    /// Nothing to publish.
    init(_ player: Player) { self.player = player }

    /// True if a change was published within the last second or is about to be.
    var isRecent: Bool {
        if deadline != nil { return true }
        return last.map { EventLoop.now.seconds(since: $0) < Self.interval } ?? false
    }

    /// Notes that another event published the device.
    func note() { last = EventLoop.now }

    /// Publishes the device. `route`: the device is another one.
    func publish(_ route: Route?) {
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

    /// Publishes a new state of the same device.
    private func publishState() {
        let state = player.publisher.state
        guard let published = state.output, let now = player.output.device else { return }
        let isOtherwise =
            state.state == .playing && player.interruptions.current == nil
            && published.bitPerfect != player.publisher.fidelity(at: now)
        let isKnownBetter = (published.uncertainty == nil) != (now.uncertainty == nil)
        guard published.state != now.state.rawValue || isOtherwise || isKnownBetter else { return }
        last = EventLoop.now
        player.publisher.publish(.outputs)
    }

    /// Ends the deadline; for the end of the process.
    func shutDown() { deadline = nil }
}
