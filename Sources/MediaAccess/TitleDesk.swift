package import AudioCore
import AudioDecoders
package import LinuxSystem
import NowPlaying
package import PlaybackEngine
import Synchronization

/// Reads the facts of the files of all queues, one file at a time: a thread opens the file, a confined child reads it.
/// It has no thread, child or deadline while no queue has a file to read.
@PlayerLoop package final class TitleDesk: FactsDesk {
    /// A read in progress.
    private struct Look {
        let number: Int
        let reader: any FactsReader
        let id: ItemID
        let path: FilePath?
        /// True once the file is open.
        let isOpen: Flag
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }

    private struct Reader {
        weak var object: (any FactsReader)?
    }

    /// The result of the work of a thread.
    private enum Finding: Sendable {
        case done(LookResult)
        /// The medium hangs or is away.
        case silent
        /// No facts can be read; the text has the reason.
        case impossible(String)
    }

    private let loop: EventLoop
    private let mounts: MediaMounts
    private let child: FactsChild
    private let log: @PlayerLoop (String) -> Void
    private lazy var workers = Workers(loop, name: "titles")
    private var readers: [Reader] = []
    private var look: Look?
    private var looks = 0
    /// Number of reads at the last return of memory to the system.
    private var trimmed = 0
    private var deadline: EventSource?
    /// Deadline of the first read after a rest; nil: the desk rests, or has begun.
    private var beginning: EventSource?
    private var hasBegun = false
    /// Paths of the files whose opening hangs, by the numbers of their reads: each keeps its thread until the kernel
    /// ends the call.
    private var hanging: [Int: FilePath] = [:]
    private var silent = SilentMedia()
    private var watch: MountWatch?
    /// True while a thread determines the medium of a hanging file.
    private var isLocating = false
    private var hasFailed = false

    /// Seconds that a file may take to open.
    private nonisolated static let patience = 5.0
    /// Seconds from the first request to the start of a child. An edited queue is often played at once, and the start
    /// of playback then has the processors for itself.
    private static let calm = 0.3
    /// Number of reads that make a return of memory worthwhile.
    private static let looksPerTrim = 16
    /// Number of files that may hang while others are read.
    private static let mostHanging = 2

    /// A desk with nothing to do. `log` gets one line if no facts can be read.
    package init(
        _ loop: EventLoop, _ mounts: MediaMounts, log: @escaping @PlayerLoop (String) -> Void
    ) {
        self.loop = loop
        self.mounts = mounts
        self.log = log
        child = FactsChild(patience: Self.patience)
    }

    package func add(_ reader: any FactsReader) {
        readers.removeAll { $0.object == nil }
        readers.append(Reader(object: reader))
    }

    package func opened(_ source: MediaSource) {
        if !silent.isEmpty, let path = source.path, silent.answered(path) { mediaReturned() }
    }

    package var isResting: Bool { look == nil && child.process == nil }

    // MARK: The next read

    package func lookAgain() {
        guard look == nil, !isLocating, !hasFailed else { return }
        let present = readers.compactMap(\.object)
        guard !present.contains(where: { $0.forbidsLooks }) else { return deadline = nil }
        guard hasBegun || !present.contains(where: { $0.hasItems }) else { return begin() }
        guard hanging.count < Self.mostHanging, let (reader, item) = next(present) else { return end(present) }
        looks += 1
        let isOpen = Flag()
        let (number, source) = (looks, item.source)
        look = Look(number: number, reader: reader, id: item.id, path: source.path, isOpen: isOpen)
        let due = EventLoop.now.advanced(bySeconds: Self.patience)
        if let deadline {
            deadline.setDeadline(due)
        } else {
            deadline = loop.deadline(due) { [unowned self] in isLate() }
        }
        workers.submit { [mounts, child] in
            Self.find(source, mounts, child, isOpen)
        } _: { [weak self] in
            self?.finish(number, $0)
        }
    }

    private func begin() {
        guard beginning == nil else { return }
        beginning = loop.deadline(EventLoop.now.advanced(bySeconds: Self.calm)) { [unowned self] in
            beginning = nil
            hasBegun = true
            lookAgain()
        }
    }

    /// The next item that is not on a silent medium; the readers take turns.
    private func next(
        _ present: [any FactsReader]
    ) -> (reader: any FactsReader, item: (id: ItemID, source: MediaSource))? {
        for reader in present {
            while let item = reader.nextItem() {
                guard !silent.has(item.source.path) else {
                    reader.take(.leftAlone, of: item.id)
                    continue
                }
                readers.removeAll { $0.object == nil || $0.object === reader }
                readers.append(Reader(object: reader))
                return (reader, item)
            }
        }
        return nil
    }

    private func end(_ present: [any FactsReader]) {
        deadline = nil
        beginning = nil
        hasBegun = false
        child.end()
        if looks > trimmed + Self.looksPerTrim {
            trimmed = looks
            workers.submit {
                ProgramPages.giveBackHeap()
            } _: { _ in
            }
        }
        for reader in present { reader.looksEnded() }
    }

    // MARK: The thread's side

    private nonisolated static func find(
        _ source: MediaSource, _ mounts: MediaMounts, _ child: FactsChild, _ isOpen: Flag
    ) -> Finding {
        let file: MediaFile
        do throws(DecodingError) { file = try MediaOpening.open(source, mounts) } catch {
            return error.isAway ? .silent : .done(.unreadable)
        }
        isOpen.set()
        var outcome = child.read(file, .listed)
        if outcome == .isForeign { outcome = FactsReading.readForeign(file, patience: patience) }
        switch outcome {
        case .found(let facts):
            if case .segment(let segment) = source { return .done(.found(facts.part(segment))) }
            return .done(.found(facts))
        case .refused(let error): return error.isAway ? .silent : .done(.unreadable)
        case .isForeign, .lost: return .done(.unreadable)
        case .hung: return .silent
        case .unavailable(let words): return .impossible(words)
        }
    }

    // MARK: Results

    private func finish(_ number: Int, _ finding: Finding) {
        if let path = hanging.removeValue(forKey: number) {
            // The disk answers again.
            if silent.answered(path) { mediaReturned() }
            return lookAgain()
        }
        guard let look, look.number == number else { return }
        self.look = nil
        switch finding {
        case .done(let result): look.reader.take(result, of: look.id)
        case .silent: leaveAlone(look)
        case .impossible(let words):
            hasFailed = true
            look.reader.take(.unreadable, of: look.id)
            log("titles of files that are not played stay unknown: \(words)")
            return end(readers.compactMap(\.object))
        }
        lookAgain()
    }

    /// The file took too long to open. After the opening the child's own limits apply.
    private func isLate() {
        deadline = nil
        guard let look, !look.isOpen.isSet else { return }
        self.look = nil
        hanging[look.number] = look.path ?? "/"
        leaveAlone(look)
        lookAgain()
    }

    private func leaveAlone(_ look: Look) {
        guard let path = look.path else { return look.reader.take(.unreadable, of: look.id) }
        look.reader.take(.leftAlone, of: look.id)
        watch = watch ?? MountWatch(loop) { [unowned self] in readMounts() }
        isLocating = true
        workers.submit {
            MountTable.read()
        } _: { [weak self] table in
            guard let self else { return }
            isLocating = false
            silent.add(path, table)
            lookAgain()
        }
    }

    private func readMounts() {
        workers.submit {
            MountTable.read()
        } _: { [weak self] table in
            guard let self, let table, silent.mountsChanged(table) else { return }
            mediaReturned()
        }
    }

    private func mediaReturned() {
        if silent.isEmpty { watch = nil }
        for reader in readers.compactMap(\.object) { reader.mediaReturned() }
    }
}
