/// A verb of the command line. The parser, the help and the suggestions use the table of verbs.
struct Verb: Sendable {
    /// The typed name.
    var name: String
    /// Other names of the verb: mpc's and playerctl's.
    var aliases: [String] = []
    /// Arguments after the name, for the help.
    var synopsis = ""
    /// Summary in one line.
    var summary: String
    /// Further text of the help.
    var details = ""
    /// Options besides the common ones.
    var options: [Option] = []
    /// Example command lines without the program's name, and their effects.
    var examples: [(line: String, meaning: String)] = []
    /// Minimum and maximum number of arguments.
    var arity: ClosedRange<Int> = 0...0
    /// True for a verb of another player, which the help lists separately.
    var isForeign = false
    /// Carries out the verb.
    var run: @Sendable (Invocation) throws(Failure) -> Void
}

extension Verb {
    /// Options that every verb takes.
    static let common = [
        Option("--session", value: "SESSION", "use this session instead of the active one (see session)"),
        Option("--socket", value: "PATH", "use this socket instead of $NOWPLAYING_SOCKET and the default paths"),
        Option("--json", "print the daemon's answer as JSON"),
        Option("--timeout", value: "SECONDS", "give up after this time (exit status 9); default: 15 s"),
        Option("--help", short: "-h", "print this help"),
        Option("--version", short: "-V", "print the version"),
    ]

    /// All verbs, in the order of the help.
    static let all: [Verb] =
        Playback.verbs + Positions.verbs + Chapters.verbs + Opinions.verbs + Sleeping.verbs + Modes.verbs + Queue.verbs
        + LibraryVerbs.verbs + Pictures.verbs + Outputs.verbs + Commands.verbs + Announcing.verbs + Sessions.verbs
        + Rooms.verbs + DelayMeasurement.verbs + Observers.verbs + ClockLines.verbs + Hooks.verbs + Pairing.verbs
        + Service.verbs + Completion.verbs + Observers.others + Observers.foreign + LibraryVerbs.foreign

    /// All options of all verbs, each once.
    static let allOptions: [Option] = {
        var result = common
        for option in all.flatMap(\.options) where !result.contains(where: { $0.name == option.name }) {
            result.append(option)
        }
        return result
    }()

    /// The verb of this name or alias.
    static func named(_ name: String) -> Verb? { all.first { $0.name == name || $0.aliases.contains(name) } }
}

extension Option {
    /// The option that many verbs take.
    static let format = Option(
        "--format", short: "-f", value: "FORMAT", "print this text with {{…}} expanded (see below)")
}
