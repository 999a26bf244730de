import LinuxSystem
import NowPlaying

/// Whether the amplifier should be on: from the first sound until it has been quiet for a while.
@PlayerLoop final class Activity {
    /// Seconds of silence after which it ends.
    var quietTime: Double
    private(set) var isActive = false

    private let loop: EventLoop
    private let tell: @PlayerLoop (_ event: String) -> Void
    private var deadline: EventSource?

    /// `tell` is called with `active-began` and `active-ended`.
    init(_ loop: EventLoop, quietTime: Double, _ tell: @escaping @PlayerLoop (_ event: String) -> Void) {
        self.loop = loop
        self.quietTime = quietTime
        self.tell = tell
    }

    /// There is sound.
    func sound() {
        deadline = nil
        guard !isActive else { return }
        isActive = true
        tell("active-began")
    }

    /// There is none any more.
    func silence() {
        guard isActive, deadline == nil else { return }
        deadline = loop.deadline(EventLoop.now.advanced(bySeconds: quietTime)) { [unowned self] in
            deadline = nil
            isActive = false
            tell("active-ended")
        }
    }
}
