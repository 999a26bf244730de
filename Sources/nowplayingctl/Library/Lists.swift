import ControlProtocol
import NowPlayingClient

/// `lists` and its words.
enum Lists {
    /// One subcommand of `lists`: its arguments, their number, its own options, and its action.
    private struct Deed: Sendable {
        var synopsis: String
        var arity: ClosedRange<Int>
        var options: [String] = []
        var run: @Sendable (Invocation, [Word]) throws(Failure) -> Void
    }

    private static let words: [String: Deed] = [
        "show": Deed(synopsis: "show LIST", arity: 1...1, options: ["--format"], run: show),
        "save": Deed(
            synopsis: "save LIST [FILE…]", arity: 1...Int.max,
            options: ["--queue", "--replace", "--sort"] + Selection.filters.map(\.name), run: save),
        "play": Deed(synopsis: "play LIST", arity: 1...1) { (run, words) throws(Failure) in
            try Adding.play(run, Selection(list: words[0].text))
        },
        "add": Deed(synopsis: "add LIST", arity: 1...1, options: ["--next"]) { (run, words) throws(Failure) in
            let place = run.has("--next") ? JSONObject([.init("next", true)]) : JSONObject()
            try Adding.add(run, Selection(list: words[0].text), place)
        },
        "append": Deed(synopsis: "append LIST FILE…", arity: 2...Int.max, run: append),
        "remove": Deed(synopsis: "remove LIST NUMBER…", arity: 2...Int.max, run: remove),
        "move": Deed(synopsis: "move LIST NUMBER TO", arity: 3...3, run: move),
        "rename": Deed(synopsis: "rename LIST NAME", arity: 2...2) { (run, words) throws(Failure) in
            try run.performLibrary(
                "lists.rename",
                JSONObject([.init("name", .string(words[0].text)), .init("to", .string(words[1].text))]))
        },
        "delete": Deed(synopsis: "delete LIST", arity: 1...1) { (run, words) throws(Failure) in
            try run.performLibrary("lists.delete", JSONObject([.init("name", .string(words[0].text))]))
        },
    ]

    /// `lists`: names the lists, or runs the subcommand.
    static func run(_ run: Invocation) throws(Failure) {
        guard let first = run.words.first else {
            try run.restrict("lists without a word", to: ["--format"])
            return try names(run)
        }
        guard let word = words[first.text] else {
            let nearest = NearestName.suggestion(for: first.text, among: Array(words.keys))
            throw .usage(
                "lists has no \"\(first.shown)\"" + (nearest.map { "; did you mean \($0)?" } ?? ""), verb: "lists")
        }
        let rest = Array(run.words.dropFirst())
        guard word.arity.contains(rest.count) else { throw .usage("expected lists \(word.synopsis)", verb: "lists") }
        try run.restrict("lists \(first.text)", to: word.options)
        try word.run(run, rest)
    }

    // MARK: Reading

    private static func names(_ run: Invocation) throws(Failure) {
        let template = try run.template()
        let result = try run.library("lists.list")
        if run.wantsJSON { return run.printJSON(result) }
        let lists = (result["lists"]?.arrayValue ?? []).map(LibraryRow.init)
        if let template {
            for list in lists { run.output.line(template.expand(list.variable)) }
            return
        }
        let entries = lists.map { list in
            let kind = list.text("kind") == "filter" ? "saved filter" : nil
            let count = list.count("count").map { LibraryText.count($0, "item") }
            let access = list.json["isReadOnly"] == true ? "a file of the library, read-only" : nil
            return (name: list.text("name") ?? "", remark: StatusText.joined([kind, count, access]))
        }
        let columns = run.output.isTerminal ? run.output.columns : nil
        for row in TextTable(entries, margin: 0, columns: columns).rows {
            run.output.line(row.name + run.output.styled(row.remark, .dim))
        }
    }

    private static func show(_ run: Invocation, _ words: [Word]) throws(Failure) {
        let template = try run.template()
        var parameters = JSONObject([.init("name", .string(words[0].text)), .init("limit", 1000)])
        if let template { parameters["fields"] = try Tracks.fields(template, always: "uri", run) }
        var all: [JSONValue] = []
        var offset = 0
        while true {
            parameters["offset"] = .integer(Int64(offset))
            let result = try run.library("lists.get", parameters)
            let rows = result["rows"]?.arrayValue ?? []
            if run.wantsJSON { all += rows }
            for (index, row) in rows.enumerated() where !run.wantsJSON {
                let number = offset + index + 1
                let line = Tracks.line(LibraryRow(row), number, template, run.output)
                run.output.line(template == nil ? TextTable.number(number) + "  " + line : line)
            }
            offset += rows.count
            if rows.isEmpty || offset >= Int(result["count"]?.integerValue ?? 0) {
                if run.wantsJSON, case .object(var whole) = result {
                    whole["rows"] = .array(all)
                    whole["next"] = nil
                    run.printJSON(.object(whole))
                }
                return
            }
        }
    }

    // MARK: Changes

    /// `lists save` and mpc's `save`: the queue, files, or a filter.
    static func save(_ run: Invocation, _ words: [Word]) throws(Failure) {
        let name = words[0].text
        var parameters = JSONObject([.init("name", .string(name))])
        let filter = try Selection.filter(run)
        let files = Array(words.dropFirst())
        guard [filter != nil, !files.isEmpty, run.has("--queue")].filter({ $0 }).count <= 1 else {
            throw .usage("FILE, --queue and options for tags exclude each other", verb: run.verb.name)
        }
        if let filter {
            parameters["filter"] = filter
            parameters["sort"] = run.sort()
        } else if files.isEmpty {
            var session = run.value("--session")
            if session == nil { session = try run.state().text("session") }
            parameters["session"] = .string(session ?? "main")
        } else {
            parameters["uris"] = .array(try Places.uris(files, run).map(JSONValue.string))
        }
        if !run.has("--replace") { parameters["ifVersion"] = 0 }
        do throws(Failure) { try run.performLibrary("lists.save", parameters) } catch {
            guard !run.has("--replace"), error.remote?.reason == "version" else { throw error }
            throw Failure(
                .general, "there is a list \"\(TerminalText.safe(name))\" already; --replace overwrites it")
        }
    }

    private static func append(_ run: Invocation, _ words: [Word]) throws(Failure) {
        let uris = try Places.uris(Array(words.dropFirst()), run).map { JSONValue.string($0) }
        try run.performLibrary(
            "lists.save",
            JSONObject([
                .init("name", .string(words[0].text)), .init("uris", .array(uris)), .init("append", true),
            ]))
    }

    private static func remove(_ run: Invocation, _ words: [Word]) throws(Failure) {
        var ranges: [ClosedRange<Int64>] = []
        for word in words.dropFirst() { ranges.append(try Queue.range(word.text, run)) }
        // Removal from the end to the start keeps the indexes of the other items.
        var edits: [JSONValue] = []
        for range in merged(ranges).reversed() {
            edits.append(["remove": ["at": .integer(range.lowerBound), "count": .integer(Int64(range.count))]])
        }
        try edit(run, words[0].text, edits)
    }

    /// Ranges in rising order, none of which overlaps another.
    private static func merged(_ ranges: [ClosedRange<Int64>]) -> [ClosedRange<Int64>] {
        var result: [ClosedRange<Int64>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = result.last, range.lowerBound <= last.upperBound {
                result[result.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                result.append(range)
            }
        }
        return result
    }

    private static func move(_ run: Invocation, _ words: [Word]) throws(Failure) {
        let from = try Queue.range(words[1].text, run)
        let to = try Queue.range(words[2].text, run).lowerBound
        try edit(
            run, words[0].text,
            [
                [
                    "move": [
                        "from": .integer(from.lowerBound), "count": .integer(Int64(from.count)), "to": .integer(to),
                    ]
                ]
            ])
    }

    private static func edit(_ run: Invocation, _ name: String, _ edits: [JSONValue]) throws(Failure) {
        let parameters = JSONObject([.init("name", .string(name)), .init("edits", .array(edits))])
        do throws(Failure) { try run.performLibrary("lists.edit", parameters) } catch {
            guard error.remote?.reason == "outOfRange" else { throw error }
            let list = JSONObject([.init("name", .string(name)), .init("limit", 1)])
            let count = try run.library("lists.get", list)["count"]?.integerValue ?? 0
            var failure = Failure(
                .noSuchContent, "the list \"\(TerminalText.safe(name))\" has fewer items: it has \(count)")
            failure.remote = error.remote
            throw failure
        }
    }

    /// mpc's `rm`: deletes a list. An index most likely means an item of the queue.
    static func rm(_ run: Invocation) throws(Failure) {
        let name = run.words[0]
        if name.text.allSatisfy({ $0.isNumber || $0 == "-" }) {
            throw .usage(
                "rm deletes a list; remove \(name.shown) removes from the queue, and lists delete \(name.shown) deletes a "
                    + "list with this name", verb: run.verb.name)
        }
        try run.performLibrary("lists.delete", JSONObject([.init("name", .string(name.text))]))
    }
}
