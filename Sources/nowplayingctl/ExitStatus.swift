import ControlProtocol
import NowPlayingClient

/// Exit status of the program; the numbers are documented and never change.
enum ExitStatus: Int32 {
    case success = 0
    case general = 1
    case usage = 2
    case noSuchContent = 3
    case nothingPlaying = 4
    case noDevice = 5
    case disabled = 6
    case denied = 7
    case noDaemon = 8
    case timeout = 9
}

/// The failure of a verb.
struct Failure: Error {
    /// Exit status for this failure.
    var status: ExitStatus
    /// Message for people, of one or more lines. Foreign text in it is already escaped.
    var message: String
    /// The daemon's answer, for `--json`.
    var remote: RemoteFailure?

    /// A failure of this program itself.
    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// A mistake in the command line, with a reference to the help.
    static func usage(_ message: String, verb: String? = nil) -> Failure {
        Failure(.usage, message + "\nSee: nowplayingctl " + (verb.map { "\($0) " } ?? "") + "--help")
    }
}

extension Failure {
    /// A failure that the client library reports.
    init(_ error: ClientError, socketOption: String? = nil) {
        switch error {
        case .noDaemon(let attempts):
            var lines = ["no daemon answers"]
            for attempt in attempts { lines.append("  \(TerminalText.safe(attempt.path)): \(attempt.explanation)") }
            lines.append("Start one: nowplayingd" + (socketOption.map { " --socket \(TerminalText.safe($0))" } ?? ""))
            self.init(.noDaemon, lines.joined(separator: "\n"))
        case .connectionLost:
            self.init(.noDaemon, "the daemon closed the connection before it answered; its log says why")
        case .timedOut(let seconds):
            self.init(.timeout, "the daemon did not answer within \(ClockText.number(seconds)) s")
        case .notUnderstood(let what):
            self.init(.general, "the socket does not speak the protocol of nowplayingd: \(TerminalText.safe(what))")
        case .refused(let failure):
            self.init(failure)
        case .system(let call, let code):
            self.init(.general, "\(call): \(SystemText.error(code))")
        }
    }

    /// A failure of a request to the library.
    init(library error: ClientError) {
        switch error {
        case .noDaemon(let attempts):
            var lines = ["no library answers"]
            for attempt in attempts {
                lines.append("  \(TerminalText.safe(attempt.path)): \(attempt.explanation(of: "library"))")
            }
            let isSystems = attempts.allSatisfy { $0.path.hasPrefix("/run/nowplayingd/") }
            let start = isSystems ? "sudo systemctl enable" : "systemctl --user enable"
            lines.append("Start it: \(start) --now nowplaying-library, or nowplaying-library")
            self.init(.noDaemon, lines.joined(separator: "\n"))
        case .connectionLost:
            self.init(.noDaemon, "the library closed the connection before it answered; its log says why")
        case .timedOut(let seconds):
            self.init(.timeout, "the library did not answer within \(ClockText.number(seconds)) s")
        case .notUnderstood, .refused, .system: self.init(error)
        }
    }

    /// An error in an answer of the daemon.
    init(_ failure: RemoteFailure) {
        let status: ExitStatus
        var hint = ""
        switch failure.code {
        case 403: status = .denied
        case 100, 404: status = .noSuchContent
        case 110:
            status = .nothingPlaying
            hint = "\nPlay something: nowplayingctl play FILE"
        case 120: status = .noDevice
        case 200 where failure.reason == "disabled":
            status = .disabled
            hint = "\nList the available commands: nowplayingctl commands"
        case 200 where failure.reason == "noDaemon": status = .noDaemon
        case -32602: status = .usage
        default: status = .general
        }
        self.init(status, TerminalText.safe(WireName.translated(failure.message)) + hint)
        remote = failure
    }
}
