import AudioDecoders
import Glibc
import LinuxSystem
import NowPlaying
import TrackDatabase
import TrackReading

/// Threads that have files read, each by a process of its own.
final class ReadingPool: Sendable {
    private let context: ScanContext
    private let results: ScanResults
    private let queue = WorkQueue<[ReadJob]>(most: 64)
    private let ended = Semaphore(0)
    private let threads: Int
    /// Reads of one file that changes meanwhile, at most.
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

    /// Without a thread nobody takes what is put; it must not fill the queue.
    private static func drop(_ queue: WorkQueue<[ReadJob]>, _ ended: Semaphore) { ended.post() }

    /// Has files read. Blocks while many wait.
    func read(_ jobs: [ReadJob]) {
        guard results.failure == nil, !jobs.isEmpty else { return }
        queue.put(jobs)
    }

    /// Waits until all files are read, and ends the threads.
    func finish() {
        queue.close()
        for _ in 0..<threads { ended.wait() }
    }

    private static func serve(_ queue: WorkQueue<[ReadJob]>, _ context: ScanContext, _ results: ScanResults) {
        let reader = ReaderProcess(program: context.program)
        defer { reader.end() }
        var meter = ThreadMeter()
        var computed: Int64 = 0
        while let jobs = queue.take() {
            guard results.failure == nil, !context.abandoned.isSet else { continue }
            context.pace.wait()
            do throws(SystemError) { results.add(try read(jobs, reader)) } catch { results.fail(.reader(error)) }
            context.progress.add(.done, jobs.count)
            let total = reader.processorTime
            context.pace.spend(meter.take() + total - computed)
            computed = total
        }
    }

    private static func read(_ jobs: [ReadJob], _ reader: ReaderProcess) throws(SystemError) -> [ScanResults.Item] {
        var items: [ScanResults.Item] = []
        var open: [(job: ReadJob, file: Int32, status: TrackFile)] = []
        defer { for entry in open { close(entry.file) } }
        for job in jobs {
            let file = job.root.open(job.relative, O_RDONLY)
            if file < 0 {
                // A file that is gone is found so by the next look at its folder, which its end brings about.
                if let item = fault(job, TrackFile(size: -1), opening: -file) { items.append(item) }
                continue
            }
            guard let status = status(file) else {
                close(file)
                continue
            }
            open.append((job, file, status))
        }
        var left = Array(open.indices)
        for round in 1...mostReads where !left.isEmpty {
            let outcomes = try reader.read(left.map { open[$0].file })
            var again: [Int] = []
            for (index, outcome) in zip(left, outcomes) {
                let now = status(open[index].file)
                if round < mostReads, let now, now != open[index].status {
                    open[index].status = now
                    again.append(index)
                } else {
                    items += item(open[index].job, open[index].status, outcome)
                }
            }
            left = again
        }
        return items
    }

    /// The file that is open; nil: it is no regular file.
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
            // It is listed by its name, so that it is not read again until it changes.
            [
                .track(TrackRecord(path: job.path, file: file), known: job.known, hadFault: false),
                .fault(TrackFault(path: job.path, file: file, reason: fault, at: WallClock.time(of: .now))),
            ]
        }
        switch outcome {
        case .found(let facts):
            let record = TrackRecord(path: job.path, file: file, facts: facts)
            return [.track(record, known: job.known, hadFault: job.hasFault)]
        case .refused(.notRecognised), .refused(.notAFile):
            return [.track(TrackRecord(path: job.path, file: file), known: job.known, hadFault: job.hasFault)]
        case .refused(.unreadable(let code)):
            let reason = "it cannot be read: \(SystemError.words(code))"
            // The disk may do better next time.
            let fault = TrackFault(
                path: job.path, file: TrackFile(size: -1), reason: reason, at: WallClock.time(of: .now))
            return [.fault(fault)]
        case .killed: return listed("the program that reads tags died of it")
        case .hung: return listed("reading its tags took longer than \(Int(ReaderProcess.patience)) s")
        case .lied(let words): return listed("the program that reads tags gave a bad answer: \(words)")
        }
    }
}
