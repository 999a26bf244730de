import ControlProtocol
import NowPlayingClient

/// The programs that follow the daemon.
enum BridgeChecks {
    /// Seconds that a bridge gets to answer.
    static let patience = 2.0
    /// Maximum number of hooks in the report.
    private static let maximumHooks = 16

    /// Each bridge that runs: whether its other side is there, and how its hooks went.
    static func bridges() -> [Finding] {
        let findings = ["hooks", "mqtt", "mpris", "mpd"].flatMap(bridge) + WebChecks.web()
        guard findings.isEmpty else { return findings }
        return [Finding("bridges", .ok, "this user runs no bridge (hooks, MQTT, D-Bus, MPD, web)")]
    }

    /// Findings about one bridge; none: this user does not run it.
    private static func bridge(_ name: String) -> [Finding] {
        let program = "nowplaying-" + name
        let isHooks = name == "hooks"
        do throws(ClientError) {
            let connection = try Connection(firstOf: SocketLocation.bridge(program))
            let answer = try connection.call(isHooks ? "hooks.list" : "bridge.status", [:], within: patience)
            return isHooks ? hooks(answer) : [peer(name, answer)]
        } catch .noDaemon { return [] } catch {
            return [
                Finding(
                    name, .fault, "\(program) runs, but does not answer", meaning: "it hangs, or is shutting down",
                    action: "systemctl restart \(program), with --user where it is the user's")
            ]
        }
    }

    private static func peer(_ name: String, _ answer: JSONValue) -> Finding {
        let peer = TerminalText.safe(answer["peer"]?.stringValue ?? "its peer")
        guard answer["connected"] != true else { return Finding(name, .ok, "connected to \(peer)") }
        let problem = answer["problem"]?.stringValue.map { ": " + TerminalText.safe($0) } ?? ""
        let action =
            switch name {
            case "mqtt": "check host, user and tls in [mqtt], and the broker's log"
            case "mpd": "end the program that listens there, or change bind in [mpd], and restart nowplaying-mpd"
            case _: "check bus in [mpris]; the system bus needs the package's policy file"
            }
        guard name != "mpd" else {
            return Finding(
                name, .warning, "it does not listen at all of its addresses\(problem)",
                meaning: "clients at these addresses do not reach the playback", action: action)
        }
        return Finding(
            name, .warning, "no connection to \(peer)\(problem)",
            meaning: "its users do not see the playback; nowplaying-\(name) keeps trying", action: action)
    }

    private static func hooks(_ answer: JSONValue) -> [Finding] {
        let hooks = answer["hooks"]?.arrayValue ?? []
        var findings: [Finding] = []
        for hook in hooks where findings.count < maximumHooks {
            let path = TerminalText.safe(hook["path"]?.stringValue ?? "?")
            let problem = hook["problem"]?.stringValue
            let last = hook["last"]
            guard problem != nil || last?["success"] == false else { continue }
            let event = TerminalText.safe(last?["event"]?.stringValue ?? "")
            let words = problem ?? "\(path) \(last?["words"]?.stringValue ?? "failed") at \(event)"
            findings.append(
                Finding(
                    "hooks", .warning, TerminalText.safe(words),
                    meaning: problem == nil
                        ? "the device that it switches may be in the wrong state" : "it does nothing",
                    action: problem == nil
                        ? "nowplayingctl hooks test \(path) \(event)" : "fix that; nowplayingctl hooks lists them"))
        }
        return findings.isEmpty ? [Finding("hooks", .ok, "\(hooks.count) in order")] : findings
    }
}
