import ControlProtocol
import NowPlayingClient

extension Positions {
    /// Verbs for the position, the rate, the volume and transitions.
    static let verbs = [
        Verb(
            name: "skip", synopsis: "[SECONDS]", summary: "skip forward, or back with a minus sign",
            details: "Without a time, skips by the daemon's preferred interval (see configure).",
            options: [Option("--back", "skip back by the preferred interval")],
            examples: [
                ("skip", "forward by the preferred interval"), ("skip 30", "30 seconds forward"),
                ("skip -15", "15 seconds back"),
            ], arity: 0...1, run: Positions.skip),
        Verb(
            name: "seek", synopsis: "TIME | [+-]TIME | PERCENT%", summary: "seek in the item",
            examples: [
                ("seek 83", "to 83 seconds"), ("seek 1:23.5", "to 1 minute 23.5 seconds"),
                ("seek 50%", "to the middle"),
                ("seek -10", "10 seconds back"),
            ], arity: 1...1
        ) { (run) throws(Failure) in try Positions.seek(run) },
        Verb(
            name: "volume", synopsis: "[PERCENT | +PERCENT | -PERCENT]", summary: "show or set the volume",
            details: "The scale is that of mixers; 100 is full volume.",
            options: [.format],
            examples: [("volume", "show it"), ("volume 50", "set it"), ("volume +5", "a little louder")],
            arity: 0...1, run: Positions.volume),
        Verb(
            name: "mute", summary: "mute the sound; playback continues",
            options: [Option("--toggle", "unmute if muted")],
            examples: [("mute", "mute"), ("mute --toggle", "the same as a mute key")]
        ) { (run) throws(Failure) in
            let muted = try run.has("--toggle") ? !run.state().isMuted : true
            try run.perform("volume.set", ["muted": .bool(muted)])
        },
        Verb(
            name: "rate", synopsis: "[RATE]", summary: "show or set the playback rate, at the same pitch",
            details:
                "The rate applies until the next play, which returns to the item's own rate. While paused, sets that rate. "
                + "commands shows the supported rates.",
            examples: [
                ("rate", "show it"), ("rate 1.5", "one and a half times as fast"), ("rate 1", "the original speed"),
            ],
            arity: 0...1, run: Positions.rate),
        Verb(
            name: "loudness", synopsis: "[off | track | album | auto]",
            summary: "show or set loudness normalisation",
            details:
                "Uses ReplayGain or R128 tags. auto is album while an album plays in order, else track; off "
                + "leaves every sample as it is.",
            options: [Option("--preamp", value: "DB", "decibels added to the gain of tagged items")],
            examples: [
                ("loudness", "the mode and the gain"), ("loudness auto", "albums as albums, else tracks"),
                ("loudness track --preamp -3", "every track as loud as the others, with 3 dB in hand"),
            ], arity: 0...1, run: Loudness.run),
        Verb(
            name: "crossfade", synopsis: "[SECONDS]", summary: "show or set the overlap of items",
            details:
                "0 plays without gaps. Items of an album that plays in order do not overlap, nor do live streams. An "
                + "overlap is at most half of either item.",
            examples: [
                ("crossfade", "show it"), ("crossfade 5", "items overlap by 5 seconds"), ("crossfade 0", "no overlap"),
            ], arity: 0...1, run: Crossfading.run),
        Verb(
            name: "fade", synopsis: "[[in | out] SECONDS]", summary: "show or set the fades of pause and resume",
            details:
                "A pause fades out before it takes effect, and playback resumes from there with a fade in. Without in or "
                + "out, sets both. 0 or off pauses and resumes at once.",
            examples: [
                ("fade", "show them"), ("fade 0.5", "half a second out and in"), ("fade in 0.3", "only the fade in"),
                ("fade off", "none"),
            ], arity: 0...2, run: Fading.run),
        Verb(name: "unmute", summary: "unmute the sound", examples: [("unmute", "unmute")]) {
            (run) throws(Failure) in try run.perform("volume.set", ["muted": false])
        },
    ]
}

/// `loudness`.
enum Loudness {
    /// Sets the given values and shows the resulting ones. Throws the fault of the words, or the daemon's refusal.
    static func run(_ run: Invocation) throws(Failure) {
        var parameters = JSONObject([])
        if let mode = run.words.first?.text {
            guard ["off", "track", "album", "auto"].contains(mode) else {
                throw run.wrong("loudness", mode, "off, track, album or auto")
            }
            parameters["mode"] = .string(mode)
        }
        if let text = run.value("--preamp") {
            guard
                let size = ClockText.decimal(text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : text[...]),
                size <= 30
            else {
                throw run.wrong("--preamp", text, "decibels from -30 to 30")
            }
            parameters["preamp"] = .number(text.hasPrefix("-") ? -size : size)
        }
        if !parameters.members.isEmpty { return try run.perform("loudness.set", .object(parameters)) }
        let state = try run.state()
        if run.wantsJSON { return run.printJSON(state.json["loudness"] ?? .null) }
        run.output.line(StatusText.loudness(state))
    }
}

/// `crossfade`.
enum Crossfading {
    /// Sets the overlap, or shows it. Throws the fault of the words, or the daemon's refusal.
    static func run(_ run: Invocation) throws(Failure) {
        guard let text = run.words.first?.text else {
            let state = try run.state()
            if run.wantsJSON { return run.printJSON(state.json["crossfade"] ?? .null) }
            return run.output.line(StatusText.crossfade(state))
        }
        let seconds = text == "off" ? 0 : ClockText.decimal(text[...])
        guard let seconds, seconds <= 30 else {
            throw run.wrong("crossfade", text, "seconds from 0 to 30")
        }
        try run.perform("crossfade.set", ["seconds": .number(seconds)])
    }
}

/// `fade`.
enum Fading {
    /// Sets fades, or shows them. Throws the fault of the words, or the daemon's refusal.
    static func run(_ run: Invocation) throws(Failure) {
        guard let first = run.words.first?.text else {
            let state = try run.state()
            if run.wantsJSON {
                let shown: JSONValue = [
                    "fadeIn": state.json["fadeIn"] ?? .null, "fadeOut": state.json["fadeOut"] ?? .null,
                ]
                return run.printJSON(shown)
            }
            return run.output.line(StatusText.fades(state))
        }
        var names = ["fadeIn", "fadeOut"]
        var text = first
        if run.words.count == 2 {
            guard first == "in" || first == "out" else { throw run.wrong("fade", first, "in or out") }
            names = [first == "in" ? "fadeIn" : "fadeOut"]
            text = run.words[1].text
        }
        let seconds = text == "off" ? 0 : ClockText.decimal(text[...])
        guard let seconds, seconds <= 5 else { throw run.wrong("fade", text, "seconds from 0 to 5") }
        var parameters = JSONObject([])
        for name in names { parameters[name] = .number(seconds) }
        try run.perform("fade.set", .object(parameters))
    }
}

/// `skip`, `seek`, `volume`.
enum Positions {
    /// `skip`, by a time or by the preferred interval.
    static func skip(_ run: Invocation) throws(Failure) {
        guard let text = run.words.first?.text else {
            return try run.perform(run.has("--back") ? "skipBackward" : "skipForward")
        }
        switch Amount(time: text) {
        case .relative where run.has("--back"):
            throw .usage("a sign and --back exclude each other: write \(text) or --back alone", verb: run.verb.name)
        case .absolute(let seconds) where seconds > 0, .relative(let seconds) where seconds != 0:
            try skip(run, by: run.has("--back") ? -seconds : seconds)
        case .absolute, .relative, .fraction, .relativeFraction, nil:
            throw run.wrong("skip", text, "seconds, such as 30 or -15")
        }
    }

    /// `seek` and `position`, to a position or by a step.
    static func seek(_ run: Invocation) throws(Failure) {
        let text = run.words[0].text
        switch Amount(time: text) {
        case .absolute(let seconds):
            try run.perform("changePlaybackPosition", ["position": .number(seconds)])
        case .relative(let seconds):
            if seconds != 0 { try skip(run, by: seconds) }
        case .fraction(let fraction):
            let (state, duration) = try measured(run)
            var parameters: JSONObject = JSONObject([.init("position", .number(duration * fraction))])
            // The guard is needed as the position was computed for this item.
            parameters["itemId"] = state.itemID.map { .integer($0) }
            try run.perform("changePlaybackPosition", .object(parameters))
        case .relativeFraction(let fraction):
            let (_, duration) = try measured(run)
            if fraction != 0 { try skip(run, by: duration * fraction) }
        case nil:
            throw run.wrong("seek", text, "a time such as 83, 1:23.5, 50%, +10 or -10")
        }
    }

    /// `rate`: shows or sets it.
    static func rate(_ run: Invocation) throws(Failure) {
        if let text = run.words.first?.text {
            let digits = text.hasSuffix("x") ? text.dropLast() : text[...]
            guard let rate = ClockText.decimal(digits), rate > 0 else {
                throw run.wrong("rate", text, "a number above 0, such as 1.5")
            }
            return try run.perform("changePlaybackRate", ["rate": .number(rate)])
        }
        let anchor = try run.state().json["anchor"]
        let (rate, own) = (anchor?["rate"] ?? .null, anchor?["defaultRate"] ?? .null)
        if run.wantsJSON { return run.printJSON(["rate": rate, "defaultRate": own]) }
        let shown = rate.doubleValue.flatMap { $0 > 0 ? $0 : nil } ?? own.doubleValue ?? 1
        run.output.line(ClockText.number(shown))
    }

    /// `volume`: shows or sets it.
    static func volume(_ run: Invocation) throws(Failure) {
        let template = try run.template()
        if let text = run.words.first?.text {
            try run.restrict("volume with a value")
            switch Amount(percent: text) {
            case .absolute(let percent) where percent <= 100:
                try run.perform("volume.set", ["volume": .number(percent / 100)])
            case .relative(let percent):
                try run.perform("volume.set", ["step": .number(percent / 100)])
            case .absolute, .fraction, .relativeFraction, nil:
                throw run.wrongPercent("volume", text, "percent from 0 to 100, such as 50, or a step, such as +5 or -5")
            }
            return
        }
        let state = try run.state()
        if let template {
            run.output.line(StatusText.expand(template, state))
        } else if run.wantsJSON {
            run.printJSON(["volume": state.json["volume"] ?? .null, "muted": .bool(state.isMuted)])
        } else {
            run.output.line(StatusText.volume(state))
        }
    }

    private static func skip(_ run: Invocation, by seconds: Double) throws(Failure) {
        try run.perform(
            seconds > 0 ? "skipForward" : "skipBackward", ["interval": .number(seconds > 0 ? seconds : -seconds)])
    }

    /// The present state and the duration of its item. Throws if there is no item or its duration is unknown.
    private static func measured(_ run: Invocation) throws(Failure) -> (StateView, Double) {
        let state = try run.state()
        guard state.item != nil else { throw Failure(.nothingPlaying, "no current item to seek in") }
        guard let duration = state.duration else {
            throw Failure(.general, "this item has no known duration, so it has no percentages")
        }
        return (state, duration)
    }
}
