import LinuxSystem
import NowPlaying

/// Ends connections whose client sends no line and reads no answer for some time, and waits for no change. All clients share one timer, which
/// does not run while all of them wait for changes.
@PlayerLoop final class ClientPatience {
    /// Seconds without a line after which a connection ends.
    private let seconds: Double

    private let loop: EventLoop
    private unowned let server: MPDServer
    private var count = 0
    private var timer: EventSource?

    /// A timer for this server that watches no client yet.
    init(_ loop: EventLoop, _ server: MPDServer, seconds: Double) {
        self.seconds = seconds
        self.loop = loop
        self.server = server
    }

    /// Adds a client whose last line has just arrived.
    func begin() {
        count += 1
        if timer == nil { arm(EventLoop.now) }
    }

    /// Removes a client.
    func end() {
        count -= 1
        if count == 0 { timer = nil }
    }

    private func arm(_ oldest: MonotonicTime) {
        timer = loop.deadline(oldest.advanced(bySeconds: seconds)) { [unowned self] in passed() }
    }

    private func passed() {
        timer = nil
        let now = EventLoop.now
        for client in timed where client.lastSign.advanced(bySeconds: seconds) <= now { client.isSilent(now) }
        if let oldest = timed.map(\.lastSign).min() { arm(oldest) }
    }

    private var timed: [MPDClient] { server.all.filter(\.isTimed) }
}
