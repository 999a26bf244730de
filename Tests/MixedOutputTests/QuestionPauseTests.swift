import NowPlaying
import Testing

@testable import MixedOutput

@Suite struct QuestionPauseTests {
    private func instant(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    /// Instants from 0 to 200 s, in steps of 0.1 s, at which a wish to ask is followed.
    private func questions(areNew: (Int) -> Bool, answer: SinkAnswer? = .same) -> [Int] {
        var pause = QuestionPause()
        return (0..<2000).filter { step in
            let asks = pause.asks(at: instant(Double(step) / 10), areNew: areNew(step))
            if asks { pause.answered(answer) }
            return asks
        }
    }

    @Test(
        "answers that change nothing: two more questions early, then rare ones while the server never keeps our times")
    func growing() {
        let asked = questions { _ in false }
        #expect(zip(asked, asked.dropFirst()).map { $1 - $0 } == [3, 3, 20, 40, 80, 160, 320, 640, 640])
    }

    @Test("an answer that changes the times, or times that were kept since, let the next question follow in a second")
    func short() {
        for asked in [questions(areNew: { _ in true }), questions(areNew: { _ in false }, answer: .other)] {
            #expect(asked == Array(stride(from: 0, to: 2000, by: 10)))
        }
        // Kept once after 100 s: the question waits no more.
        #expect(questions { $0 == 1000 }.contains(1000))
    }

    @Test(
        "a question without an answer about now is repeated four times by itself, and then at signs alone",
        arguments: [nil, SinkAnswer.old])
    func repeated(answer: SinkAnswer?) {
        var pause = QuestionPause()
        var asked: [Int] = []
        for step in 0..<100 where pause.isDue && pause.asks(at: instant(Double(step) / 10), areNew: false) {
            asked.append(step)
            pause.answered(answer)
        }
        #expect(asked == [0, 3, 6, 9, 12] && !pause.isDue)
        let signs = (100..<150).filter { step in
            let asks = pause.asks(at: instant(Double(step) / 10), areNew: false)
            if asks { pause.answered(answer) }
            return asks
        }
        #expect(signs == [100, 110, 120, 130, 140])
        pause.answered(.same)
        #expect(!pause.isDue)
    }

    @Test("the first question is asked at once") func first() {
        var pause = QuestionPause()
        #expect(pause.isDue)
        let asks = pause.asks(at: instant(5), areNew: false)
        #expect(asks && !pause.isDue)
    }
}
