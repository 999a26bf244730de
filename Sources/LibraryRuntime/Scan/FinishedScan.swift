import LinuxSystem
import NowPlaying
import TrackDatabase

/// The last finished scan. The database stores it.
extension ScanReport.Finished {
    private static let names = ["finished", "seconds", "files", "added", "changed", "moved", "missing", "faults"]

    private static func key(_ name: String) -> String { "lastScan.\(name)" }

    /// The scan of this context, which ends now.
    init(_ context: ScanContext) {
        let progress = context.progress
        self.init(
            finished: Self.rounded(WallClock.time(of: .now)),
            seconds: Self.rounded(MonotonicTime.now.seconds(since: context.begin)), files: progress[.done],
            added: progress[.added], changed: progress[.changed], moved: progress[.moved],
            missing: progress[.missing], faults: progress[.faults])
    }

    /// Rounds seconds to milliseconds, the stored precision.
    private static func rounded(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }

    /// Stores the report in the database. A full disk loses only this report; the changes of a scan report the failure.
    /// `firstArrival`: after a full scan, the number before its first new track, see `Arrivals`. `read`: names of the roots
    /// that it has read whole, in the way `reading`.
    func keep(_ writer: LibraryWriter, isFull: Bool, firstArrival: Int64?, read: [[UInt8]], reading: Int64) {
        let numbers = [
            Int64(clamping: (finished * 1000).rounded()), Int64(clamping: (seconds * 1000).rounded()), Int64(files),
            Int64(added), Int64(changed), Int64(moved), Int64(missing), Int64(faults),
        ]
        _ = try? writer.write { batch throws(TrackDatabaseError) in
            for (name, number) in zip(Self.names, numbers) { try batch.setNumber(number, for: Self.key(name)) }
            if isFull { try batch.setNumber(firstArrival, for: Arrivals.mark) }
            for root in read { try batch.setNumber(reading, for: ReadingMark.key(root)) }
        }
    }

    /// The stored report; nil: no scan has finished yet, or it is unreadable.
    init?(_ database: TrackDatabase) {
        guard let reader = try? database.reader() else { return nil }
        var numbers: [Int64] = []
        for name in Self.names {
            guard let number = try? reader.number(for: Self.key(name)) else { return nil }
            numbers.append(number)
        }
        self.init(
            finished: Double(numbers[0]) / 1000, seconds: Double(numbers[1]) / 1000, files: Int(numbers[2]),
            added: Int(numbers[3]), changed: Int(numbers[4]), moved: Int(numbers[5]), missing: Int(numbers[6]),
            faults: Int(numbers[7]))
    }
}
