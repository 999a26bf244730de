import ControlProtocol
import NowPlaying
import NowPlayingClient

extension Observers {
    private static let tick = Option("--tick", "update the position every second; in a terminal, in place")
    private static let follow = Option("--follow", short: "-F", "print a line at each change")

    /// Verbs that show the state and its changes.
    static let verbs = [
        Verb(
            name: "status", summary: "show the current item, position, volume and output",
            options: [.format, follow, tick],
            examples: [
                ("status", "title, position, volume, output"), ("status --json", "the full state"),
                ("status -f '{{artist}} - {{title}} {{duration(position)}}'", "in a format of your own"),
            ], run: Observers.status),
        Verb(
            name: "follow", summary: "print a line for every change until interrupted",
            details: """
                The first line is the current state. With --json each line is the full state. It keeps running when the
                daemon restarts.
                """,
            options: [.format, tick],
            examples: [
                ("follow", "each change"), ("follow --tick", "with a moving position"),
                ("follow --tick -f '{{title}} {{duration(position)}}'", "for a status bar"),
                ("follow --json | jq .item.title", "for scripts"),
            ]
        ) { (run) throws(Failure) in try Following(run, isWatching: false).follow() },
        Verb(
            name: "watch", summary: "show titles and the moving position until the queue ends",
            details: """
                Without a terminal it prints a line for every change. The exit status is 0 at the end of playback, and 1
                with the reason if no item could be played.
                """,
            options: [.format], examples: [("watch", "until the music ends")]
        ) { (run) throws(Failure) in try Following(run, isWatching: true).watch() },
        Verb(
            name: "wait", synopsis: "play | pause | stop | track | end", summary: "wait for a state or an event",
            details: """
                play, pause, stop: the state. end: the end of the queue. track: the start of another item. It keeps
                waiting when the daemon restarts.
                """,
            options: [Option("--next", "ignore the current state; wait for the next such event"), .format],
            examples: [
                ("wait end && poweroff", "when the queue ends"), ("wait track --timeout 300", "at most 5 minutes"),
                ("wait pause --next", "the next pause, even if it is paused now"),
            ], arity: 1...1, run: Waiting.wait),
    ]

    /// The other verbs of the protocol itself.
    static let others = [
        Verb(
            name: "call", synopsis: "METHOD [JSON]", summary: "call a method of the protocol and print the result",
            details: "JSON is an object of parameters. rpc.discover lists the methods.",
            examples: [
                ("call nowPlaying.get", "the state"), ("call queue.list '{\"limit\": 3}'", "with parameters"),
                ("call rpc.discover", "all methods"),
            ], arity: 1...2, run: Observers.call),
        Verb(
            name: "quit", summary: "end the daemon", examples: [("quit", "returns when the daemon has ended")],
            run: Observers.quit),
    ]

    /// Verbs of mpc and playerctl whose meaning differs slightly.
    static let foreign = [
        Verb(
            name: "current", summary: "artist and title", options: [.format], examples: [("current", "in one line")],
            isForeign: true
        ) { (run) throws(Failure) in
            let state = try Observers.playing(run)
            let template = try run.template()
            run.output.line(template.map { StatusText.expand($0, state) } ?? Observers.current(state))
        },
        Verb(
            name: "metadata", synopsis: "[KEY]", summary: "the item's metadata, by playerctl's keys",
            options: [.format, follow, tick],
            examples: [("metadata xesam:title", "the title"), ("metadata -f '{{artist}}'", "in a format of your own")],
            arity: 0...1, isForeign: true, run: Observers.metadata),
        Verb(
            name: "position", synopsis: "[TIME | TIME+ | TIME-]", summary: "show the position in seconds, or seek",
            options: [.format], examples: [("position", "83.204512"), ("position 10-", "10 seconds back")],
            arity: 0...1, isForeign: true
        ) { (run) throws(Failure) in
            guard run.words.isEmpty else {
                try run.restrict("position with a time")
                return try Positions.seek(run)
            }
            let state = try Observers.playing(run)
            let position = state.position(at: MonotonicTime.now) ?? 0
            let template = try run.template()
            run.output.line(template.map { StatusText.expand($0, state) } ?? ClockText.number(position))
        },
        Verb(
            name: "open", synopsis: "FILE…", summary: "same as play FILE…", options: [Playback.wait],
            examples: [("open tune.flac", "play it now")], arity: 1...Int.max, isForeign: true
        ) { (run) throws(Failure) in try run.finish(Media(run).play(run.words, JSONObject())) },
        Verb(
            name: "insert", synopsis: "FILE…", summary: "same as add --next",
            examples: [("insert a.flac", "play it next")], arity: 1...Int.max, isForeign: true
        ) { (run) throws(Failure) in try Queue.add(run, isNext: true) },
        Verb(
            name: "crop", summary: "remove all items but the current one", examples: [("crop", "only this one")],
            isForeign: true, run: Queue.crop),
    ]
}

/// `status`, `metadata`, `call`, `quit`.
enum Observers {
    /// `status`, and `follow` if requested.
    static func status(_ run: Invocation) throws(Failure) {
        if run.has("--follow") || run.has("--tick") { return try Following(run, isWatching: false).follow() }
        let template = try run.template()
        let state = try run.state()
        if run.wantsJSON {
            run.printJSON(state.json)
        } else if let template {
            run.output.line(StatusText.expand(template, state))
        } else {
            for line in StatusText.lines(state, run.output) { run.output.line(line) }
        }
    }

    /// The present state, if it has an item. Throws otherwise.
    static func playing(_ run: Invocation) throws(Failure) -> StateView {
        let state = try run.state()
        guard state.item != nil else { throw Failure(.nothingPlaying, "no current item") }
        return state
    }

    /// `Artist - Title`, mpc's form.
    static func current(_ state: StateView) -> String {
        (state.text("item", "artist").map { $0 + " - " } ?? "") + (state.title ?? "")
    }

    /// `metadata`: prints all keys, one key, or a format.
    static func metadata(_ run: Invocation) throws(Failure) {
        if run.has("--follow") || run.has("--tick") { return try Following(run, isWatching: false).follow() }
        let template = try run.template()
        let state = try playing(run)
        if run.wantsJSON { return run.printJSON(state.item ?? .null) }
        let now = MonotonicTime.now
        if let template {
            run.output.line(StatusText.expand(template, state, at: now))
        } else if let key = run.words.first?.text {
            let value = state.variable(key, at: now)
            if value == .nothing {
                throw Failure(.noSuchContent, "the item has no \"\(TerminalText.safe(key))\"")
            }
            run.output.line(value.printed)
        } else {
            for key in keys {
                let value = state.variable(key, at: now)
                guard value != .nothing else { continue }
                run.output.line("nowplayingd \(key)\(String(repeating: " ", count: 25 - key.count))\(value.printed)")
            }
        }
    }

    private static let keys = [
        "mpris:trackid", "mpris:length", "xesam:title", "xesam:artist", "xesam:album", "xesam:albumArtist",
        "xesam:trackNumber", "xesam:discNumber", "xesam:composer", "xesam:genre", "xesam:contentCreated",
        "xesam:comment", "xesam:url",
    ]

    /// `call`: prints the daemon's answer as JSON.
    static func call(_ run: Invocation) throws(Failure) {
        var parameters: JSONValue?
        if let text = run.words.dropFirst().first?.text {
            do { parameters = try JSONReader.read(text) } catch {
                throw .usage("the parameters are not JSON: \(error.message)", verb: "call")
            }
            guard parameters?.objectValue != nil else {
                throw run.wrong("call", text, "parameters are an object, such as {\"limit\": 3}")
            }
        }
        run.printJSON(try run.call(run.words[0].text, parameters, patience: nil))
    }

    /// `quit`: returns when the daemon has closed the connection, which is its last step.
    static func quit(_ run: Invocation) throws(Failure) {
        try run.perform("daemon.quit")
        let connection = try run.connection()
        let seconds = try run.timeout() ?? 15
        let deadline = MonotonicTime.now.advanced(bySeconds: seconds)
        do {
            while try connection.line(deadline: deadline, seconds: seconds) != nil {}
        } catch { throw Failure(error) }
    }
}
