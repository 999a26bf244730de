import CLinux
import Glibc
import LinuxSystem
import NowPlaying
package import PlaybackEngine
import Synchronization

/// Numbers for items of all sessions, below 2³¹. They ascend in blocks, each noted durably in the state directory
/// before the first of its numbers is used, and restart at 1 after the last. Blocks with items of saved queues are
/// skipped. Any thread.
package final class ItemNumbers: Sendable {
    /// Numbers that are reserved at once, at least.
    package static let block: Int64 = 65_536
    /// The numbers are below this limit.
    package static let limit: Int64 = 1 << 31
    private static let blockCount = limit / block
    /// Numbers before the limit at which the blocks in use are searched again.
    private static let nearLimit: Int64 = 1 << 26
    /// Numbers in reserve for items that cannot wait for the disk.
    private static let spare: Int64 = 1024
    private static let fileName = "next-item"

    private struct State {
        /// The next number; the numbers from it to `end` are reserved.
        var next: Int64 = 0
        var end: Int64 = 0
        /// Blocks with items of queues.
        var used: Set<Int64> = []
        var hasBegun = false
        /// True if `note` was called.
        var isNoted = false
        /// True if `used` was looked for near the limit.
        var isLookedFor = false
    }

    private let path: String
    private let state = Mutex(State())
    /// Held while numbers are reserved.
    private let reserving = Mutex(())
    private let gate = Gate()

    /// Numbers noted in this state directory; `begin` makes them available.
    package init(stateDirectory: String) { path = stateDirectory + "/" + Self.fileName }

    /// Begins after the last run, past these blocks of its queues (`blocks`). Later calls only pass over more blocks. Reads one
    /// small file; `note` makes the numbers available.
    package func begin(past blocks: Set<Int64>) {
        let isFirst = state.withLock { state in
            state.used.formUnion(blocks)
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        guard isFirst else { return }
        let noted = read().map { ($0 + Self.block - 1) / Self.block }
        place(at: noted ?? blocks.max().map { $0 + 1 } ?? 0)
    }

    /// Notes the first numbers in the state directory and opens `take`; later calls do nothing. After `begin`, on a worker
    /// thread, as it waits for the disk. False: the state directory takes no note of them.
    @discardableResult
    package func note() -> Bool {
        let isFirst = state.withLock { state in
            defer { state.isNoted = true }
            return !state.isNoted
        }
        guard isFirst else { return true }
        var isNoted = reserve(1)
        if !isNoted {
            // No earlier run of the last days had these.
            place(at: Self.blockByWallClock())
            isNoted = reserve(1)
        }
        gate.open()
        return isNoted
    }

    /// The next number is the first of this block or, if a queue has that, of the free one after it. None is reserved.
    private func place(at block: Int64) {
        state.withLock { state in
            let isFree = Self.isFree(block, 1, state.used)
            let first = isFree ? block : Self.free(after: block, 1, state.used) ?? block
            state.next = max(1, first * Self.block)
            state.end = state.next
        }
    }

    /// Takes numbers that follow each other; waits for `note`. On a worker thread, as it may write to the disk. Nil: no
    /// such row is free.
    package func take(_ count: Int) -> TakenNumbers? {
        gate.wait()
        let count = Int64(count)
        while true {
            let first = state.withLock { state -> Int64? in
                guard state.end - state.next >= count else { return nil }
                defer { state.next += count }
                return state.next
            }
            if let first { return TakenNumbers(first, count, self) }
            reserve(count)
            guard state.withLock({ $0.end > $0.next }) else { return nil }
        }
    }

    /// Takes one number without waiting. If the reserve is used up because the disk is slow, the number is not noted.
    package func takeOne() -> Int64 {
        state.withLock { state in
            if state.next >= Self.limit || state.next == 0 { state.next = 1 }
            defer {
                state.next += 1
                state.end = max(state.end, state.next)
            }
            return state.next
        }
    }

    /// True if `reserveMore` should be called soon.
    package var isLow: Bool { state.withLock { $0.hasBegun && $0.end - $0.next < Self.spare } }

    /// Reserves the next block. On a worker thread.
    package func reserveMore() { reserve(Self.spare) }

    /// True once, before the numbers restart at 1: call `pass` with the present queues then.
    package func wantsQueues() -> Bool {
        state.withLock { state in
            let isNear = state.next > Self.limit - Self.nearLimit
            defer { state.isLookedFor = isNear }
            return isNear && !state.isLookedFor
        }
    }

    /// Sets the queues whose blocks are skipped when the numbers restart at 1. On a worker thread.
    package func pass(_ queues: [PlayQueue]) {
        let blocks = queues.reduce(into: Set<Int64>()) { $0.formUnion(Self.blocks(of: $1)) }
        state.withLock { $0.used = blocks }
    }

    /// Returns unused numbers, if they were the last ones taken.
    fileprivate func giveBack(_ first: Int64, _ count: Int64) {
        state.withLock { if $0.next == first + count { $0.next = first } }
    }

    /// Blocks with items of this queue, for `begin`.
    package static func blocks(of queue: PlayQueue) -> Set<Int64> {
        var blocks: Set<Int64> = []
        var last: Int64 = -1
        for entry in queue.entries where entry.id.number / block != last && entry.id.number < limit {
            last = entry.id.number / block
            blocks.insert(last)
        }
        return blocks
    }

    // MARK: Reserving

    /// Reserves blocks for at least `count` consecutive numbers. False: they are not noted on the disk.
    @discardableResult
    private func reserve(_ count: Int64) -> Bool {
        reserving.withLock { _ in
            let (next, end, used) = state.withLock { ($0.next, $0.end, $0.used) }
            guard end - next < count || next == 0 else { return true }
            let more = (count - (next == 0 ? 0 : end - next) + Self.block - 1) / Self.block
            let isContinued = next > 0 && Self.isFree(end / Self.block, more, used)
            // Number 0 is not used.
            let whole = (count + 1 + Self.block - 1) / Self.block
            guard let first = isContinued ? end / Self.block : Self.free(after: end / Self.block, whole, used) else {
                state.withLock { $0.next = $0.end }
                return false
            }
            let newEnd = (first + (isContinued ? more : whole)) * Self.block
            let isNoted = write(newEnd)
            state.withLock { state in
                // `takeOne` may have taken a number past the end meanwhile.
                if !isContinued { state.next = max(1, first * Self.block) }
                state.end = max(newEnd, isContinued ? state.end : newEnd)
            }
            return isNoted
        }
    }

    private static func isFree(_ first: Int64, _ count: Int64, _ used: Set<Int64>) -> Bool {
        guard first + count <= blockCount else { return false }
        var block = first
        while block < first + count, !used.contains(block) { block += 1 }
        return block == first + count
    }

    /// The first of `count` consecutive free blocks, from `start` on and then from the beginning; nil: there are none.
    private static func free(after start: Int64, _ count: Int64, _ used: Set<Int64>) -> Int64? {
        free(from: start, to: blockCount, count, used) ?? free(from: 0, to: min(start, blockCount), count, used)
    }

    /// The same in these blocks alone. Loops over ranges would make each start search all conformances of the program.
    private static func free(from start: Int64, to end: Int64, _ count: Int64, _ used: Set<Int64>) -> Int64? {
        var (first, block) = (start, start)
        while block < end, first + count <= blockCount {
            if used.contains(block) { first = block + 1 } else if block + 1 - first >= count { return first }
            block += 1
        }
        return nil
    }

    // MARK: The file

    /// The first number that is not reserved; nil: unknown.
    private func read() -> Int64? {
        let file = linux_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var text = [UInt8](repeating: 0, count: 32)
        let count = Glibc.read(file, &text, text.count)
        guard count > 0 else { return nil }
        let digits = text[..<count].prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        // Earlier versions had numbers up to 2⁵³.
        guard let number = Int64(String(decoding: digits, as: UTF8.self)), number > 0, number <= Self.limit else {
            return nil
        }
        return number
    }

    /// Replaces the file durably: after a power cut no number may be used twice.
    private func write(_ number: Int64) -> Bool {
        let temporary = path + ".new"
        let file = FreshFile.make(temporary)
        guard file >= 0 else { return false }
        let text = Array("\(number)\n".utf8)
        let isWritten = Glibc.write(file, text, text.count) == text.count && fdatasync(file) == 0
        close(file)
        guard isWritten, rename(temporary, path) == 0 else { return false }
        guard let slash = path.lastIndex(of: "/") else { return true }
        let folder = linux_open(String(path[..<slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard folder >= 0 else { return false }
        defer { close(folder) }
        return fsync(folder) == 0
    }

    /// A block by the time: another one every minute, for three weeks.
    private static func blockByWallClock() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return max(0, Int64(now.tv_sec)) / 60 % blockCount
    }
}

/// Consecutive numbers. Unused ones become available again with the end of the object, if they were the last ones
/// taken.
package final class TakenNumbers: Sendable {
    /// The first of them.
    package let first: Int64
    private let count: Int64
    private let source: ItemNumbers
    private let isUsed = Mutex(false)

    fileprivate init(_ first: Int64, _ count: Int64, _ source: ItemNumbers) {
        self.first = first
        self.count = count
        self.source = source
    }

    deinit { if !isUsed.withLock({ $0 }) { source.giveBack(first, count) } }

    /// Marks the numbers as used. Returns the first.
    package func use() -> Int64 {
        isUsed.withLock { $0 = true }
        return first
    }
}

/// Makes threads wait until it is open.
private final class Gate: Sendable {
    private nonisolated(unsafe) let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func open() { sem_post(semaphore) }

    func wait() {
        while sem_wait(semaphore) != 0 && errno == EINTR {}
        // Lets the next thread pass, too.
        sem_post(semaphore)
    }
}
