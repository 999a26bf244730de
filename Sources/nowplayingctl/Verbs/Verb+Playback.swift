import ControlProtocol
import NowPlayingClient

extension Verb {
    /// Start, pause, stop, move through the queue.
    static let playback = [
        Verb(
            name: "play", synopsis: "[NUMBER | FILE…]",
            summary: "go on, or play these files instead of the queue",
            details: """
                With a number: the entry at this place of the queue, from 1. With files, folders, playlists or addresses: \
                the first
                replaces the queue and plays, the others follow. A file that the daemon may not open is handed over open.
                After the end of the queue it begins at the first entry.
                """,
            options: [
                Option("--position", value: "TIME", "begin here"),
                Option("--watch", "show the position until the queue has ended (see watch)"),
            ],
            examples: [
                ("play", "go on"), ("play 3", "the third entry"), ("play a.flac b.flac", "these two"),
                ("play --watch a.flac", "show it while it plays"), ("play ./3", "a file called 3"),
            ], arity: 0...Int.max, run: Playback.play),
        Verb(name: "pause", summary: "pause at once", examples: [("pause", "be silent, keep the place")]) {
            (run) throws(Failure) in try run.perform("pause")
        },
        Verb(name: "stop", summary: "stop, and stay at the beginning of the item", examples: [("stop", "stop")]) {
            (run) throws(Failure) in try run.perform("stop")
        },
        Verb(
            name: "toggle", aliases: ["play-pause"], summary: "pause what plays, go on with what is paused",
            examples: [("toggle", "what a play button does")]
        ) { (run) throws(Failure) in try run.perform("togglePlayPause") },
        Verb(name: "next", summary: "the next entry of the queue", examples: [("next", "skip this one")]) {
            (run) throws(Failure) in try run.perform("nextTrack")
        },
        Verb(
            name: "previous", aliases: ["prev", "cdprev"],
            summary: "the beginning of the item, or the entry before it",
            details: "Begins an item anew of which more than 3 seconds were played; otherwise goes to the one before.",
            examples: [("previous", "hear it again")]
        ) { (run) throws(Failure) in try run.perform("previousTrack") },
    ]
}

/// `play`.
enum Playback {
    /// `play`: goes on, plays an entry, or replaces the queue.
    static func play(_ run: Invocation) throws(Failure) {
        var parameters = JSONObject()
        if let text = run.value("--position") {
            guard let seconds = ClockText.seconds(text) else { throw run.wrong("--position", text, "a time like 1:23") }
            parameters["position"] = .number(seconds)
        }
        let result: JSONValue
        if run.words.isEmpty {
            result = try run.call("play", parameters.members.isEmpty ? nil : .object(parameters))
        } else if run.words.count == 1, let number = ClockText.integer(run.words[0].text) {
            guard number >= 1 else { throw run.wrong("play", "0", "places of the queue count from 1") }
            parameters["index"] = .integer(Int64(number - 1))
            result = try run.call("play", .object(parameters))
        } else {
            result = try Media(run).play(run.words, parameters)
        }
        if run.has("--watch") {
            if run.wantsJSON { run.printJSON(result) }
            try Following(run, isWatching: true).watch()
        } else {
            try run.finish(result)
        }
    }
}
