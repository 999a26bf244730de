import ControlProtocol
import LinuxSystem
import MPDProtocol

/// The combinations of values of several tags, with counts of their songs: `list` and `count` with groups.
@PlayerLoop final class ValueTable {
    /// Songs of one combination.
    struct Count: Equatable, Sendable {
        /// Number of songs with these values.
        var songs: Int64 = 0
        /// Seconds.
        var duration = 0.0
    }

    /// A combination, its values in the order of the tags, and its count. A value is empty if the songs have none.
    typealias Row = (key: [String], value: Count)

    /// Counts by values in the order of the tags.
    private var counts: [[String]: Count] = [:]

    private let library: LibraryCalls
    private let client: MPDClient
    private let link: ClientLink
    private let share: HeldShare
    private let names: SongNames
    private let tags: [MPDTag]
    private let question: SongQuestion
    private let end: @PlayerLoop (Result<[Row], MPDFailure>) -> Void
    private var waiting = 0
    private var failure: MPDFailure?

    /// Maximum tags that the library can combine: one, and four to group by.
    private static let mostTags = 5
    /// Maximum requests to the library for one table. A look at each song is cheaper than more requests.
    private static let mostRequests = 64
    /// Maximum combinations of the values of one song.
    nonisolated private static let mostCombinations = 4096

    /// Bytes of memory of a combination, and of each of its values without its characters.
    private static let costOfRow = 128
    private static let costOfText = 16

    /// Counts the songs of a query by these tags for a client. `end` is called once, with the combinations in byte order, by
    /// the last tag first.
    init(
        _ library: LibraryCalls, _ client: MPDClient, _ tags: [MPDTag], _ question: SongQuestion,
        _ end: @escaping @PlayerLoop (Result<[Row], MPDFailure>) -> Void
    ) {
        self.library = library
        self.client = client
        link = library.link(client)
        share = client.share()
        names = library.names
        self.tags = tags
        self.question = question
        self.end = end
    }

    /// Begins the count. The table keeps itself alive until its end.
    func begin() {
        guard question.filter == nil, isForLibrary else { return walk() }
        let plans = plans()
        waiting = plans.count
        for plan in plans { ask(plan) }
    }

    /// True if the library can count these tags in few requests.
    private var isForLibrary: Bool {
        guard tags.count <= Self.mostTags, tags.allSatisfy({ LibraryTags.name($0) != nil }) else { return false }
        return tags.reduce(1) { $0 * ($1.substitutes.count + 2) } <= Self.mostRequests
    }

    // MARK: Values

    /// One source of songs' values: the tag itself, a substitute, or no value; and the condition for these songs.
    private struct Plan {
        var chosen: [MPDTag?] = []
        var conditions: [LibraryCondition] = []
    }

    private func plans() -> [Plan] {
        var plans = [Plan(chosen: [], conditions: [question.condition])]
        for tag in tags {
            let chain = [tag] + tag.substitutes
            plans = plans.flatMap { plan in
                (0...chain.count).map { index in
                    var next = plan
                    next.conditions += chain[..<index].map(LibraryCondition.missing)
                    next.chosen.append(index < chain.count ? chain[index] : nil)
                    if index < chain.count { next.conditions.append(.not(.missing(chain[index]))) }
                    return next
                }
            }
        }
        return plans
    }

    private func ask(_ plan: Plan) {
        let condition = LibraryCondition.all(plan.conditions)
        var parameters = JSONObject()
        parameters["filter"] = condition.json
        let chosen = plan.chosen.enumerated().compactMap { index, tag in
            tag.flatMap(LibraryTags.name).map { (index, $0) }
        }
        guard let (first, name) = chosen.first else {
            return link.call("library.count", parameters) { result in
                switch result {
                case .failure(let failure): self.failure = failure
                case .success(let reply):
                    let songs = reply.value["tracks"]?.integerValue ?? 0
                    let duration = reply.value["duration"]?.doubleValue ?? 0
                    if songs > 0 { self.add(self.tags.map { _ in "" }, songs, duration) }
                }
                self.ended()
            }
        }
        // The library has the values of one tag without a filter ready.
        // The library's titles include file names, which are not titles for MPD.
        let isListed = tags.count == 1 && tags[0] != .title && tags[0].substitutes.isEmpty
        if isListed, question.condition.json == nil { parameters["filter"] = nil }
        parameters["tag"] = .string(name)
        let groups = chosen.dropFirst()
        if !groups.isEmpty { parameters["group"] = .array(groups.map { .string($0.1) }) }
        let feed = PageFeed(link, "library.values", parameters)
        feed.drain { row in
            var key = self.tags.map { _ in "" }
            key[first] = row["value"]?.stringValue ?? ""
            for (index, name) in groups { key[index] = row["group"]?[name]?.stringValue ?? "" }
            self.add(key, row["tracks"]?.integerValue ?? 0, row["duration"]?.doubleValue ?? 0)
        } _: { failure in
            self.failure = failure ?? self.failure
            self.ended()
        }
    }

    private func add(_ key: [String], _ songs: Int64, _ duration: Double) {
        guard failure == nil else { return }
        if counts[key] == nil, !share.add(key.reduce(Self.costOfRow) { $0 + $1.utf8.count + Self.costOfText }) {
            counts = [:]
            return failure = HeldShare.tooMuch
        }
        counts[key, default: Count()].songs += songs
        counts[key, default: Count()].duration += duration
    }

    private func ended() {
        waiting -= 1
        if waiting == 0 { finish() }
    }

    private func finish() {
        if let failure { return end(.failure(failure)) }
        let rows = counts.map { Row($0.key, $0.value) }
        counts = [:]
        library.sort(rows, for: client, by: Self.precedes) { self.end(.success($0)) }
    }

    // MARK: Songs

    /// Looks at each song.
    private func walk() {
        let feed = PageFeed(
            link, "library.query", question.parameters(.rows(LibrarySong.fields)),
            test: library.test(question.filter, client))
        feed.drain { row in
            guard let song = LibrarySong(row, self.names) else { return }
            for key in Self.combinations(self.tags, song) { self.add(key, 1, song.duration ?? 0) }
        } _: { failure in
            self.failure = failure ?? self.failure
            self.finish()
        }
    }

    /// Combinations of the values of a song, one value of each tag. If a file has too many values, the last ones are left out.
    nonisolated static func combinations(_ tags: [MPDTag], _ song: LibrarySong) -> [[String]] {
        tags.reduce([[]]) { keys, tag in
            let values = values(tag, song).prefix(max(1, mostCombinations / keys.count))
            return keys.flatMap { key in values.map { key + [$0] } }
        }
    }

    /// Values of a tag of a song, or of its substitute; an empty text if there are none.
    nonisolated private static func values(_ tag: MPDTag, _ song: LibrarySong) -> [String] {
        for candidate in [tag] + tag.substitutes {
            let values = song.values(candidate)
            if !values.isEmpty { return values }
        }
        return [""]
    }
}

extension ValueTable {
    /// True if a combination comes before another one in byte order, by the last tag first.
    nonisolated static func precedes(_ one: Row, _ other: Row) -> Bool {
        for (left, right) in zip(one.key.reversed(), other.key.reversed()) where left != right {
            return left.utf8.lexicographicallyPrecedes(right.utf8)
        }
        return false
    }
}
