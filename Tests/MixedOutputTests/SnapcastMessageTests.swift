import NowPlaying
import Testing

@testable import MixedOutput

@Suite struct SnapcastMessageTests {
    @Test("a greeting has its kind, its instant, its length and its text") func hello() throws {
        let text = "{\"ID\": 1}"
        let sent = MonotonicTime(nanoseconds: 5_000_007_000)
        let bytes = SnapcastMessage.bytes(.hello, SnapcastMessage.lengthFirst(text), sent: sent)
        let message = try #require(SnapcastMessage(Array(bytes.prefix(SnapcastMessage.headLength))))
        #expect(message.kind == 5 && message.length == 13 && message.sent == sent)
        #expect(SnapcastMessage.text(Array(bytes.dropFirst(SnapcastMessage.headLength))) == text)
        #expect(SnapcastMessage.time([255, 255, 255, 255, 0, 0, 0, 0]).nanoseconds == -1_000_000_000)
    }

    @Test("heads that are short or announce too much are none, and texts end in their message") func refusals() {
        #expect(SnapcastMessage([UInt8](repeating: 0, count: 25)) == nil)
        var head = [UInt8](repeating: 0, count: 26)
        head[24] = 0x10
        #expect(SnapcastMessage(head)?.length == 1 << 20)
        head[22] = 1
        #expect(SnapcastMessage(head) == nil)
        #expect(SnapcastMessage.text([1, 0, 0]) == nil)
        #expect(SnapcastMessage.text([2, 0, 0, 0, 65]) == nil)
        #expect(SnapcastMessage.text([255, 255, 255, 255, 65]) == nil)
        #expect(SnapcastMessage.text([1, 0, 0, 0, 0xff]) == "\u{fffd}")
    }

    @Test("a chunk is found where it was sent, unless there are two of it") func history() {
        var history = SnapcastHistory(limit: 40)
        var sent: [UInt8] = []
        for number in 0..<200 {
            let piece = (0..<7).map { UInt8(truncatingIfNeeded: number * 7 + $0) }
            piece.withUnsafeBytes { history.append($0) }
            sent += piece
            let last = sent.count / 4 * 4 - 4
            guard last >= 0 else { continue }
            #expect(history.place(of: Array(sent[last..<(last + 4)])) == last)
        }
        #expect(history.place(of: [1, 2, 3, 99]) == nil)
        #expect(history.place(of: [0, 0, 0, 0]) == nil && history.place(of: []) == nil)
        let twice: [UInt8] = [1, 2, 3, 4]
        var other = SnapcastHistory(limit: 40)
        (twice + twice).withUnsafeBytes { other.append($0) }
        #expect(other.place(of: twice) == nil)
    }
}
