import Glibc
import LinuxSystem
import NowPlaying
import Synchronization
import TrackDatabase

/// Collects the results of a scan and writes them in batches. Any thread.
final class ScanResults: Sendable {
    /// A result of one file.
    enum Item: Sendable {
        /// `known`: number of its track; nil: it is new. `hadFault`: its earlier fault is gone.
        case track(TrackRecord, known: Int64?, hadFault: Bool)
        case fault(TrackFault)
        case clearFault(TrackPath)
        /// All playlists of a folder.
        case lists([ListFile], in: [UInt8])
    }

    private struct State {
        var items: [Item] = []
        var since = MonotonicTime.now
        var failure: ScanFailure?
        /// The number before this scan's first new track; nil: the database has none yet.
        var firstArrival: Int64?
    }

    private let context: ScanContext
    /// False: the library was empty, so nothing can have moved.
    private let findsMoves: Bool
    /// True: the database has the number before an earlier scan's first new track.
    private let hasOlderArrivals: Bool
    private let state = Mutex(State())
    private let moves: Mutex<MoveFinder>
    /// Batches that may wait for the writer.
    private let room = Semaphore(ScanResults.mostBatches)
    private static let mostBatches = 2
    private static let batch = 1000
    /// Seconds after which even a few results are written.
    private static let patience = 1.0

    /// No results. `present`: names of the present roots.
    init(_ context: ScanContext, present: [[UInt8]], findsMoves: Bool) throws(ScanFailure) {
        self.context = context
        self.findsMoves = findsMoves
        let reader = try ScanFailure.wrap { () throws(TrackDatabaseError) in try context.database.reader() }
        hasOlderArrivals = try ScanFailure.wrap { () throws(TrackDatabaseError) in
            try reader.number(for: Arrivals.mark) != nil
        }
        moves = Mutex(MoveFinder(reader, present: present))
    }

    /// Reason why the scan must end; nil: none.
    var failure: ScanFailure? { state.withLock { $0.failure } }

    /// Ends the scan.
    func fail(_ failure: ScanFailure) { state.withLock { $0.failure = $0.failure ?? failure } }

    /// The number before this scan's first new track in the database; nil: there is none.
    var firstArrival: Int64? { state.withLock { $0.firstArrival } }

    /// Adds results, and writes the waiting ones if they are many or old. Blocks while the writer is behind.
    func add(_ items: [Item]) {
        let due = state.withLock { state -> [Item] in
            if state.items.isEmpty { state.since = .now }
            state.items += items
            let isDue =
                state.items.count >= Self.batch || MonotonicTime.now.seconds(since: state.since) >= Self.patience
            return isDue ? Self.takeAll(&state) : []
        }
        if !due.isEmpty { write(due) }
    }

    /// Stores a fault of a file or a folder that the next scan checks again.
    func note(_ path: TrackPath, _ reason: String) {
        add([
            .fault(
                TrackFault(path: path, file: TrackFile(size: -1), reason: reason, at: WallClock.time(of: .now)))
        ])
    }

    private static func takeAll(_ state: inout State) -> [Item] {
        defer {
            state.items = []
            state.items.reserveCapacity(batch)
        }
        return state.items
    }

    /// Writes all results, and waits for the writer.
    func drain() throws(ScanFailure) {
        let rest = state.withLock { Self.takeAll(&$0) }
        if !rest.isEmpty { write(rest) }
        for _ in 0..<Self.mostBatches { room.wait() }
        for _ in 0..<Self.mostBatches { room.post() }
        if let failure { throw failure }
    }

    private func write(_ items: [Item]) {
        guard failure == nil else { return }
        // A new file that matches a missing track was moved.
        let moved: [Int64?]
        do throws(TrackDatabaseError) { moved = try findMoves(items) } catch { return fail(.database(error)) }
        let counts = Mutex((count: (added: 0, changed: 0, moved: 0, faults: 0), first: Int64?.none))
        // The end of the transaction takes most of the time.
        let meter = Mutex<ThreadMeter?>(nil)
        let (pace, progress, keeps) = (context.pace, context.progress, findsMoves)
        room.wait()
        context.writer.queue { [self] batch throws(TrackDatabaseError) in
            meter.withLock { $0 = ThreadMeter() }
            let now = WallClock.time(of: .now)
            var first: Int64?
            var count = (added: 0, changed: 0, moved: 0, faults: 0)
            for (index, item) in items.enumerated() {
                switch item {
                case .track(let record, let known, let hadFault):
                    if hadFault { try batch.clearFault(at: record.path) }
                    if let old = moved[index] {
                        try batch.move(old, to: record)
                        count.moved += 1
                        continue
                    }
                    let id = try batch.put(record, added: now)
                    if known == nil { count.added += 1 } else { count.changed += 1 }
                    if known == nil, keeps { first = first ?? id - 1 }
                case .fault(let fault):
                    try batch.putFault(fault)
                    count.faults += 1
                case .clearFault(let path): try batch.clearFault(at: path)
                case .lists(let lists, let folder): try batch.setLists(lists, in: folder)
                }
            }
            if let first, firstArrival == nil, !hasOlderArrivals { try batch.setNumber(first, for: Arrivals.mark) }
            counts.withLock { $0 = (count, first) }
        } done: { [self] outcome in
            pace.spend(meter.withLock { $0?.take() ?? 0 })
            switch outcome {
            case .success:
                let (count, first) = counts.withLock { $0 }
                state.withLock { $0.firstArrival = $0.firstArrival ?? first }
                progress.add(.added, count.added)
                progress.add(.changed, count.changed)
                progress.add(.moved, count.moved)
                progress.add(.faults, count.faults)
            case .failure(let error): fail(.database(error))
            }
            room.post()
        }
    }

    private func findMoves(_ items: [Item]) throws(TrackDatabaseError) -> [Int64?] {
        var found = [Int64?](repeating: nil, count: items.count)
        guard findsMoves else { return found }
        var failure: TrackDatabaseError?
        moves.withLock { finder in
            do throws(TrackDatabaseError) {
                for (index, item) in items.enumerated() {
                    guard case .track(let record, known: nil, _) = item else { continue }
                    found[index] = try finder.missing(like: record)
                }
            } catch { failure = error }
        }
        if let failure { throw failure }
        return found
    }
}
