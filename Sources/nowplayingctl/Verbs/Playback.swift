import ControlProtocol
import NowPlayingClient

extension Playback {
    /// The options of verbs that start playback.
    static let wait = Option("--wait", "wait for the sound, at most --timeout seconds; exit status 5 if there is none")

    /// The option of verbs that take files.
    static let strict = Option("--strict", "refuse all if a file, or an entry of a playlist, does not exist")

    /// Start, pause, stop, move through the queue.
    static let verbs = [
        Verb(
            name: "play", synopsis: "[NUMBER | FILE…]",
            summary: "resume, or play these files instead of the queue",
            details: """
                With a number, plays the item at this index of the queue, from 1. With files, folders, playlists or
                addresses, the first replaces the queue and plays, and the others follow. A file that the daemon cannot
                open is passed to it open. After the end of the queue, starts at the first item. With --search or
                options for tags, plays tracks of the library instead of the queue.
                """,
            options: [
                Option("--position", value: "TIME", "begin here"),
                Option("--watch", "show the position until the queue ends (see watch)"), wait, strict,
            ] + Selection.hit + Selection.filters + Selection.order,
            examples: [
                ("play", "resume"), ("play 3", "the third item"), ("play a.flac b.flac", "these two"),
                ("play --watch a.flac", "show it while it plays"), ("play ./3", "a file called 3"),
                ("play --search kind of blue", "the best hit in the library"),
                ("play --artist \"Miles Davis\" --year 1955-1965", "these years"),
            ], arity: 0...Int.max, run: Playback.play),
        Verb(name: "pause", summary: "pause at once", examples: [("pause", "pause, keep the position")]) {
            (run) throws(Failure) in try run.perform("pause")
        },
        Verb(name: "stop", summary: "stop, and stay at the beginning of the item", examples: [("stop", "stop")]) {
            (run) throws(Failure) in try run.perform("stop")
        },
        Verb(
            name: "toggle", aliases: ["play-pause"], summary: "pause if playing, else resume", options: [wait],
            examples: [("toggle", "the same as a play button")]
        ) { (run) throws(Failure) in try run.perform("togglePlayPause") },
        Verb(name: "next", summary: "go to the next item", examples: [("next", "skip this item")]) {
            (run) throws(Failure) in try run.perform("nextTrack")
        },
        Verb(
            name: "previous", aliases: ["prev", "cdprev"],
            summary: "go to the start of the item, or to the previous one",
            details: "Restarts the item if more than 3 seconds of it have played; else goes to the previous item.",
            options: [Option("--no-restart", "go to the previous item in any case")],
            examples: [("previous", "restart it"), ("previous --no-restart", "the item before")]
        ) { (run) throws(Failure) in
            if run.has("--no-restart") {
                try run.perform("previousTrack", ["restart": false])
            } else {
                try run.perform("previousTrack")
            }
        },
    ]
}

/// `play`.
enum Playback {
    /// `play`: resumes, plays an item of the queue, or replaces the queue.
    static func play(_ run: Invocation) throws(Failure) {
        var parameters = JSONObject()
        if let text = run.value("--position") {
            guard let seconds = ClockText.seconds(text) else { throw run.wrong("--position", text, "a time like 1:23") }
            parameters["position"] = .number(seconds)
        }
        if let selection = try Selection(run) {
            guard run.words.isEmpty || run.has("--search"), !run.has("--position") else {
                throw .usage("FILE and --position exclude options for the library", verb: run.verb.name)
            }
            return try Adding.play(run, selection)
        }
        let result: JSONValue
        if run.words.isEmpty {
            result = try run.call("play", parameters.members.isEmpty ? nil : .object(parameters))
        } else if run.words.count == 1, let number = ClockText.integer(run.words[0].text) {
            guard number >= 1 else { throw run.wrong("play", "0", "an index in the queue, from 1") }
            let index = Int64(number - 1)
            parameters["index"] = .integer(index)
            result = try Queue.named(run, index: index) { () throws(Failure) in
                try run.call("play", .object(parameters))
            }
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
