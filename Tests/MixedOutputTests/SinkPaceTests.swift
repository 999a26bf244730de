import Glibc
import NowPlaying
import Testing

@testable import MixedOutput

@Suite struct SinkPaceTests {
    private static let chunk: Int64 = 960

    /// A look shortly after the chunk with this number began, at an end that has taken so many chunks.
    private func isKept(_ pace: inout SinkPace, _ number: Int64, taken: Int64) -> Bool {
        pace.isKept(
            taken: taken * Self.chunk, of: 1000 * Self.chunk, due: Double(number * Self.chunk) + 30, chunk: Self.chunk)
    }

    @Test("an end that has taken each chunk that began has our times") func kept() {
        var pace = SinkPace()
        for number in 0...50 as ClosedRange<Int64> {
            let isKept = isKept(&pace, number, taken: number + 1)
            #expect(isKept && pace.missed == nil)
        }
    }

    @Test("one late look is the end's wakeup; two in a row are other times, from the first one's chunk on") func late()
    {
        var pace = SinkPace()
        for number in stride(from: Int64(0), to: 90, by: 18) {
            let isPatient = isKept(&pace, number, taken: number)
            #expect(isPatient && pace.missed == number * Self.chunk)
            let isBack = isKept(&pace, number + 9, taken: number + 10)
            #expect(isBack && pace.missed == nil)
        }
        let first = isKept(&pace, 100, taken: 100)
        let second = isKept(&pace, 109, taken: 109)
        #expect(first && !second && pace.missed == 100 * Self.chunk)
        pace.reset()
        let third = isKept(&pace, 118, taken: 118)
        #expect(third)
    }

    @Test("a look late in a chunk does not contradict a miss before: an end that is late has taken the chunk by then")
    func lateLook() {
        var pace = SinkPace()
        _ = isKept(&pace, 100, taken: 100)
        let isPatient = pace.isKept(taken: 103 * 960, of: 1_000_000, due: 102.5 * 960, chunk: Self.chunk)
        #expect(isPatient && !pace.isClear && !pace.isDoubtful && pace.missed == 100 * Self.chunk)
        let isKept = isKept(&pace, 109, taken: 109)
        #expect(!isKept && pace.isClear && pace.missed == 100 * Self.chunk)
        // The same look without a miss before is in order.
        pace.reset()
        let isFirst = pace.isKept(taken: 112 * 960, of: 1_000_000, due: 111.5 * 960, chunk: Self.chunk)
        #expect(isFirst && pace.isClear && pace.missed == nil)
    }

    @Test("a single miss is doubtful until the next look") func doubt() {
        var pace = SinkPace()
        var doubts = [pace.isDoubtful]
        for taken in [100, 109, 118, 128, 136] as [Int64] {
            _ = isKept(&pace, 100 + 9 * Int64(doubts.count - 1), taken: taken)
            doubts.append(pace.isDoubtful)
        }
        #expect(doubts == [false, true, false, false, false, true])
    }

    @Test("an end can't have taken more than was made") func made() {
        var pace = SinkPace()
        let isKept = pace.isKept(taken: 960, of: 1500, due: 5000, chunk: Self.chunk)
        #expect(isKept && !pace.isClear)
        // It says nothing about a miss before, either.
        let first = self.isKept(&pace, 100, taken: 100)
        let second = pace.isKept(taken: 104 * 960, of: 104 * 960 + 500, due: 104 * 960 + 30, chunk: Self.chunk)
        #expect(first && second && pace.missed == 100 * Self.chunk)
        let third = self.isKept(&pace, 109, taken: 109)
        #expect(!third && pace.isClear)
    }

    @Test("the next look is at the beginning of the last whole chunk, and later than now") func looks() {
        #expect(SinkPace.look(chunk: 960, made: 9601, after: 961, since: 0) == 9 * 960)
        #expect(SinkPace.look(chunk: 960, made: 9599, after: 961, since: 0) == 8 * 960)
        #expect(SinkPace.look(chunk: 960, made: 9650, after: 1000.5, since: 50) == 50 + 9 * 960)
        // Chunks as long as the lead.
        #expect(SinkPace.look(chunk: 9600, made: 9660, after: 60, since: 0) == 9600)
        #expect(SinkPace.look(chunk: 960, made: 100, after: 0, since: 0) == 0)
    }

    @Test("the kernel says how much the other end of a connection has not read", arguments: [AF_INET, AF_INET6])
    func peer(_ family: Int32) throws {
        let listener = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_storage()
        address.ss_family = sa_family_t(family)
        if family == AF_INET6 {
            // ::1
            withUnsafeMutableBytes(of: &address) { $0[8 + 15] = 1 }
        }
        var length = socklen_t(family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size)
        let client = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(client) }
        let isConnected = withUnsafeMutableBytes(of: &address) { bytes in
            let pointer = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
            return bind(listener, pointer, length) == 0 && listen(listener, 1) == 0
                && getsockname(listener, pointer, &length) == 0 && connect(client, pointer, length) == 0
        }
        // A machine without IPv6 has no such address.
        guard isConnected || family == AF_INET else { return }
        let server = accept(listener, nil, nil)
        defer { close(server) }
        let queue = try #require(PeerQueue(client))
        #expect(queue.unread == 0)
        var bytes = [UInt8](repeating: 7, count: 5000)
        #expect(send(client, &bytes, 5000, 0) == 5000)
        #expect(queue.unread == 5000)
        #expect(recv(server, &bytes, 3840, Int32(MSG_WAITALL)) == 3840)
        #expect(queue.unread == 1160)
    }
}
