import LinuxSystem
import NowPlaying

/// Activity for an amplifier: it begins with the first sound and ends after some time without sound.
@PlayerLoop final class Activity {
    /// Seconds of silence after which activity ends.
    private var quietTime: Double
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

    /// Changes the seconds of silence, from the next silence on.
    func setQuietTime(_ seconds: Double) { quietTime = seconds }

    /// There is sound.
    func sound() {
        deadline = nil
        guard !isActive else { return }
        isActive = true
        report("active-began")
    }

    /// The sound has ended.
    func silence() {
        guard isActive, deadline == nil else { return }
        deadline = loop.deadline(EventLoop.now.advanced(bySeconds: quietTime)) { [unowned self] in
            deadline = nil
            isActive = false
            report("active-ended")
        }
    }
}
