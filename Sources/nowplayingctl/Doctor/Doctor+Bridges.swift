import ControlProtocol
import NowPlayingClient

/// The programs that follow the daemon.
extension Doctor {
    /// Seconds that a bridge gets to answer.
    static let patience = 2.0
    /// Maximum number of hooks in the report.
    private static let maximumHooks = 16

    /// Each bridge that runs: whether its other side is there, and how its hooks went.
    mutating func bridges() {
        var count = 0
        for name in ["hooks", "mqtt", "mpris", "mpd"] {
            let method = name == "hooks" ? "hooks.list" : "bridge.status"
            let program = "nowplaying-" + name
            do throws(ClientError) {
                let connection = try Connection(firstOf: SocketLocation.bridge(program))
                let answer = try connection.call(method, [:], within: Doctor.patience)
                name == "hooks" ? hooks(answer) : peer(name, answer)
                count += 1
            } catch .noDaemon { continue } catch {
                count += 1
                add(
                    Finding(
                        name, .fault, "\(program) runs, but does not answer", meaning: "it hangs, or is shutting down",
                        action: "systemctl restart \(program), with --user where it is the user's"))
            }
        }
        count += web() ? 1 : 0
        if count == 0 {
            add(Finding("bridges", .ok, "this user runs no bridge (hooks, MQTT, D-Bus, MPD, web)"))
        }
    }

    private mutating func peer(_ name: String, _ answer: JSONValue) {
        let peer = TerminalText.safe(answer["peer"]?.stringValue ?? "its peer")
        guard answer["connected"] != true else { return add(Finding(name, .ok, "connected to \(peer)")) }
        let problem = answer["problem"]?.stringValue.map { ": " + TerminalText.safe($0) } ?? ""
        let action =
            switch name {
            case "mqtt": "check host, user and tls in [mqtt], and the broker's log"
            case "mpd": "end the program that listens there, or change bind in [mpd], and restart nowplaying-mpd"
            case _: "check bus in [mpris]; the system bus needs the package's policy file"
            }
        guard name != "mpd" else {
            return add(
                Finding(
                    name, .warning, "it does not listen at all of its addresses\(problem)",
                    meaning: "clients at these addresses do not reach the playback", action: action))
        }
        add(
            Finding(
                name, .warning, "no connection to \(peer)\(problem)",
                meaning: "its users do not see the playback; nowplaying-\(name) keeps trying", action: action))
    }

    private mutating func hooks(_ answer: JSONValue) {
        let hooks = answer["hooks"]?.arrayValue ?? []
        var failing = 0
        for hook in hooks {
            let path = TerminalText.safe(hook["path"]?.stringValue ?? "?")
            let problem = hook["problem"]?.stringValue
            let last = hook["last"]
            guard problem != nil || last?["success"] == false else { continue }
            failing += 1
            guard failing <= Doctor.maximumHooks else { continue }
            let event = TerminalText.safe(last?["event"]?.stringValue ?? "")
            let words = problem ?? "\(path) \(last?["words"]?.stringValue ?? "failed") at \(event)"
            add(
                Finding(
                    "hooks", .warning, TerminalText.safe(words),
                    meaning: problem == nil
                        ? "the device that it switches may be in the wrong state" : "it does nothing",
                    action: problem == nil
                        ? "nowplayingctl hooks test \(path) \(event)" : "fix that; nowplayingctl hooks lists them"))
        }
        if failing == 0 { add(Finding("hooks", .ok, "\(hooks.count) in order")) }
    }
}
