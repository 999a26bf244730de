import ControlProtocol
import NowPlayingClient

extension Verb {
    /// What somebody says of the present item.
    static let feedback = [
        Verb(
            name: "like", summary: "say that this item is liked",
            details: "It is kept for the item, wherever its file is moved. A dislike is taken back.",
            options: [undo], examples: [("like", "a thumb up"), ("like --undo", "take it back")]
        ) { (run) throws(Failure) in try Opinions.say("like", run) },
        Verb(
            name: "dislike", summary: "say that this item is disliked", options: [undo],
            examples: [("dislike", "a thumb down"), ("dislike --undo", "take it back")]
        ) { (run) throws(Failure) in try Opinions.say("dislike", run) },
        Verb(
            name: "rating", synopsis: "[STARS]", summary: "show or set the rating, 0 to 5 stars",
            examples: [("rating", "show it"), ("rating 4", "four stars")], arity: 0...1, run: Opinions.rating),
        Verb(
            name: "bookmark", summary: "have this item go on from here, whenever it is played", options: [undo],
            examples: [("bookmark", "set it"), ("bookmark --undo", "begin at its beginning again")]
        ) { (run) throws(Failure) in try Opinions.say("bookmark", run) },
    ]

    private static let undo = Option("--undo", "take it back")
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
    /// `liked   4 of 5 stars   heard 3 times`; nil: nothing is remembered.
    static func feedback(_ state: StateView) -> String? {
        guard let item = state.item else { return nil }
        var parts: [String] = []
        if item["isLiked"] == true { parts.append("liked") }
        if item["isDisliked"] == true { parts.append("disliked") }
        if let rating = item["rating"]?.doubleValue { parts.append("\(ClockText.number(rating)) of 5 stars") }
        if let place = item["bookmark"]?.doubleValue { parts.append("bookmark at \(ClockText.clock(place))") }
        for (key, word) in [("playCount", "heard"), ("skipCount", "skipped")] {
            guard let count = item[key]?.integerValue, count > 0 else { continue }
            parts.append(count == 1 ? "\(word) once" : "\(word) \(count) times")
        }
        return parts.isEmpty ? nil : parts.joined(separator: "   ")
    }
}
