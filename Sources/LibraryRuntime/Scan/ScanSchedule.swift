import Glibc
import LinuxSystem
import NowPlaying

/// Times at which all folders are walked: a time of day, an interval while some are not watched, and changes of mounts
/// around or below them.
@PlayerLoop final class ScanSchedule {
    private let loop: EventLoop
    private let settings: LibrarySettings
    private let paths: [FilePath]
    private let walk: @PlayerLoop (_ mountsChanged: Bool) -> Void
    private lazy var workers = Workers(loop, name: "mounts")
    private var mounts: MountWatch?
    private var clock: WallClockWatch?
    private var daily: EventSource?
    private var interval: EventSource?
    /// Mount points around and below the folders; nil: unknown yet.
    private var points: [FilePath]?
    /// Failed scans in a row.
    private var failures = 0

    /// Seconds from a failed scan to the next one; they double with each failure, up to the interval.
    private static let firstRetry = 60.0

    /// Processors that this process may use.
    nonisolated static var processors: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// Calls `walk` at these times, with true after a change of the mounts.
    init(
        _ loop: EventLoop, _ settings: LibrarySettings, _ paths: [FilePath],
        _ walk: @escaping @PlayerLoop (_ mountsChanged: Bool) -> Void
    ) {
        self.loop = loop
        self.settings = settings
        self.paths = paths
        self.walk = walk
        mounts = MountWatch(loop) { [unowned self] in readMounts() }
        if settings.scanAt != nil { clock = WallClockWatch(loop) { [unowned self] in setDaily() } }
        setDaily()
        readMounts()
    }

    isolated deinit {
        daily?.release()
        interval?.release()
    }

    /// Starts or stops the walks at the interval; sooner after a failure.
    func setWalking(_ isWalking: Bool, afterFailure: Bool) {
        interval?.release()
        interval = nil
        failures = afterFailure ? failures + 1 : 0
        guard isWalking || afterFailure else { return }
        let retry = Self.firstRetry * pow(2, Double(min(failures, 20) - 1))
        let seconds = afterFailure ? min(settings.scanInterval, retry) : settings.scanInterval
        interval = loop.deadline(EventLoop.now.advanced(bySeconds: seconds)) { [unowned self] in walk(false) }
    }

    private func setDaily() {
        daily?.release()
        daily = nil
        guard let time = settings.scanAt else { return }
        let now = WallClock.time(of: .now)
        let seconds = max(1, Double(time.next(after: Int(now))) - now)
        daily = loop.deadline(EventLoop.now.advanced(bySeconds: seconds)) { [unowned self] in
            setDaily()
            walk(false)
        }
    }

    private func readMounts() {
        let paths = paths
        workers.submit {
            MountTable.read()?.points.filter { point in
                paths.contains { point.below($0) != nil || $0.below(point) != nil }
            }
        } _: { [weak self] points in
            guard let self, let points else { return }
            let isChanged = self.points.map { $0 != points } ?? false
            self.points = points
            if isChanged { walk(true) }
        }
    }
}
