import Glibc
import LinuxSystem
import MPDProtocol
import TestSupport
import Testing

@testable import MPDBridge

/// Patterns of clients: their results, and the bounds of time and memory that hold for each of them.
@Suite struct RegularExpressionTests {
    private func match(_ text: String, _ pattern: String, folds: Bool = false) throws -> RegularExpression.Result {
        let budget = ProcessorBudget(nanoseconds: 1_000_000_000)
        budget.beginSong()
        let matching = try #require(RegularExpression.Matching(budget))
        return try #require(RegularExpression(pattern, foldsCase: folds)).match(text, matching)
    }

    @Test(
        "patterns match as in PCRE",
        arguments: [
            ("Anna", "^A.*a$", false, true), ("Anna", "^a", false, false), ("Anna", "^a", true, true),
            ("Ännä", "^ä.*Ä$", true, true), ("abab", "^(ab)\\1$", false, true), ("abac", "^(ab)\\1$", false, false),
            ("abab", "^(?<x>ab)\\k<x>$", false, true), ("foobar", "foo(?=bar)", false, true), ("", "^$", false, true),
            ("x", "(Rock|Jazz)", false, false),
        ])
    func results(_ text: String, _ pattern: String, _ folds: Bool, _ isFound: Bool) throws {
        #expect(try match(text, pattern, folds: folds) == .found(isFound))
    }

    @Test("an invalid pattern, a long one and one with many captures are none")
    func invalid() {
        let captures = (0..<200).map { "(?<n\($0)>a)" }.joined()
        for pattern in [
            ")(", String(repeating: "a", count: RegularExpression.maximumLength + 1), String(captures.prefix(1024)),
            String(repeating: "(a)", count: 200) + "\\1",
        ] { #expect(RegularExpression(pattern, foldsCase: false) == nil, "\(pattern.prefix(20))") }
        // Groups that the pattern does not refer to are not captured.
        #expect(RegularExpression(String(repeating: "(a)", count: 200), foldsCase: false) != nil)
    }

    /// Patterns that take unlimited time or memory without bounds.
    private static let slow = [
        "(a+)+[xy]", "^(a+)+$b", "(?:.*.*.*.*)*[xy]", "(?:a*+)*[xy]", "(?=(a*))*[xy]", "a*[xy]", "\\X*[xy]",
        "(\\w+\\s*)+[:;]", "(a?){0,1000}[bc]", "(a|a|a|a)+[xy]", "((?:a*){5})(\\1)*[xy]", "(?<!a)[xy]|a*[xy]",
        "(?:a?){200}(?:a){200}[xy]", "(?R)?a*[xy]", "(?(?=a)a|b)*[xy]",
    ]

    @Test("no pattern takes a song more than its time, and nothing that is kept grows", arguments: slow)
    func bounds(_ pattern: String) throws {
        let filter = try SongFilter([Argument("(title =~ \"\(pattern.replacing("\\", with: "\\\\"))\")")], folds: false)
        let tester = SongTester(filter, seconds: 1)
        let texts = [40, 4000, 65_536].map { String(repeating: "a", count: $0) }
        let before = Self.memory
        let begin = Self.processorSeconds
        for text in texts {
            let song = PatternSong(title: text)
            let start = Self.processorSeconds
            let slice = tester.slice([song][...]) { $0 }
            // A look at the clock may come late by the time for one pass over the text.
            #expect(Self.processorSeconds - start < 0.1, "\(text.count)")
            #expect(slice.found.isEmpty)
        }
        #expect(Self.processorSeconds - begin < 0.3)
        // Other suites run in this process; without a bound it would be hundreds of MiB.
        #expect(Self.memory - before < 16 << 20)
    }

    @Test("a query ends at its budget, however many songs it has") func budget() throws {
        let filter = try SongFilter([Argument("(title =~ \"a*[xy]\")")], folds: false)
        let tester = SongTester(filter, seconds: 1)
        // Each takes a few milliseconds, less than a song may take.
        let songs = (0..<10_000).map { _ in PatternSong(title: String(repeating: "a", count: 3000)) }
        let begin = Self.processorSeconds
        var rest = songs[...]
        var failure: MPDFailure?
        while failure == nil, !rest.isEmpty {
            let start = Self.processorSeconds
            let slice = tester.slice(rest) { $0 }
            #expect(Self.processorSeconds - start < 0.12)
            failure = slice.failure
            rest = rest.dropFirst(slice.count)
        }
        #expect(failure != nil && !rest.isEmpty)
        #expect(Self.processorSeconds - begin < 1.5)
    }

    @Test("a filter has a limit of tests and of patterns") func limits() throws {
        func filter(_ test: String, _ count: Int) -> Result<SongFilter, MPDFailure> {
            let arguments = (0..<count).map { _ in Argument(test) }
            return Result { () throws(MPDFailure) in try SongFilter(arguments, folds: false) }
        }
        func isRefused(_ test: String, _ count: Int) -> Bool {
            if case .failure = filter(test, count) { return true }
            return false
        }
        for (test, most) in [
            ("(title == 'a')", SongFilter.maximumTests), ("(!(title == 'a'))", SongFilter.maximumTests),
            ("(title =~ 'a')", SongFilter.maximumPatterns),
        ] {
            #expect(!isRefused(test, most), "\(test)")
            #expect(isRefused(test, most + 1), "\(test)")
        }
    }

    /// Bytes of this process in memory.
    private static var memory: Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, 128, file) != nil else { return 0 }
        let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }

    private static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}

/// A song with a title alone.
private struct PatternSong: FilteredSong {
    let title: String

    func values(_ tag: MPDTag) -> [String] { tag == .title ? [title] : [] }
    let file = ""
    let modified: Int64? = nil
    let added: Int64? = nil
    let sampleRate: Int? = nil
    let bits: FormatTest.SampleBits? = nil
    let channels: Int? = nil
    let priority = 0
}
