import CLinux
import Glibc
import LinuxSystem
import Synchronization
import Testing

/// The C header of the clock page: writer and reader in one process.
@Suite(.timeLimit(.minutes(8))) struct ClockHeaderTests {
    /// A page of this process.
    private final class Page: @unchecked Sendable {
        let address: UnsafeMutableRawPointer
        private let file: OwnedDescriptor

        init() throws {
            var descriptor: Int32 = -1
            address = try #require(linux_clock_page_make(&descriptor))
            file = OwnedDescriptor(descriptor)
        }

        /// Writes a content of which each field follows from one number.
        func write(_ number: Int64) {
            var clock = nowplayingd_clock()
            clock.elapsed = number
            clock.duration = number &* 3
            clock.monotonic = -number
            clock.instance = UInt64(bitPattern: number)
            linux_clock_page_write(address, &clock)
        }

        func read() -> nowplayingd_clock? {
            var clock = nowplayingd_clock()
            return nowplayingd_clock_read(address, &clock) == 1 ? clock : nil
        }

        deinit { linux_clock_page_unmap(address) }
    }

    private final class Flag: Sendable { let isSet = Atomic(false) }

    @Test("no read is torn while another thread writes")
    func whole() throws {
        let page = try Page()
        let (stop, hasStopped) = (Flag(), Flag())
        let isStarted = DetachedThread.start("writer") {
            var number: Int64 = 0
            while !stop.isSet.load(ordering: .relaxed) {
                number += 1
                page.write(number)
            }
            hasStopped.isSet.store(true, ordering: .releasing)
        }
        try #require(isStarted)
        var (last, changes, reads): (Int64, Int, Int) = (0, 0, 0)
        // On one processor the two take turns, and few reads see a change.
        while reads < 2_000_000 || changes < 1000 {
            reads += 1
            // A writer without a processor in the middle of a write.
            guard var clock = page.read() else { continue }
            guard clock.duration == clock.elapsed * 3, clock.monotonic == -clock.elapsed,
                clock.instance == UInt64(clock.elapsed), clock.elapsed >= last
            else {
                Issue.record("a torn read: \(clock)")
                break
            }
            if clock.elapsed > 0, clock.elapsed != last {
                changes += 1
                guard nowplayingd_clock_checksum(&clock) == clock.checksum else {
                    Issue.record("a wrong checksum: \(clock)")
                    break
                }
            }
            last = clock.elapsed
        }
        stop.isSet.store(true, ordering: .relaxed)
        while !hasStopped.isSet.load(ordering: .acquiring) { sched_yield() }
    }

    @Test("a page whose writer was killed in the middle is not read, and the reader comes back")
    func odd() throws {
        let page = try Page()
        page.write(7)
        #expect(page.read()?.elapsed == 7)
        let sequence = page.address.load(as: UInt32.self)
        #expect(sequence % 2 == 0)
        page.address.storeBytes(of: sequence + 1, as: UInt32.self)
        #expect(page.read() == nil)
        page.address.storeBytes(of: sequence, as: UInt32.self)
        #expect(page.read()?.elapsed == 7)
    }

    @Test("each changed bit of the content changes the checksum")
    func checksum() throws {
        let page = try Page()
        page.write(0x0123_4567_89AB_CDEF)
        var clock = try #require(page.read())
        let sum = clock.checksum
        for bit in 0..<MemoryLayout<nowplayingd_clock>.size * 8 {
            // The checksum itself has these bytes.
            let isOwn = (4..<8).contains(bit / 8)
            withUnsafeMutableBytes(of: &clock) { $0[bit / 8] ^= 1 << UInt8(bit % 8) }
            #expect((nowplayingd_clock_checksum(&clock) == sum) == isOwn, "bit \(bit)")
            withUnsafeMutableBytes(of: &clock) { $0[bit / 8] ^= 1 << UInt8(bit % 8) }
        }
    }

    @Test(
        "the position by the formula of the manual",
        arguments: [
            (elapsed: 5_000, duration: -1, rate: 1.0, skew: 0.0, passed: 250, position: 5_250),
            (5_000, 5_100, 1, 0, 250, 5_100), (5_000, -1, 0, 0, 250, 5_000), (5_000, -1, 1, 0, -250, 5_000),
            (5_000, -1, 2, 0.5, 100, 5_300), (100, -1, -1, 0, 250, 0), (0, 0, 1, 0, 250, 0),
        ] as [(elapsed: Int64, duration: Int64, rate: Double, skew: Double, passed: Int64, position: Int64)])
    func position(_ row: (elapsed: Int64, duration: Int64, rate: Double, skew: Double, passed: Int64, position: Int64))
    {
        var clock = nowplayingd_clock()
        clock.elapsed = row.elapsed
        clock.duration = row.duration
        clock.rate = row.rate
        clock.skew = row.skew
        clock.monotonic = 1_000
        #expect(nowplayingd_clock_position(&clock, 1_000 + row.passed) == row.position)
    }
}
