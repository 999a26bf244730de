import ControlProtocol
import NowPlayingClient

extension Opinions {
    /// Verbs for feedback on the current item, or another one.
    static let verbs = [
        Verb(
            name: "like", synopsis: "[--undo] [--item NUMBER | --file FILE]",
            summary: "like the current item, or another one",
            details: "The daemon keeps this for the item, even if its file moves. It undoes a dislike.",
            options: [undo] + targets,
            examples: [
                ("like", "like the current item"), ("like --undo", "undo that"),
                ("like --item 3", "the third item of the queue"), ("like --file a.flac", "a file"),
            ]
        ) { (run) throws(Failure) in try Opinions.say("like", run) },
        Verb(
            name: "dislike", synopsis: "[--undo] [--item NUMBER | --file FILE]",
            summary: "dislike the current item, or another one", options: [undo] + targets,
            examples: [("dislike", "dislike it"), ("dislike --undo", "undo that")]
        ) { (run) throws(Failure) in try Opinions.say("dislike", run) },
        Verb(
            name: "rating", synopsis: "[STARS] [--undo] [--item NUMBER | --file FILE]",
            summary: "show, set or remove the rating, 0 to 5 stars",
            options: [Option("--undo", "remove the rating")] + targets,
            examples: [
                ("rating", "show it"), ("rating 4", "four stars"),
                ("rating --item 3 4", "four stars for the third item of the queue"),
                ("rating --file a.flac", "show that of a file"),
            ], arity: 0...1, run: Opinions.rating),
        Verb(
            name: "bookmark", synopsis: "[TIME] [--undo] [--item NUMBER | --file FILE]",
            summary: "set a bookmark: the item resumes at this position",
            details: "Without TIME, it is the current position of the current item.", options: [undo] + targets,
            examples: [
                ("bookmark", "set it here"), ("bookmark --undo", "remove it"),
                ("bookmark --item 3 12:30", "in the third item of the queue"),
            ], arity: 0...1, run: Opinions.bookmark),
    ]

    private static let undo = Option("--undo", "undo it")
    private static let targets = [
        Option("--item", value: "NUMBER", "the item at this index in the queue, from 1"),
        Option("--file", value: "FILE", "this file or address, in the queue or not"),
    ]
}

/// `like`, `dislike`, `rating` and `bookmark`.
enum Opinions {
    /// `like` and `dislike`.
    static func say(_ method: String, _ run: Invocation) throws(Failure) {
        guard let subject = try subject(run) else {
            return try run.perform(method, ["active": .bool(!run.has("--undo"))])
        }
        try set(subject, method, .bool(!run.has("--undo")), run)
    }

    /// `rating`.
    static func rating(_ run: Invocation) throws(Failure) {
        var stars: JSONValue?
        if let text = run.words.first?.text {
            try refuseUndo(run)
            guard let number = ClockText.decimal(text), number <= 5 else {
                throw run.wrong("rating", text, "stars from 0 to 5")
            }
            stars = .number(number)
        }
        let subject = try subject(run)
        if let stars {
            guard let subject else { return try run.perform("rating", ["rating": stars]) }
            return try set(subject, "rating", stars, run)
        }
        if run.has("--undo") { return try set(subject, "rating", .null, run) }
        let shown: JSONValue?
        if let subject { shown = try item(subject, run) } else { shown = try Observers.playing(run).item }
        let rating = shown?["rating"]
        if run.wantsJSON { return run.printJSON(rating ?? .null) }
        run.output.line(rating?.doubleValue.map { ClockText.number($0) } ?? "none")
    }

    /// `bookmark`.
    static func bookmark(_ run: Invocation) throws(Failure) {
        let subject = try subject(run)
        if let text = run.words.first?.text {
            try refuseUndo(run)
            guard let seconds = ClockText.seconds(text) else {
                throw run.wrong("bookmark", text, "a position, such as 83.5 or 1:23.5")
            }
            return try set(subject, "bookmark", .number(seconds), run)
        }
        guard let subject else { return try run.perform("bookmark", ["active": .bool(!run.has("--undo"))]) }
        guard run.has("--undo") else {
            throw .usage(
                "only the current item has a current position: give one, such as bookmark 12:30", verb: run.verb.name)
        }
        try set(subject, "bookmark", .null, run)
    }

    // MARK: Items

    private static func refuseUndo(_ run: Invocation) throws(Failure) {
        guard !run.has("--undo") else { throw .usage("--undo takes no value here", verb: run.verb.name) }
    }

    /// The item of `--item` or `--file`, as a parameter; nil: neither is given.
    private static func subject(_ run: Invocation) throws(Failure) -> JSONObject.Member? {
        if let file = run.word("--file") {
            guard !run.has("--item") else { throw .usage("--item and --file exclude each other", verb: run.verb.name) }
            return JSONObject.Member("uri", .string(try Media(run).uri(of: file)))
        }
        guard let text = run.value("--item") else { return nil }
        guard let number = ClockText.integer(text), number >= 1 else {
            throw run.wrong("--item", text, "an index in the queue, from 1")
        }
        let result = try run.call("queue.list", ["offset": .integer(Int64(clamping: number - 1)), "limit": 1])
        guard let id = result["items"]?.arrayValue?.first?["id"] else {
            let count = result["count"]?.integerValue ?? 0
            throw Failure(.noSuchContent, "there is no item \(number); the queue has \(count)")
        }
        return JSONObject.Member("id", id)
    }

    /// Sets one value of an item's feedback; nil: of the current item.
    private static func set(
        _ subject: JSONObject.Member?, _ name: String, _ value: JSONValue, _ run: Invocation
    ) throws(Failure) {
        let item: JSONObject.Member
        if let subject {
            item = subject
        } else {
            guard let id = try Observers.playing(run).itemID else { throw Failure(.nothingPlaying, "no current item") }
            item = JSONObject.Member("id", .integer(id))
        }
        let result = try run.call("feedback.set", .object(JSONObject([item, JSONObject.Member(name, value)])))
        if run.wantsJSON { run.printJSON(result) }
    }

    private static func item(_ subject: JSONObject.Member, _ run: Invocation) throws(Failure) -> JSONValue {
        let parameters = JSONObject([JSONObject.Member(subject.name + "s", [subject.value])])
        return try run.call("feedback.get", .object(parameters))["items"]?.arrayValue?.first ?? .null
    }
}

extension StatusText {
    /// `liked   4 of 5 stars   played 3 times`; nil: no feedback.
    static func feedback(_ state: StateView) -> String? {
        guard let item = state.item else { return nil }
        var parts: [String] = []
        if item["isLiked"] == true { parts.append("liked") }
        if item["isDisliked"] == true { parts.append("disliked") }
        if let rating = item["rating"]?.doubleValue { parts.append("\(ClockText.number(rating)) of 5 stars") }
        if let seconds = item["bookmark"]?.doubleValue { parts.append("bookmark at \(ClockText.clock(seconds))") }
        for (key, word) in [("playCount", "played"), ("skipCount", "skipped")] {
            guard let count = item[key]?.integerValue, count > 0 else { continue }
            parts.append(count == 1 ? "\(word) once" : "\(word) \(count) times")
        }
        return parts.isEmpty ? nil : parts.joined(separator: "   ")
    }
}
