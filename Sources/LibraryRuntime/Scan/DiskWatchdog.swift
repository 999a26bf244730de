import LinuxSystem
import NowPlaying

/// Checks each second for calls into disks that do not return. It exists only while threads make such calls.
@PlayerLoop final class DiskWatchdog {
    private let loop: EventLoop
    private let calls: DiskCalls
    private let patience: @PlayerLoop (Int) -> Double
    private let stuck: @PlayerLoop (Set<Int>) -> Void
    private var due: EventSource?
    private var seen: [(call: DiskCalls.Call?, since: MonotonicTime)] = []
    private static let interval = 1.0

    /// Calls `stuck` once, with the roots whose calls last longer than the seconds of `patience`.
    init(
        _ loop: EventLoop, _ calls: DiskCalls, patience: @escaping @PlayerLoop (Int) -> Double,
        stuck: @escaping @PlayerLoop (Set<Int>) -> Void
    ) {
        self.loop = loop
        self.calls = calls
        self.patience = patience
        self.stuck = stuck
        arm()
    }

    isolated deinit { due?.release() }

    private func arm() {
        due = loop.deadline(EventLoop.now.advanced(bySeconds: Self.interval)) { [unowned self] in look() }
    }

    private func look() {
        let now = EventLoop.now
        var roots: Set<Int> = []
        for (index, call) in calls.present.enumerated() {
            guard seen.indices.contains(index) else {
                seen.append((call, now))
                continue
            }
            guard let call, seen[index].call == call else {
                seen[index] = (call, now)
                continue
            }
            if now.seconds(since: seen[index].since) >= patience(call.root) { roots.insert(call.root) }
        }
        due = nil
        if roots.isEmpty { arm() } else { stuck(roots) }
    }
}
