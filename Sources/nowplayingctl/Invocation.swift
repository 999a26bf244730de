import ControlProtocol
import NowPlayingClient

/// One run of the program: what was asked for, the connection, the output.
final class Invocation {
    /// What is to be done.
    let verb: Verb
    /// What stood behind the verb, without the options.
    let words: [Word]
    /// Where results are printed.
    let output: Output
    private let options: [String: Word]
    private var opened: Connection?

    /// Seconds that the daemon has for an answer, unless `--timeout` says otherwise.
    static let patience = 15.0

    /// Checks the options and words that the verb takes. Throws what is wrong with them.
    init(verb: Verb, arguments: Arguments, output: Output) throws(Failure) {
        self.verb = verb
        self.output = output
        words = Array(arguments.words.dropFirst())
        options = arguments.options
        let allowed = verb.options + Verb.common
        for name in options.keys.sorted() where !allowed.contains(where: { $0.name == name }) {
            throw .usage("\(verb.name) has no option \(name)", verb: verb.name)
        }
        if words.count < verb.arity.lowerBound {
            throw .usage("\(verb.name) needs more: \(verb.name) \(verb.synopsis)", verb: verb.name)
        }
        if words.count > verb.arity.upperBound {
            let extra = words[verb.arity.upperBound].shown
            throw .usage("\(verb.name) takes no \"\(extra)\" here", verb: verb.name)
        }
    }

    // MARK: Options

    /// Whether this option was given.
    func has(_ option: String) -> Bool { options[option] != nil }

    /// The value of this option.
    func value(_ option: String) -> String? { options[option]?.text }

    /// Whether answers are printed as they came.
    var wantsJSON: Bool { has("--json") }

    /// `--timeout`.
    func timeout() throws(Failure) -> Double? {
        guard let text = value("--timeout") else { return nil }
        guard let seconds = ClockText.seconds(text), seconds > 0, seconds < 1e9 else {
            throw wrong("--timeout", text, "seconds, such as 5 or 0.5")
        }
        return seconds
    }

    /// `--format`, parsed.
    func template() throws(Failure) -> Template? {
        guard let text = value("--format") else { return nil }
        do { return try Template(text) } catch { throw .usage(TerminalText.safe(error.message), verb: verb.name) }
    }

    /// A mistake in a value.
    func wrong(_ what: String, _ text: String, _ expected: String) -> Failure {
        .usage("\(what): \"\(TerminalText.safe(text))\" is not what it takes: \(expected)", verb: verb.name)
    }

    // MARK: The daemon

    /// The paths to try.
    var sockets: [String] { SocketLocation.candidates(option: value("--socket")) }

    /// The connection, opened on first use.
    func connection() throws(Failure) -> Connection {
        if let opened { return opened }
        do {
            let connection = try Connection(firstOf: sockets)
            opened = connection
            return connection
        } catch { throw failure(error) }
    }

    /// Calls a method and waits for its result. `patience`: seconds, where `--timeout` does not say; nil for ever.
    func call(
        _ method: String, _ parameters: JSONValue? = nil, descriptors: [Int32] = [],
        patience: Double? = Invocation.patience
    ) throws(Failure) -> JSONValue {
        let seconds = try timeout() ?? patience
        let connection = try connection()
        let parameters = addressed(method, parameters)
        do {
            return try connection.call(method, parameters, descriptors: descriptors, within: seconds)
        } catch { throw failure(error) }
    }

    /// The parameters with `--session`, where the method takes one.
    private func addressed(_ method: String, _ parameters: JSONValue?) -> JSONValue? {
        guard let session = value("--session"),
            Catalogue.method(method)?.parameters.contains(where: { $0.name == "session" }) == true
        else { return parameters }
        guard case .object(var members)? = parameters else { return ["session": .string(session)] }
        if members["session"] == nil { members["session"] = .string(session) }
        return .object(members)
    }

    /// Calls a method whose result is only printed with `--json`.
    func perform(_ method: String, _ parameters: JSONValue? = nil) throws(Failure) {
        try finish(call(method, parameters))
    }

    /// Ends a command: prints its result where that is wanted, and tells when the wish could not come true yet.
    func finish(_ result: JSONValue) throws(Failure) {
        if wantsJSON { printJSON(result) }
        guard result["state"]?.stringValue == "stalled" else { return }
        let reason = StateView(try call("nowPlaying.get")).stallReason
        throw Failure(.noDevice, StatusText.stall(reason))
    }

    /// The present state.
    func state() throws(Failure) -> StateView {
        let languages = ReaderLanguages.parameter(SocketLocation.variable)
        return StateView(try call("nowPlaying.get", languages.map { ["languages": $0] }))
    }

    /// Prints a value as one line of JSON that is harmless for a terminal.
    func printJSON(_ value: JSONValue) { output.line(TerminalText.escapedJSON(JSONWriter.text(value))) }

    /// An error of the library in this program's words.
    func failure(_ error: ClientError) -> Failure { Failure(error, socketOption: value("--socket")) }
}
