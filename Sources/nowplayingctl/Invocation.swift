import ControlProtocol
import NowPlaying
import NowPlayingClient

/// One run of the program: the request, the connection, the output.
final class Invocation {
    /// The verb to run.
    let verb: Verb
    /// Arguments after the verb, without the options.
    let words: [Word]
    /// Output for results.
    let output: Output
    private let options: [String: [Word]]
    private var opened: Connection?
    private var openedLibrary: Connection?

    /// Seconds for an answer of the daemon, unless `--timeout` sets others.
    static let patience = 15.0

    /// Checks the options and words for the verb. Throws their fault.
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

    /// True if the command line has this option.
    func has(_ option: String) -> Bool { options[option] != nil }

    /// The value of this option.
    func value(_ option: String) -> String? { word(option)?.text }

    /// The value of this option, byte for byte.
    func word(_ option: String) -> Word? { options[option]?.first }

    /// All values of an option that may repeat, byte for byte.
    func words(_ option: String) -> [Word] { options[option] ?? [] }

    /// Checks the options of one use of the verb, such as `lists play`: it takes these and the common ones. Throws for another.
    func restrict(_ use: String, to names: [String] = []) throws(Failure) {
        let allowed = names + Verb.common.map(\.name)
        for name in options.keys.sorted() where !allowed.contains(name) {
            throw .usage("\(use) has no option \(name)", verb: verb.name)
        }
    }

    /// True with `--json`: the program prints answers unchanged.
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
        .usage("\(what): invalid value \"\(TerminalText.safe(text))\" (expected \(expected))", verb: verb.name)
    }

    /// A mistake in a percentage. The message suggests the percentage for a fraction.
    func wrongPercent(_ what: String, _ text: String, _ expected: String) -> Failure {
        let digits = text.drop { "+-".contains($0) }
        guard text.contains("."), !text.hasSuffix("%"), let number = ClockText.decimal(digits) else {
            return wrong(what, text, expected)
        }
        let meant = number <= 1 ? ClockText.number(number * 100) : ClockText.number(number)
        let sign = text.prefix { "+-".contains($0) }
        return wrong(what, text, "\(expected); for \(meant) % write \(sign)\(meant)\(number <= 1 ? "" : "%")")
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

    /// The connection to the library, opened on first use.
    func library() throws(Failure) -> Connection {
        if let openedLibrary { return openedLibrary }
        do {
            let connection = try Connection(firstOf: SocketLocation.library(beside: sockets))
            openedLibrary = connection
            return connection
        } catch { throw Failure(library: error) }
    }

    /// Calls a method and waits for its result. `patience`: seconds to wait without `--timeout`; nil: without limit.
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

    /// The parameters, with the session of `--session` if the method takes one.
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

    /// Ends a command: prints its result for `--json`. If the daemon has accepted the command but no sound is possible yet,
    /// reports the reason on standard error, or waits with `--wait`. Throws `noDevice` if that wait times out.
    func finish(_ result: JSONValue) throws(Failure) {
        if wantsJSON { printJSON(result) }
        try reportStall(state: result["state"]?.stringValue)
    }

    /// Media that `reportMissing` names.
    private static let mostMissing = 20

    /// Reports the media that a request has left out, on standard error.
    func reportMissing(_ result: JSONValue) {
        let missing = result["missing"]?.arrayValue ?? []
        guard let count = result["missingCount"]?.integerValue, !missing.isEmpty else { return }
        output.flush()
        for media in missing.prefix(Self.mostMissing) {
            let line = media["line"]?.integerValue.map { "line \($0): " } ?? ""
            let (uri, reason) = (media["uri"]?.stringValue ?? "", media["reason"]?.stringValue ?? "is missing")
            complain("left out: \(line)\(TerminalText.safe(uri)) \(TerminalText.safe(reason))")
        }
        let more = Int(clamping: count) - min(missing.count, Self.mostMissing)
        if more > 0 { complain("left out: \(more) more") }
    }

    /// If no sound is possible in this state, reports the reason, or waits with `--wait`.
    func reportStall(state: String?) throws(Failure) {
        guard state == "stalled" else { return }
        if has("--wait") { return try awaitSound() }
        output.flush()
        complain("accepted; " + StatusText.stall(StateView(try call("nowPlaying.get")).stallReason))
    }

    /// Waits until playback is not stalled, at most for the time of `--timeout`.
    private func awaitSound() throws(Failure) {
        let deadline = MonotonicTime.now.advanced(bySeconds: try timeout() ?? Invocation.patience)
        var reason: String?
        do {
            let follower = try Follower(connection(), paths: sockets, session: value("--session"))
            while true {
                switch try follower.next(deadline: deadline) {
                case .state(let state) where state.state == .stalled: reason = state.stallReason
                case .state(let state):
                    if state.state == .stopped, let error = StatusText.error(state) { throw Failure(.general, error) }
                    return
                case .deadline: throw Failure(.noDevice, StatusText.stall(reason))
                case .disconnected: throw Failure(.noDaemon, "the daemon has ended")
                case .readerGone: return
                }
            }
        } catch let error as ClientError {
            throw failure(error)
        } catch let error as Failure {
            throw error
        } catch { return }
    }

    /// The present state.
    func state() throws(Failure) -> StateView {
        let languages = ReaderLanguages.parameter(SocketLocation.variable)
        return StateView(try call("nowPlaying.get", languages.map { ["languages": $0] }))
    }

    /// Prints a value as one line of JSON that is harmless for a terminal.
    func printJSON(_ value: JSONValue) { output.line(TerminalText.escapedJSON(JSONWriter.text(value))) }

    /// An error of the library in this program's words.
    func failure(_ error: ClientError) -> Failure {
        let variable = SocketLocation.variable("NOWPLAYING_SOCKET").flatMap { $0.isEmpty ? nil : $0 }
        return Failure(error, socketOption: value("--socket") ?? variable)
    }
}
