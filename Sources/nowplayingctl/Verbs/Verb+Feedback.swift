import ControlProtocol
import NowPlayingClient

extension Verb {
    /// Verbs for opinions about the current item.
    static let feedback = [
        Verb(
            name: "like", summary: "like the current item",
            details: "The daemon keeps this for the item, even if its file moves. It undoes a dislike.",
            options: [undo], examples: [("like", "like it"), ("like --undo", "undo that")]
        ) { (run) throws(Failure) in try Opinions.say("like", run) },
        Verb(
            name: "dislike", summary: "dislike the current item", options: [undo],
            examples: [("dislike", "dislike it"), ("dislike --undo", "undo that")]
        ) { (run) throws(Failure) in try Opinions.say("dislike", run) },
        Verb(
            name: "rating", synopsis: "[STARS]", summary: "show or set the rating, 0 to 5 stars",
            examples: [("rating", "show it"), ("rating 4", "four stars")], arity: 0...1, run: Opinions.rating),
        Verb(
            name: "bookmark", summary: "set a bookmark: the item resumes at this position", options: [undo],
            examples: [("bookmark", "set it"), ("bookmark --undo", "remove it")]
        ) { (run) throws(Failure) in try Opinions.say("bookmark", run) },
    ]

    private static let undo = Option("--undo", "undo it")
}

/// `like`, `dislike`, `rating` and `bookmark`.
enum Opinions {
    /// `like`, `dislike` and `bookmark`.
    static func say(_ method: String, _ run: Invocation) throws(Failure) {
        try run.perform(method, ["active": .bool(!run.has("--undo"))])
    }

    /// `rating`.
    static func rating(_ run: Invocation) throws(Failure) {
        if let text = run.words.first?.text {
            guard let stars = ClockText.decimal(text), stars <= 5 else {
                throw run.wrong("rating", text, "stars from 0 to 5")
            }
            return try run.perform("rating", ["rating": .number(stars)])
        }
        let rating = try Observers.playing(run).item?["rating"]
        if run.wantsJSON { return run.printJSON(rating ?? .null) }
        run.output.line(rating?.doubleValue.map { ClockText.number($0) } ?? "none")
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
