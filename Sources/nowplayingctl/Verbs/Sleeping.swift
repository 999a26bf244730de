import ControlProtocol
import NowPlaying
import NowPlayingClient

extension Sleeping {
    /// The sleep timer.
    static let verbs = [
        Verb(
            name: "sleep", synopsis: "[TIME | end-of-item | off] [--fade SECONDS]",
            summary: "show or set a sleep timer",
            details:
                "Playback stops then, and the next play resumes at that position. TIME has a unit: 30m, 1h30m, 90s; or it is 1:30:00. A "
                + "command during the fade cancels the timer.",
            options: [Option("--fade", value: "SECONDS", "seconds of fade-out before the end")],
            examples: [
                ("sleep 30m --fade 60", "in half an hour, with a fade in the last minute"),
                ("sleep end-of-item", "after the current item"), ("sleep", "show the timer"),
                ("sleep off", "cancel it"),
            ], arity: 0...1, run: Sleeping.run)
    ]
}

/// `sleep`.
enum Sleeping {
    /// Maximum seconds that the daemon accepts: a week.
    private static let longest = 604_800.0

    /// Shows, sets or cancels the timer. Throws the fault of the words, or the daemon's refusal.
    static func run(_ run: Invocation) throws(Failure) {
        guard let word = run.words.first?.text.lowercased() else {
            try run.restrict("sleep without a time")
            let state = try run.state()
            if run.wantsJSON { return run.printJSON(state.json["sleep"] ?? .null) }
            return run.output.line(StatusText.sleep(state) ?? "off")
        }
        var parameters = JSONObject([])
        switch word {
        case "off", "none", "0":
            try run.restrict("sleep \(word)")
            parameters["after"] = .integer(0)
        case "end-of-item", "item", "track", "end": parameters["endOf"] = "item"
        default:
            if ClockText.decimal(word) != nil {
                throw run.wrong("sleep", word, "a time with its unit: \(word)m is minutes, \(word)s seconds")
            }
            guard let seconds = seconds(word), seconds > 0 else {
                throw run.wrong("sleep", word, "30m, 1h30m, 90s, 1:30:00, end-of-item or off")
            }
            guard seconds <= longest else { throw run.wrong("sleep", word, "a time of at most a week, 168h") }
            parameters["after"] = .number(seconds)
        }
        if let text = run.value("--fade") {
            guard let fade = ClockText.seconds(text) ?? seconds(text) else {
                throw run.wrong("--fade", text, "seconds, such as 30")
            }
            parameters["fade"] = .number(fade)
        }
        try run.perform("sleep.set", .object(parameters))
    }

    /// Reads `1h30m`, `90s` or a time with a colon. Nil for a number alone: it could be minutes or seconds.
    static func seconds(_ text: String) -> Double? {
        if text.contains(":") { return ClockText.seconds(text) }
        var rest = text[...]
        var total = 0.0
        for (unit, length) in [("h", 3600.0), ("m", 60.0), ("s", 1.0)] {
            guard let end = rest.firstIndex(of: Character(unit)) else { continue }
            guard let number = ClockText.decimal(rest[..<end]) else { return nil }
            total += number * length
            rest = rest[rest.index(after: end)...]
        }
        return rest.isEmpty && !text.isEmpty ? total : nil
    }
}

extension StatusText {
    /// `in 12:30`, `at the end of the item`; nil: the timer is not set.
    static func sleep(_ state: StateView) -> String? {
        guard let sleep = state.json["sleep"], sleep != .null else { return nil }
        let fade = sleep["fade"]?.doubleValue ?? 0
        let ending = fade > 0 ? ", with a fade in the last \(ClockText.number(fade)) seconds" : ""
        guard let time = sleep["endsMonotonic"]?.doubleValue else { return "at the end of the item" + ending }
        let left = time - MonotonicTime.now.seconds
        return "in \(ClockText.clock(max(0, left)))" + ending
    }
}
