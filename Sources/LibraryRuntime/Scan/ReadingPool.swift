import AudioDecoders
import Glibc
import LinuxSystem
import MediaAccess
import NowPlaying
import Synchronization
import TrackDatabase
import TrackReading

/// Threads that read files, each by a process of its own.
final class ReadingPool: Sendable {
    private let context: ScanContext
    private let results: ScanResults
    private let queue = WorkQueue<[ReadJob]>(most: 64)
    private let ended = Semaphore(0)
    private let isFinished = Mutex(false)
    private let threads: Int
    /// Reads of one file that changes during the read, at most.
    private static let mostReads = 4

    /// Starts the threads.
    init(_ context: ScanContext, _ results: ScanResults) {
        self.context = context
        self.results = results
        threads = context.readers
        for _ in 0..<threads {
            let queue = queue
            let ended = ended
            let isStarted = DetachedThread.start("reader", stackBytes: 1 << 20) {
                Self.serve(queue, context, results)
                ended.post()
            }
            if !isStarted {
                results.fail(.reader(SystemError("start a thread", code: EAGAIN)))
                Self.drop(queue, ended)
            }
        }
    }

    /// Counts a thread that could not start as ended.
    private static func drop(_ queue: WorkQueue<[ReadJob]>, _ ended: Semaphore) { ended.post() }

    /// Queues files for the threads. Blocks while many wait.
    func read(_ jobs: [ReadJob]) {
        guard results.failure == nil, !jobs.isEmpty else { return }
        queue.put(jobs)
    }

    /// Waits until all files are read, and ends the threads. A second call does nothing.
    func finish() {
        guard
            !isFinished.withLock({ isFinished in
                defer { isFinished = true }
                return isFinished
            })
        else { return }
        queue.close()
        for _ in 0..<threads { ended.wait() }
    }

    private static func serve(_ queue: WorkQueue<[ReadJob]>, _ context: ScanContext, _ results: ScanResults) {
        let reader = ReaderProcess(program: context.program)
        let line = context.calls.line()
        defer { reader.end() }
        var meter = ThreadMeter()
        var computed: Int64 = 0
        while let jobs = queue.take() {
            guard results.failure == nil, !context.abandoned.isSet else { continue }
            context.pace.wait()
            do throws(SystemError) {
                let items = try read(jobs, reader, line, context.abandoned)
                // The next scan finds the file again.
                if !context.abandoned.isSet { results.add(items) }
            } catch { results.fail(.reader(error)) }
            context.progress.add(.done, jobs.count)
            let total = reader.processorTime
            context.pace.spend(meter.take() + total - computed)
            computed = total
        }
    }

    /// An open file.
    private struct OpenFile {
        let job: ReadJob
        let file: Int32
        var status: TrackFile
        /// Changes during its reads.
        var changes = 0
        /// Timeouts of its disk.
        var waits = 0
    }

    private static func read(
        _ jobs: [ReadJob], _ reader: ReaderProcess, _ line: DiskCalls.Line, _ abandoned: AbandonFlag
    ) throws(SystemError) -> [ScanResults.Item] {
        var items: [ScanResults.Item] = []
        var open: [OpenFile] = []
        defer { for entry in open { line.call(entry.job.root.index) { _ = close(entry.file) } } }
        for job in jobs where !abandoned.isSet {
            let (file, status) = line.call(job.root.index) { () -> (Int32, TrackFile?) in
                let file = job.root.open(job.relative, O_RDONLY)
                return (file, file < 0 ? nil : Self.status(file))
            }
            if file < 0 {
                // The next scan of the folder reports a missing file: its removal is a change of the folder.
                if let item = fault(job, TrackFile(size: -1), opening: -file) { items.append(item) }
            } else if let status {
                open.append(OpenFile(job: job, file: file, status: status))
            } else {
                close(file)
            }
        }
        var left = Array(open.indices)
        while !left.isEmpty, !abandoned.isSet {
            let outcomes = try reader.read(left.map { open[$0].file })
            var again: [Int] = []
            for (index, outcome) in zip(left, outcomes) {
                let (job, file) = (open[index].job, open[index].file)
                if outcome == .unread {
                    again.append(index)
                    continue
                }
                if outcome == .waited, open[index].waits == 0 {
                    // If the disk does not answer at all, `DiskCalls` detects it in this call.
                    open[index].waits += 1
                    readThrough(file, job.root.index, line, abandoned)
                    again.append(index)
                    continue
                }
                let now = line.call(job.root.index) { status(file) }
                if open[index].changes + 1 < mostReads, let now, now != open[index].status {
                    open[index].changes += 1
                    open[index].status = now
                    again.append(index)
                } else {
                    items += item(job, open[index].status, outcome)
                }
            }
            left = again
        }
        return items
    }

    /// Reads a file without using its bytes, so that the kernel caches them; for 60 s at most.
    private static func readThrough(_ file: Int32, _ root: Int, _ line: DiskCalls.Line, _ abandoned: AbandonFlag) {
        let end = MonotonicTime.now.advanced(bySeconds: 60)
        var offset = 0
        withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer in
            while !abandoned.isSet, MonotonicTime.now < end,
                case let count = line.call(root, { pread(file, buffer.baseAddress, buffer.count, offset) }), count > 0
            { offset += count }
        }
    }

    /// The attributes of an open file; nil: it is no regular file.
    private static func status(_ file: Int32) -> TrackFile? {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return TrackFile(status)
    }

    private static func fault(_ job: ReadJob, _ file: TrackFile, opening code: Int32) -> ScanResults.Item? {
        guard ![ENOENT, ENOTDIR, ELOOP, ENXIO].contains(code) else { return nil }
        return .fault(
            TrackFault(
                path: job.path, file: file, reason: "it cannot be opened: \(SystemError.words(code))",
                at: WallClock.time(of: .now)))
    }

    private static func item(
        _ job: ReadJob, _ file: TrackFile, _ outcome: ReaderProcess.Outcome
    ) -> [ScanResults.Item] {
        func listed(_ fault: String) -> [ScanResults.Item] {
            var record = TrackRecord(path: job.path, file: file)
            record.isUnreadable = true
            // It is listed by its name, so that it is not read again before it changes.
            return [
                .track(record, known: job.known, hadFault: false),
                .fault(TrackFault(path: job.path, file: file, reason: fault, at: WallClock.time(of: .now))),
            ]
        }
        switch outcome {
        case .found(let facts):
            let record = TrackRecord(path: job.path, file: file, facts: facts)
            return [.track(record, known: job.known, hadFault: job.hasFault)]
        case .refused(.notRecognised) where PlayableSuffixes.described.matches(job.name):
            return listed(file.size == 0 ? "it is empty" : "no audio format is recognised in it")
        case .refused(.notRecognised), .refused(.notAFile):
            return [.track(TrackRecord(path: job.path, file: file), known: job.known, hadFault: job.hasFault)]
        case .refused(.unreadable(let code)):
            let reason = "it cannot be read: \(SystemError.words(code))"
            // The disk may be faster at the next scan.
            let fault = TrackFault(
                path: job.path, file: TrackFile(size: -1), reason: reason, at: WallClock.time(of: .now))
            return [.fault(fault)]
        case .waited, .unread:
            let reason = "reading it takes longer than \(Int(ReaderProcess.patience)) s"
            return [
                .fault(
                    TrackFault(path: job.path, file: TrackFile(size: -1), reason: reason, at: WallClock.time(of: .now)))
            ]
        case .killed: return listed("the program that reads tags died of it")
        case .hung: return listed("to read its tags takes longer than \(Int(ReaderProcess.patience)) s")
        case .lied(let words): return listed("the program that reads tags gave a bad answer: \(words)")
        }
    }
}
