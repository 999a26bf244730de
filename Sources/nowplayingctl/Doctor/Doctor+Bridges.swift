import ControlProtocol
import NowPlayingClient

/// The programs that follow the daemon.
extension Doctor {
    /// Seconds that a bridge gets to answer.
    private static let patience = 2.0
    /// Hooks that are told, at most.
    private static let maximumHooks = 16

    /// Each bridge that runs: whether its other side is there, and how its hooks went.
    mutating func bridges() {
        var count = 0
        for (name, method) in [("hooks", "hooks.list"), ("mqtt", "bridge.status"), ("mpris", "bridge.status")] {
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
                        name, .fault, "\(program) runs, but does not answer", meaning: "it hangs, or is being ended",
                        action: "systemctl restart \(program), with --user where it is the user's"))
            }
        }
        if count == 0 {
            add(Finding("bridges", .ok, "no bridge of this user runs: no hooks, no MQTT, no D-Bus"))
        }
    }

    private mutating func peer(_ name: String, _ answer: JSONValue) {
        let peer = TerminalText.safe(answer["peer"]?.stringValue ?? "its other side")
        guard answer["connected"] != true else { return add(Finding(name, .ok, "connected to \(peer)")) }
        let problem = answer["problem"]?.stringValue.map { ": " + TerminalText.safe($0) } ?? ""
        add(
            Finding(
                name, .warning, "\(peer) is not there\(problem)",
                meaning: "nobody there sees what plays; nowplaying-\(name) connects as soon as it can",
                action: name == "mqtt"
                    ? "look at host, user and tls in [mqtt], and at the broker's log"
                    : "look at bus in [mpris]; on the system's bus the package's policy file must be there"))
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
                    meaning: problem == nil ? "what it switches may stand wrong" : "it does nothing",
                    action: problem == nil
                        ? "nowplayingctl hooks test \(path) \(event)" : "repair that; nowplayingctl hooks lists them"))
        }
        if failing == 0 { add(Finding("hooks", .ok, "\(hooks.count) in order")) }
    }
}
