import NowPlaying
import Testing

@testable import MixedOutput

@Suite struct QuestionPauseTests {
    private func instant(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    /// Instants from 0 to 200 s, in steps of 0.1 s, at which a wish to ask is followed.
    private func questions(areNew: (Int) -> Bool, isChange: Bool = false) -> [Int] {
        var pause = QuestionPause()
        return (0..<2000).filter { step in
            let asks = pause.asks(at: instant(Double(step) / 10), areNew: areNew(step))
            if asks { pause.answered(isChange: isChange) }
            return asks
        }
    }

    @Test("answers that change nothing make questions rare while the server never keeps our times") func growing() {
        let asked = questions { _ in false }
        #expect(zip(asked, asked.dropFirst()).map { $1 - $0 } == [20, 40, 80, 160, 320, 640, 640])
    }

    @Test("an answer that changes the times, or times that were kept since, let the next question follow in a second")
    func short() {
        for asked in [questions(areNew: { _ in true }), questions(areNew: { _ in false }, isChange: true)] {
            #expect(asked == Array(stride(from: 0, to: 2000, by: 10)))
        }
        // Kept once after 100 s: the question waits no more.
        #expect(questions { $0 == 1000 }.contains(1000))
    }

    @Test("the first question is asked at once") func first() {
        var pause = QuestionPause()
        #expect(pause.isFirst)
        let asks = pause.asks(at: instant(5), areNew: false)
        #expect(asks && !pause.isFirst)
    }
}
