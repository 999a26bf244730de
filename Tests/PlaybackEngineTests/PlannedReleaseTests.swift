import AudioCore
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import PlaybackEngine

/// Frames of a ring that are released at a known instant, without a wakeup of the loop.
@Suite struct PlannedReleaseTests {
    private static let format = AudioFormat(sampleFormat: .int16, sampleRate: 8000, channelCount: 1)

    private func item() throws -> DecodeItem {
        let file = MediaSource.file(try #require(FilePath(Array("/a.wav".utf8))))
        return DecodeItem(ticket: 1, id: ItemID(1), source: file, position: 0)
    }

    /// A full ring.
    private func ring() throws -> SampleRing {
        let ring = try #require(SampleRing(format: Self.format, capacity: 1000, run: 1))
        _ = ring.writable(run: 1, limit: 1000)
        _ = ring.commit(1000, run: 1)
        return ring
    }

    private func orders(_ ring: SampleRing, before frame: Int64, in seconds: Double) -> DecodeOrders {
        var orders = DecodeOrders()
        let time = MonotonicTime.now.advanced(bySeconds: seconds)
        orders.plan(DecodeOrders.PlannedRelease(ring: ring, frame: frame, time: time))
        return orders
    }

    @Test("frames are released once, at their instant and not before") func instant() throws {
        let ring = try ring()
        var early = orders(ring, before: 600, in: 3600)
        early.releaseDue()
        #expect(ring.begin == 0)
        var due = orders(ring, before: 400, in: 0)
        due.releaseDue()
        #expect(ring.begin == 400)
        #expect(due.plannedRelease == nil)
    }

    @Test("a cancelled plan, a new run and a rest release nothing") func cancelled() throws {
        let ring = try ring()
        let item = try item()
        let cancels: [(inout DecodeOrders) -> Void] = [
            { $0.plan(nil) },
            { $0.begin(DecodeOrders.Beginning(run: 2, item: item, ring: ring, prefill: 1)) },
            { $0.rest(run: 2, in: ring) },
        ]
        for cancel in cancels {
            var orders = orders(ring, before: 400, in: 0)
            cancel(&orders)
            orders.releaseDue()
            #expect(ring.begin == 0)
        }
    }

    @Test("a thread that sleeps continues at the instant") func alarm() async throws {
        let house = try #require(await DecodingHouse.start())
        house.decode.begin(run: 1, try item(), in: nil, prefill: 1)
        let (ring, full) = await house.reached()
        #expect(full == 8000)
        house.decode.setMark(12_000)
        let time = MonotonicTime.now.advanced(bySeconds: 0.02)
        house.decode.planRelease(in: ring, before: 4000, at: time)
        let (_, end) = await house.reached()
        #expect(end == 12_000 && ring.begin == 4000 && time <= .now)
        // It sleeps again, and another order wakes it.
        house.decode.setMark(14_000)
        ring.release(before: 6000)
        house.decode.framesReleased(in: ring)
        #expect(await house.reached().end == 14_000)
        await LoopThread.run { house.decode.end() }
    }
}
