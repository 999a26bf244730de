import LinuxSystem
import NowPlaying

/// Activity for an amplifier: on from the first sound until some time without sound.
@PlayerLoop final class Activity {
    /// Seconds of silence after which it ends.
    var quietTime: Double
    private(set) var isActive = false

    private let loop: EventLoop
    private let report: @PlayerLoop (_ event: String) -> Void
    private var deadline: EventSource?

    /// `report` is called with `active-began` and `active-ended`.
    init(_ loop: EventLoop, quietTime: Double, _ report: @escaping @PlayerLoop (_ event: String) -> Void) {
        self.loop = loop
        self.quietTime = quietTime
        self.report = report
    }

    /// There is sound.
    func sound() {
        deadline = nil
        guard !isActive else { return }
        isActive = true
        report("active-began")
    }

    /// There is none any more.
    func silence() {
        guard isActive, deadline == nil else { return }
        deadline = loop.deadline(EventLoop.now.advanced(bySeconds: quietTime)) { [unowned self] in
            deadline = nil
            isActive = false
            report("active-ended")
        }
    }
}
