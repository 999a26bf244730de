import CLinux
import NowPlayingClient

/// The clock page, as nowplayingd-clock(7) has it, and the reader of its C header.
extension FuzzTarget {
    /// The first 144 bytes are a page, the next 144 another content that a writer writes over it, interrupted after as many
    /// words as the byte after them says; the rest are instants.
    static let clockPage = FuzzTarget(
        name: "clock-page",
        seeds: {
            var clock = nowplayingd_clock()
            clock.layout = 1
            clock.elapsed = 12_500_000_000
            clock.duration = 60_000_000_000
            clock.monotonic = 1_000_000_000
            clock.rate = 1
            clock.skew = 1e-5
            let page = ClockPageMemory()
            page.write(clock)
            let stable = page.bytes
            clock.rate = .infinity
            clock.duration = -1
            clock.monotonic = .min
            page.write(clock)
            return [stable + page.bytes + [12] + [UInt8](repeating: 0x55, count: 16), page.bytes + stable]
        },
        run: { bytes in
            let page = ClockPageMemory()
            page.load(bytes.prefix(ClockPageMemory.content))
            let rest = bytes.dropFirst(ClockPageMemory.content)
            var numbers = FuzzNumbers(Array(rest.dropFirst(ClockPageMemory.content)))
            let words = numbers.choice(ClockPageMemory.words)
            let instants = (0..<4).map { _ in numbers.whole() }
            check(page, instants)
            // A stable page, and a writer that is interrupted.
            let (old, new) = (ClockPageMemory.clock(bytes), ClockPageMemory.clock(rest))
            page.write(old)
            let before = page.bytes
            let target = ClockPageMemory()
            target.load(before[...])
            target.write(new)
            page.store(target.bytes, words: words)
            precondition(page.read() == nil, "a page is read whose writer was interrupted")
            page.load(target.bytes[...])
            check(page, instants)
            guard var read = page.read() else { preconditionFailure("a page is not read that was written") }
            precondition(nowplayingd_clock_checksum(&read) == read.checksum, "a wrong checksum")
        })

    /// Reads a page, and computes positions at these instants and at those of its own.
    private static func check(_ page: ClockPageMemory, _ instants: [Int64]) {
        guard let clock = page.read() else {
            return precondition(page.sequence % 2 == 1, "a stable page is not read")
        }
        precondition(page.sequence % 2 == 0, "a page is read that is being written")
        let copy = withUnsafeBytes(of: clock) { Array($0) }
        precondition(copy == page.bytes, "the copy is not the page")
        for instant in instants + [clock.monotonic, .min, .max] {
            let position = MappedClock.position(clock, at: instant)
            precondition(position >= 0)
            precondition(clock.duration < 0 || position <= Double(clock.duration) / 1e9)
        }
    }
}

/// A clock page in memory of its own.
private final class ClockPageMemory {
    /// Bytes of its content.
    static let content = MemoryLayout<nowplayingd_clock>.size
    /// Words of its content.
    static let words = content / 4
    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 4096)
    private var start: UnsafeMutableRawPointer { memory.baseAddress! }

    init() { memory.initializeMemory(as: UInt8.self, repeating: 0) }

    deinit { memory.deallocate() }

    var bytes: [UInt8] { Array(memory.prefix(Self.content)) }
    var sequence: UInt32 { memory.load(as: UInt32.self) }

    /// Replaces the beginning.
    func load(_ bytes: ArraySlice<UInt8>) { memory.copyBytes(from: bytes.prefix(Self.content)) }

    /// The fields that these bytes are, and zeroes after them.
    static func clock(_ bytes: some Collection<UInt8>) -> nowplayingd_clock {
        var clock = nowplayingd_clock()
        withUnsafeMutableBytes(of: &clock) { $0.copyBytes(from: bytes.prefix(content)) }
        return clock
    }

    /// Writes as the daemon does.
    func write(_ clock: nowplayingd_clock) {
        // The sequence of a page begins at 0, and is even while no thread writes.
        memory.storeBytes(of: sequence & ~1, as: UInt32.self)
        var clock = clock
        linux_clock_page_write(start, &clock)
    }

    /// Writes the first words of a content after the sequence, as a writer does that is interrupted after them.
    func store(_ content: [UInt8], words: Int) {
        memory.storeBytes(of: sequence | 1, as: UInt32.self)
        let written = content[4..<min(content.count, 4 + 4 * words)]
        UnsafeMutableRawBufferPointer(rebasing: memory[4...]).copyBytes(from: written)
    }

    func read() -> nowplayingd_clock? {
        var clock = nowplayingd_clock()
        return nowplayingd_clock_read(start, &clock) == 1 ? clock : nil
    }
}
