import ControlProtocol
import Glibc
import NowPlayingClient

extension Announcing {
    /// Announcements over the current item.
    static let verbs = [
        Verb(
            name: "announce", synopsis: "FILE | ADDRESS | -", summary: "play an announcement over the playback",
            details: """
                Playback gets quieter meanwhile, as --policy or the daemon's configuration says, and returns to its
                level afterwards. With - the audio comes from standard input. Announcements queue up. Without a sound
                server the verb fails at once (exit status 5). It returns at the end of the announcement.
                """,
            options: [
                Option("--policy", value: "duck|pause|pause-spoken|mix", "effect on the playback"),
                Option("--duck-to", value: "DB", "level of the playback in decibels, such as -30"),
                Option("--volume", value: "PERCENT", "volume of the announcement; default: that of the playback"),
                Option("--priority", value: "NUMBER", "0 to 100: the highest waiting one is next"),
            ],
            examples: [
                ("announce /usr/share/sounds/bell.wav", "a doorbell"),
                ("announce --policy pause --volume 80 message.flac", "pause the music meanwhile"),
                ("announce - < speech.wav", "a program's output: espeak-ng --stdout door | nowplayingctl announce -"),
            ], arity: 1...1, run: Announcing.run)
    ]
}

/// `announce`.
enum Announcing {
    /// Returns when the announcement is over. Throws the daemon's refusal, or the fault of the words.
    static func run(_ run: Invocation) throws(Failure) {
        let parameters = try parameters(run)
        let result: JSONValue
        if run.words[0].text == "-" {
            result = try standardInput(run, parameters)
        } else {
            result = try Media(run, patience: nil).announce(run.words[0], parameters)
        }
        if run.wantsJSON { return run.printJSON(result) }
        if result["cut"] == true {
            let seconds = ClockText.number(result["seconds"]?.doubleValue ?? 0)
            run.output.line("cut off after \(seconds) seconds; see limit in nowplayingd.conf(5)")
        }
    }

    private static func parameters(_ run: Invocation) throws(Failure) -> JSONObject {
        var parameters = JSONObject()
        if let policy = run.value("--policy") { parameters["policy"] = .string(WireName.camel(policy)) }
        if let decibels = try duckTo(run) { parameters["duckTo"] = .number(decibels) }
        if let text = run.value("--volume") {
            guard case .absolute(let percent)? = Amount(percent: text), percent <= 100 else {
                throw run.wrongPercent("--volume", text, "percent from 0 to 100")
            }
            parameters["volume"] = .number(percent / 100)
        }
        if let text = run.value("--priority") {
            guard let priority = ClockText.integer(text), priority <= 100 else {
                throw run.wrong("--priority", text, "a whole number from 0 to 100")
            }
            parameters["priority"] = .integer(Int64(priority))
        }
        return parameters
    }

    /// The decibels of `--duck-to`; nil: it is not given.
    static func duckTo(_ run: Invocation) throws(Failure) -> Double? {
        guard let text = run.value("--duck-to") else { return nil }
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard let decibels = ClockText.decimal(digits), decibels == 0 || text.hasPrefix("-"), decibels <= 96 else {
            throw run.wrong("--duck-to", text, "decibels from -96 to 0, such as -30")
        }
        return -decibels
    }

    /// Passes standard input, a file or a pipe, to the daemon as a descriptor.
    private static func standardInput(_ run: Invocation, _ given: JSONObject) throws(Failure) -> JSONValue {
        var status = stat()
        guard fstat(STDIN_FILENO, &status) == 0 else {
            throw Failure(.general, "cannot read standard input: \(SystemText.error(errno))")
        }
        guard isatty(STDIN_FILENO) == 0 else {
            throw .usage(
                "standard input is a terminal: use a file or a pipe, as in: espeak-ng --stdout door | nowplayingctl "
                    + "announce -", verb: run.verb.name)
        }
        guard [S_IFREG, S_IFIFO].contains(status.st_mode & S_IFMT) else {
            throw Failure(.noSuchContent, "standard input is neither a file nor a pipe: put “cat |” before it")
        }
        var parameters = given
        parameters["descriptor"] = 0
        parameters["uri"] = "standard input"
        return try run.call("announce", .object(parameters), descriptors: [STDIN_FILENO], patience: nil)
    }
}
