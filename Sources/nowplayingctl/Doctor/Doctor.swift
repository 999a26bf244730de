import ControlProtocol
import NowPlayingClient

/// `doctor`: walks from the socket to the ear, and stops where going on makes no sense.
struct Doctor {
    let run: Invocation
    private(set) var findings: [Finding] = []

    /// Nothing looked at yet.
    init(_ run: Invocation) { self.run = run }

    /// Looks at everything and says what was found; throws in the end if there is a fault.
    static func examine(_ run: Invocation) throws(Failure) {
        var doctor = Doctor(run)
        let status = try doctor.walk()
        show(doctor.findings, run)
        try refuseFaults(doctor.findings, status)
    }

    /// Prints findings, as text or as JSON.
    static func show(_ findings: [Finding], _ run: Invocation) {
        if run.wantsJSON {
            run.printJSON(["findings": .array(findings.map(\.json)), "level": .string(worst(findings).rawValue)])
        } else {
            for finding in findings { for line in finding.lines(run.output) { run.output.line(line) } }
        }
        run.output.flush()
    }

    /// Throws if there is a fault, or if the checks ended with another status than success.
    static func refuseFaults(_ findings: [Finding], _ status: ExitStatus = .success) throws(Failure) {
        guard status == .success, worst(findings) != .fault else {
            let names = findings.filter { $0.level == .fault }.map(\.check).joined(separator: ", ")
            throw Failure(status == .success ? .general : status, "faults: \(names)")
        }
    }

    private static func worst(_ findings: [Finding]) -> Finding.Level {
        Finding.Level.allCases.last { level in findings.contains { $0.level == level } } ?? .ok
    }

    /// Findings are shown in the order in which they were added.
    private mutating func add(_ findings: [Finding]) { self.findings += findings }

    private mutating func add(_ finding: Finding?) { if let finding { findings.append(finding) } }

    /// Goes on where one question has no answer; a connection that is lost ends it.
    private mutating func walk() throws(Failure) -> ExitStatus {
        let greeting: JSONValue
        do throws(Failure) {
            greeting = try run.call("hello")
        } catch {
            if error.remote?.code == 403 {
                add(
                    Finding(
                        "rights", .fault, error.message, meaning: "the daemon rejects this user",
                        action: "join the control-group of nowplayingd.conf, and log in again"))
                return error.status
            }
            let lines = error.message.split(separator: "\n").map(String.init)
            if let denied = lines.first(where: { $0.contains("permission denied") })?.trimmed {
                let advice = denied.split(separator: ": ").last.map(String.init) ?? ""
                add(
                    Finding(
                        "rights", .fault, "this user cannot reach the daemon's socket", meaning: denied,
                        action: advice.hasPrefix("sudo ") ? advice : "as its user or root: sudo nowplayingctl doctor"))
                return error.status
            }
            add(
                Finding(
                    "daemon", .fault, lines.first ?? "no daemon answers",
                    meaning: lines.dropFirst().filter { $0.hasPrefix("  ") }.map { $0.trimmed }.joined(separator: "; "),
                    action: "start it: systemctl --user start nowplayingd, sudo systemctl start nowplayingd "
                        + "(nowplayingctl setup --check shows which), or nowplayingd &"))
            // It needs no daemon.
            add(LibraryChecks.library(beside: run.sockets, ServiceControl(sockets: run.sockets)))
            return error.status
        }
        let state = StateView(try run.call("nowPlaying.get"))
        let diagnosis = try self.diagnosis()
        let socket = try run.connection().path
        let control = ServiceControl(socket: socket)
        add(Doctor.daemon(greeting, diagnosis, control))
        add(Doctor.rights(greeting))
        add(HostChecks.session(socket))
        add(
            try SoundChecks.outputs(
                state, diagnosis?["output"], isSystems: control == .system
            ) { () throws(Failure) in try run.call("output.list")["outputs"]?.arrayValue ?? [] })
        add(PlayChecks.play(state, diagnosis))
        add(ClientChecks.sessions(try sessions()))
        add(ArtworkChecks.artwork(diagnosis?["artwork"]))
        add(ClientChecks.commands(try run.call("commands.list")["commands"]?.arrayValue ?? []))
        add(ClientChecks.waiting(diagnosis))
        add(HostChecks.roots(diagnosis))
        add(HostChecks.saved(diagnosis?["state"]))
        add(HostChecks.rest(diagnosis?["rest"]?.stringValue))
        add(DecoderChecks.lateLibraries(control))
        add(DecoderChecks.confinement(diagnosis))
        add(DecoderChecks.titles(diagnosis))
        if !run.words.isEmpty { add(PlayChecks.file(diagnosis?["file"])) }
        add(LibraryChecks.library(beside: run.sockets, control))
        add(BridgeChecks.bridges())
        add(ClockChecks.clock(state, diagnosis?["clock"]))
        if let process = diagnosis?["daemon"]?["pid"]?.integerValue { add(ClockChecks.wakeups(process, state)) }
        return .success
    }

    /// Result of `diagnostics.get`; nil: the daemon is too old for it.
    private func diagnosis() throws(Failure) -> JSONValue? {
        var parameters: JSONValue?
        if let word = run.words.first {
            parameters = ["uri": .string(try Media(run).uri(of: word))]
        }
        do throws(Failure) { return try run.call("diagnostics.get", parameters) } catch {
            if error.remote?.code == -32601 { return nil }
            guard let remote = error.remote, let uri = parameters?["uri"] else { throw error }
            // The file is refused; the other findings are still useful.
            guard case .object(var answer) = try run.call("diagnostics.get") else { throw error }
            answer["file"] = ["uri": uri, "error": .string(remote.message)]
            return .object(answer)
        }
    }

    /// Sessions of the daemon; none: it is older than sessions.
    private func sessions() throws(Failure) -> [JSONValue] {
        do throws(Failure) { return try run.call("session.list")["sessions"]?.arrayValue ?? [] } catch {
            guard error.remote?.code == -32601 else { throw error }
            return []
        }
    }

    private static func daemon(
        _ greeting: JSONValue, _ diagnosis: JSONValue?, _ control: ServiceControl
    ) -> Finding {
        let version = TerminalText.safe(greeting["version"]?.stringValue ?? "of an unknown version")
        guard let daemon = diagnosis?["daemon"] else {
            return Finding(
                "daemon", .warning, "nowplayingd \(version) answers, but has no diagnostics",
                meaning: "it is older than this program", action: "restart it: \(control.command) restart nowplayingd")
        }
        let process = daemon["pid"]?.integerValue.map { ", process \($0)" } ?? ""
        let uptime = daemon["uptime"]?.doubleValue.map { ", for \(ClockText.clock($0))" } ?? ""
        return Finding("daemon", .ok, "nowplayingd \(version) answers\(process)\(uptime)")
    }

    private static func rights(_ greeting: JSONValue) -> Finding {
        switch greeting["role"]?.stringValue {
        case "admin": return Finding("rights", .ok, "this user has full control")
        case "control": return Finding("rights", .ok, "this user can control playback")
        case "remote": return Finding("rights", .ok, "this user can send remote commands, but name no media")
        default:
            return Finding(
                "rights", .warning, "this user can only read",
                meaning: "the daemon denies commands (403)",
                action: "join the control-group of nowplayingd.conf, and log in again")
        }
    }
}

extension String {
    /// Without spaces at both ends.
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
