import LinuxSystem
import NowPlaying

/// A volume on its way: one-shot steps until it is there.
@PlayerLoop final class VolumeFade {
    /// The volume that it ends with, 0 to 1.
    let target: Double
    private static let stepSeconds = 0.05
    private let start: Double
    private let began = EventLoop.now
    private let seconds: Double
    private let apply: @PlayerLoop (_ volume: Double, _ isLast: Bool) -> Void
    private var next: EventSource?

    /// Goes from one volume to another in so many seconds, in even steps of the server's scale; `apply` is called for each.
    init(
        _ loop: EventLoop, from start: Double, to target: Double, over seconds: Double,
        _ apply: @escaping @PlayerLoop (_ volume: Double, _ isLast: Bool) -> Void
    ) {
        self.start = start
        self.target = target
        self.seconds = seconds
        self.apply = apply
        next = loop.deadline(began.advanced(bySeconds: Self.stepSeconds)) { [unowned self] in step() }
    }

    private func step() {
        let now = EventLoop.now
        let part = min(1, now.seconds(since: began) / seconds)
        if part < 1 { next?.setDeadline(now.advanced(bySeconds: Self.stepSeconds)) }
        apply(start + (target - start) * part, part == 1)
    }
}
