import LinuxSystem
import MPDProtocol

/// One query's test of songs against a filter, on a thread beside the loop. All it needs ends with the query.
@PlayerLoop final class FilterRun {
    private let work: FilterWork
    private let source: PeerSource
    private let tester: SongTester

    /// Processor seconds of a query of the bridge's own user, and of another client.
    nonisolated static let secondsOfOwn = 5
    nonisolated static let secondsOfOthers = 1

    /// A query of a client with this filter.
    init(_ filter: SongFilter, _ work: FilterWork, _ client: MPDClient) {
        self.work = work
        source = client.source
        tester = SongTester(filter, seconds: source.isOwn ? Self.secondsOfOwn : Self.secondsOfOthers)
    }

    /// Calls `done` with the elements whose song matches, in their order, or with the failure of a query that takes too long.
    /// `song`: the song of an element; nil: it has none. The previous call must be done.
    func select<Element: Sendable>(
        _ elements: [Element], _ song: @escaping @Sendable (Element) -> (any FilteredSong)?,
        _ done: @escaping @PlayerLoop (Result<[Element], MPDFailure>) -> Void
    ) {
        select(elements[...], found: [], song, done)
    }

    private func select<Element: Sendable>(
        _ left: ArraySlice<Element>, found: [Element], _ song: @escaping @Sendable (Element) -> (any FilteredSong)?,
        _ done: @escaping @PlayerLoop (Result<[Element], MPDFailure>) -> Void
    ) {
        guard !left.isEmpty else { return done(.success(found)) }
        let tester = tester
        work.submit(source) {
            tester.slice(left, song)
        } _: { slice in
            if let failure = slice.failure { return done(.failure(failure)) }
            // Queries of others get the thread in between. The run lives as long as its elements.
            self.select(left.dropFirst(slice.count), found: found + slice.found, song, done)
        }
    }
}

/// A filter with its compiled patterns and its budget of time, for one thread at a time.
final class SongTester: @unchecked Sendable {
    private let filter: SongFilter
    private let budget: ProcessorBudget
    /// Compiled at the first song.
    private var patterns: [Pattern: RegularExpression] = [:]
    private var matching: RegularExpression.Matching?
    /// Comparisons that reached a limit.
    private var excesses = 0
    /// The pattern of the last of them.
    private var excessive: String?

    /// Number of comparisons of one query that may reach a limit.
    private static let mostExcesses = 100
    /// Nanoseconds of a slice of songs.
    private static let slice: Int64 = 10_000_000

    private struct Pattern: Hashable {
        let text: String
        let foldsCase: Bool
    }

    /// A test of this filter. `seconds`: processor time of all songs.
    init(_ filter: SongFilter, seconds: Int) {
        self.filter = filter
        budget = ProcessorBudget(nanoseconds: Int64(seconds) * 1_000_000_000)
    }

    /// Result of a slice of elements.
    struct Slice<Element: Sendable>: Sendable {
        /// Number of tested elements.
        var count = 0
        var found: [Element] = []
        var failure: MPDFailure?
    }

    /// Tests elements from the first one on, for the time of a slice.
    func slice<Element: Sendable>(
        _ elements: ArraySlice<Element>, _ song: (Element) -> (any FilteredSong)?
    ) -> Slice<Element> {
        // The memory of comparisons ends with the slice.
        matching = RegularExpression.Matching(budget)
        defer { matching = nil }
        let comparison = TextComparison(
            fold: { [unowned self] in budget.isSpent() ? "" : CaseFolding.fold($0) },
            matches: { [unowned self] in matches($0, $1, $2) })
        var result = Slice<Element>()
        var used: Int64 = 0
        for element in elements {
            budget.beginSong()
            let isFound = song(element).map { filter.matches($0, comparison) } ?? false
            used += budget.endSong()
            result.failure = failure
            guard result.failure == nil else { return result }
            result.count += 1
            if isFound { result.found.append(element) }
            if used >= Self.slice { break }
        }
        return result
    }

    private var failure: MPDFailure? {
        if let excessive, budget.isOver || excesses >= Self.mostExcesses {
            return MPDFailure(.argument, "Error in regex: it takes too many steps: \(excessive)")
        }
        return budget.isOver ? MPDFailure(.argument, "the filter takes too long: use a narrower one") : nil
    }

    private func matches(_ text: String, _ pattern: String, _ foldsCase: Bool) -> Bool {
        guard !budget.isSpent(), let matching, let expression = expression(pattern, foldsCase) else { return false }
        switch expression.match(text, matching) {
        case .found(let isFound): return isFound
        case .tooComplex:
            excesses += 1
            excessive = pattern
            return false
        }
    }

    private func expression(_ pattern: String, _ foldsCase: Bool) -> RegularExpression? {
        let key = Pattern(text: pattern, foldsCase: foldsCase)
        if let known = patterns[key] { return known }
        let made = RegularExpression(pattern, foldsCase: foldsCase)
        patterns[key] = made
        return made
    }
}
