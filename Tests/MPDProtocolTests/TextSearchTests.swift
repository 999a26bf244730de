import Glibc
import TestSupport
import Testing

@testable import MPDProtocol

/// The search for a part of a text.
@Suite struct TextSearchTests {
    @Test("a part is found as by a comparison at each place") func places() {
        var random = SeededRandom(seed: 44)
        func text(_ count: Int) -> String {
            String((0..<count).map { _ in "abé".randomElement(using: &random) ?? "a" })
        }
        for _ in 0..<5000 {
            let (whole, part) = (text(Int.random(in: 0...12, using: &random)), text(Int.random(in: 0...4, using: &random)))
            let (bytes, wanted) = (Array(whole.utf8), Array(part.utf8))
            let isThere = (0...bytes.count).contains { bytes[$0...].starts(with: wanted) }
            #expect(TextSearch.contains(whole, part) == isThere, "“\(part)” in “\(whole)”")
        }
    }

    /// At each place of the text, half a million letters are equal before one differs: a comparison at each place takes 10^11
    /// steps, which are minutes.
    @Test("the time grows with the sum of the lengths") func time() {
        let whole = String(repeating: "a", count: 1_000_000)
        for part in ["b", "ab", "b" + whole.prefix(10)] {
            let long = String(whole.prefix(500_000)) + part
            var begin = timespec()
            var end = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin)
            #expect(!TextSearch.contains(whole, long))
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
            let seconds = Double(end.tv_sec - begin.tv_sec) + Double(end.tv_nsec - begin.tv_nsec) / 1e9
            #expect(seconds < 1)
        }
    }
}
