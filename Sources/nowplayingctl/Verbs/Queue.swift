import ControlProtocol
import NowPlaying
import NowPlayingClient

extension Queue {
    /// The queue.
    static let verbs = [
        Verb(
            name: "add", synopsis: "FILE… | --from FILE",
            summary: "add files, folders, playlists, addresses or the library's tracks to the queue",
            details: "With --search or options for tags, it adds tracks of the library.",
            options: [
                Option("--next", "directly after the current item"),
                Option("--at", value: "NUMBER", "at this index, from 1"),
                Option("--play", "play the first of them"),
                Option(
                    "--from", value: "FILE",
                    "add the items of this file: one path, address or JSON object per line; - is standard input"),
                Playback.strict,
            ] + Selection.hit + Selection.filters + Selection.order,
            examples: [
                ("add ~/Music/album", "a folder"), ("add --next a.flac", "play it next"),
                ("add --from names.txt", "a long list"), ("add --strict a.m3u", "all of a playlist, or nothing"),
                ("add --album \"Kind of Blue\"", "an album of the library"),
                ("add --next --search so what", "the best hit of a search"),
            ],
            arity: 0...Int.max
        ) { (run) throws(Failure) in try Queue.add(run, isNext: run.has("--next")) },
        Verb(
            name: "queue", aliases: ["playlist"], synopsis: "[shuffle [NUMBER…]]",
            summary: "show the queue, or shuffle it once",
            details:
                "shuffle puts the items of the queue into another order, or those with these indexes, which stay where they "
                + "are together; NUMBER is an index from 1, or a range. See shuffle for a shuffled order of play.",
            options: [
                Option(
                    "--format", short: "-f", value: "FORMAT",
                    "print this for each item: {{number}}, {{title}} and other fields of an item")
            ],
            examples: [
                ("queue", "all items; * marks the current one"), ("queue -f '{{uri}}'", "their uris"),
                ("queue shuffle", "another order"), ("queue shuffle 3-9", "of these seven"),
            ],
            arity: 0...Int.max, run: Queue.run),
        Verb(
            name: "remove", aliases: ["del", "delete"], synopsis: "NUMBER…",
            summary: "remove items from the queue",
            details: "NUMBER is an index from 1, or a range such as 3-7. Removing the current item goes to the next.",
            examples: [("remove 2", "the second"), ("remove 1-3 7", "four of them")], arity: 1...Int.max,
            run: Queue.remove),
        Verb(
            name: "move", aliases: ["mv"], synopsis: "NUMBER TO", summary: "move an item to another index",
            examples: [("move 5 1", "move the fifth to the front")], arity: 2...2, run: Queue.move),
        Verb(
            name: "prioritize", aliases: ["prio"], synopsis: "PRIORITY NUMBER…",
            summary: "play items earlier while the play order is shuffled",
            details: "PRIORITY is 0 to 255; items with a higher one play first. NUMBER is an index from 1, or a range.",
            examples: [("prioritize 10 3 5-7", "these four come next"), ("prioritize 0 3", "in its turn")],
            arity: 2...Int.max, run: Queue.prioritize),
        Verb(name: "clear", summary: "empty the queue and stop", examples: [("clear", "empty it")]) {
            (run) throws(Failure) in try run.perform("queue.clear")
        },
    ]
}

/// `add`, `queue`, `remove`, `move`, `prioritize`, `crop`.
enum Queue {
    /// Items of one request.
    private static let page: Int64 = 1000
    /// Items of one request that names fields; the daemon ends a long page earlier.
    private static let longPage: Int64 = 10_000
    /// Ids of one request. Their line stays well below the maximum length.
    private static let idsOfLine = 10_000

    /// `add` and `insert`.
    static func add(_ run: Invocation, isNext: Bool) throws(Failure) {
        var parameters = JSONObject()
        if isNext { parameters["next"] = true }
        if let text = run.value("--at") {
            guard !isNext else { throw .usage("--at and --next exclude each other", verb: run.verb.name) }
            guard let number = ClockText.integer(text), number >= 1 else {
                throw run.wrong("--at", text, "an index in the queue, from 1")
            }
            parameters["at"] = .integer(Int64(number - 1))
        }
        if run.has("--play") { parameters["play"] = true }
        if let selection = try Selection(run) {
            guard !run.has("--from"), run.words.isEmpty || run.has("--search") else {
                throw .usage("FILE and options for the library exclude each other", verb: run.verb.name)
            }
            return try named(run, index: parameters["at"]?.integerValue) { () throws(Failure) in
                try Adding.add(run, selection, parameters)
            }
        }
        if let name = run.value("--from") {
            guard run.words.isEmpty else { throw .usage("--from and FILE exclude each other", verb: run.verb.name) }
            return try named(run, index: parameters["at"]?.integerValue) { () throws(Failure) in
                try ListedItems.add(run, from: name, parameters)
            }
        }
        guard !run.words.isEmpty else {
            throw .usage("\(run.verb.name) needs more: \(run.verb.name) \(run.verb.synopsis)", verb: run.verb.name)
        }
        let results = try named(run, index: parameters["at"]?.integerValue) { () throws(Failure) in
            try Media(run).add(run.words, parameters)
        }
        if run.wantsJSON { for result in results { run.printJSON(result) } }
    }

    /// Carries out a request with this index, which counts from 0 as in the protocol. If it fails because the queue does not
    /// reach so far, the failure counts from 1.
    static func named<Result>(
        _ run: Invocation, index: Int64?, _ request: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        do throws(Failure) { return try request() } catch {
            guard let index, let remote = error.remote, remote.code == 100 || remote.reason == "outOfRange",
                let count = try run.call("queue.list", ["limit": 1])["count"]?.integerValue, index >= count
            else { throw error }
            var failure = beyond(index, count)
            failure.remote = remote
            throw failure
        }
    }

    /// The failure of an index, which counts from 0, beyond the queue.
    private static func beyond(_ index: Int64, _ count: Int64) -> Failure {
        Failure(.noSuchContent, "there is no item \(index + 1); the queue has \(count)")
    }

    /// `queue`: shows or shuffles it.
    static func run(_ run: Invocation) throws(Failure) {
        guard let word = run.words.first?.text else { return try list(run) }
        guard word == "shuffle" else { throw run.wrong(run.verb.name, word, "shuffle, or nothing to show the queue") }
        if run.has("--format") { throw .usage("queue shuffle takes no --format", verb: run.verb.name) }
        guard run.words.count > 1 else { return try run.perform("queue.shuffle") }
        let (ids, version) = try items(run.words.dropFirst().map(\.text), run)
        // Two requests would shuffle the items in two parts.
        guard ids.count <= idsOfLine else {
            throw .usage(
                "queue shuffle takes at most \(idsOfLine) items by their indexes; without any it takes all",
                verb: run.verb.name)
        }
        var parameters = JSONObject([.init("ids", .array(ids))])
        parameters["ifVersion"] = version
        try run.perform("queue.shuffle", .object(parameters))
    }

    /// The queue, a page at a time.
    private static func list(_ run: Invocation) throws(Failure) {
        let template = try run.template()
        let current = try run.state().queueIndex
        var collected: [JSONValue] = []
        var offset: Int64 = 0
        var parameters = JSONObject([.init("limit", .integer(longPage))])
        if let template, !run.wantsJSON { parameters["fields"] = fields(of: template) }
        while true {
            parameters["offset"] = .integer(offset)
            let result = try run.call("queue.list", .object(parameters))
            let items = result["items"]?.arrayValue ?? []
            if run.wantsJSON {
                collected += items
            } else {
                for (index, item) in items.enumerated() {
                    run.output.line(line(item, offset + Int64(index), current, template, run.output))
                }
            }
            offset += Int64(items.count)
            if items.isEmpty || offset >= result["count"]?.integerValue ?? 0 {
                if run.wantsJSON, case .object(var whole) = result {
                    whole["items"] = .array(collected)
                    whole["next"] = nil
                    run.printJSON(.object(whole))
                }
                return
            }
        }
    }

    /// Fields of the items that a template needs, and the id, so that a page never consists of empty objects.
    private static func fields(of template: Template) -> JSONValue {
        let named = template.variables.sorted().flatMap(StateView.fields)
        return .array(ItemField.distinct([.id] + named).map { .string($0.rawValue) })
    }

    /// `remove`: looks up the ids of the indexes, and removes the items if the queue is still the same.
    static func remove(_ run: Invocation) throws(Failure) {
        let (ids, version) = try items(run.words.map(\.text), run)
        try remove(run, ids, version)
    }

    /// `prioritize`.
    static func prioritize(_ run: Invocation) throws(Failure) {
        let text = run.words[0].text
        guard let priority = ClockText.integer(text), (0...255).contains(priority) else {
            throw run.wrong(run.verb.name, text, "a priority from 0 to 255")
        }
        let (ids, version) = try items(run.words.dropFirst().map(\.text), run)
        // A priority does not change the version of the queue.
        for first in stride(from: 0, to: ids.count, by: idsOfLine) {
            let some = ids[first..<min(ids.count, first + idsOfLine)]
            var parameters = JSONObject([
                .init("ids", .array(Array(some))), .init("priority", .integer(Int64(priority))),
            ])
            parameters["ifVersion"] = version
            try run.perform("queue.prioritize", .object(parameters))
        }
    }

    /// Ids of the items at these indexes, and the version of the queue that has them there.
    private static func items(
        _ words: [String], _ run: Invocation
    ) throws(Failure) -> (ids: [JSONValue], version: JSONValue?) {
        var ranges: [ClosedRange<Int64>] = []
        for word in words { ranges.append(try range(word, run)) }
        var ids: [JSONValue] = []
        var known: Set<Int64> = []
        var version: JSONValue?
        for range in ranges {
            var offset = range.lowerBound
            while offset <= range.upperBound {
                let limit = min(page, range.upperBound - offset + 1)
                let result = try run.call("queue.list", ["offset": .integer(offset), "limit": .integer(limit)])
                version = version ?? result["version"]
                let found = result["items"]?.arrayValue?.compactMap { $0["id"] } ?? []
                guard !found.isEmpty else {
                    throw beyond(offset, result["count"]?.integerValue ?? 0)
                }
                ids += found.filter { known.insert($0.integerValue ?? 0).inserted }
                offset += Int64(found.count)
            }
        }
        return (ids, version)
    }

    /// Removes all items except the current one.
    static func crop(_ run: Invocation) throws(Failure) {
        let state = try run.state()
        guard let current = state.itemID else { throw Failure(.nothingPlaying, "there is no current item to keep") }
        var ids: [JSONValue] = []
        var version: JSONValue?
        while true {
            let result = try run.call(
                "queue.list", ["offset": .integer(Int64(ids.count)), "limit": .integer(page)])
            let items = result["items"]?.arrayValue ?? []
            version = version ?? result["version"]
            ids += items.compactMap { $0["id"] }
            if items.isEmpty || ids.count >= result["count"]?.integerValue ?? 0 { break }
        }
        try remove(run, ids.filter { $0.integerValue != current }, version)
    }

    private static func remove(_ run: Invocation, _ ids: [JSONValue], _ version: JSONValue?) throws(Failure) {
        var version = version
        var rest = ids[...]
        while !rest.isEmpty {
            var parameters = JSONObject([.init("ids", .array(Array(rest.prefix(idsOfLine))))])
            // The indexes are of this version of the queue.
            parameters["ifVersion"] = version
            let result = try run.call("queue.remove", .object(parameters))
            version = result["version"]
            rest = rest.dropFirst(idsOfLine)
            if run.wantsJSON { run.printJSON(result) }
        }
    }

    /// `move`.
    static func move(_ run: Invocation) throws(Failure) {
        let from = try index(run.words[0].text, run)
        let to = try index(run.words[1].text, run)
        let result = try run.call("queue.list", ["offset": .integer(from), "limit": 1])
        let count = result["count"]?.integerValue ?? 0
        guard let id = result["items"]?.arrayValue?.first?["id"] else { throw beyond(from, count) }
        guard to < count else { throw beyond(to, count) }
        var parameters = JSONObject([.init("ids", [id]), .init("to", .integer(to))])
        parameters["ifVersion"] = result["version"]
        try run.perform("queue.move", .object(parameters))
    }

    // MARK: Places

    private static func index(_ text: String, _ run: Invocation) throws(Failure) -> Int64 {
        guard let number = ClockText.integer(text), number >= 1 else {
            throw run.wrong(run.verb.name, text, "an index in the queue, from 1")
        }
        return Int64(number - 1)
    }

    /// Indexes from 0 for `3` or `3-7`, which count from 1.
    static func range(_ text: String, _ run: Invocation) throws(Failure) -> ClosedRange<Int64> {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { ClockText.integer($0) }
        if let first = ends.first ?? nil, first >= 1 {
            if ends.count == 1 { return Int64(first - 1)...Int64(first - 1) }
            if ends.count == 2, let last = ends[1], last >= first { return Int64(first - 1)...Int64(last - 1) }
        }
        throw run.wrong(run.verb.name, text, "indexes from 1, such as 3 or 3-7")
    }

    private static func line(
        _ item: JSONValue, _ index: Int64, _ current: Int64?, _ template: Template?, _ output: Output
    ) -> String {
        let view = StateView(["item": item])
        if let template {
            return template.expand { name in
                name == "number" ? .number(Double(index + 1)) : view.variable(name, at: MonotonicTime.now)
            }
        }
        let isCurrent = index == current
        let number = String(index + 1)
        let padding = String(repeating: " ", count: max(0, 4 - number.count))
        let time = view.duration.map { "  " + output.styled(ClockText.clock($0), .dim) } ?? ""
        let name = output.styled(StatusText.name(view) ?? "", isCurrent ? .bold : .plain)
        return (isCurrent ? "* " : "  ") + padding + number + "  " + name + time
    }
}
