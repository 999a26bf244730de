import ControlProtocol
import NowPlayingClient

/// Checks of the daemon's clients.
enum ClientChecks {
    /// The active session and its owner; `list`: of `session.list`.
    static func sessions(_ list: [JSONValue]) -> Finding? {
        guard let active = list.first(where: { $0["active"] == true }), let name = active["name"]?.stringValue else {
            return nil
        }
        let others = list.count == 1 ? "" : ", of \(list.count)"
        if name == "main" { return Finding("sessions", .ok, "the active one is main" + others) }
        let state = TerminalText.safe(active["state"]?.stringValue ?? "?")
        let shown = TerminalText.safe(name)
        let isExternal = active["external"] == true
        return Finding(
            "sessions", .note,
            "the active one is \(shown)" + others + (isExternal ? "; another program plays it" : "") + ": \(state)",
            meaning: "commands without a session, such as buttons and remotes, go there",
            action: active["state"] == "playing"
                ? "nowplayingctl --session main play" : "nowplayingctl session activate main; nowplayingctl status")
    }

    /// Commands that wait for an answer.
    static func waiting(_ diagnosis: JSONValue?) -> [Finding] {
        guard let list = diagnosis?["waiting"]?.arrayValue else { return [] }
        // An announcement is answered after it has played.
        let late = list.filter { $0["method"]?.stringValue != "announce" }
        guard !late.isEmpty else { return [Finding("waiting", .ok, "no command has waited for more than a second")] }
        return late.map { request in
            let method = TerminalText.safe(request["method"]?.stringValue ?? "?")
            let client = TerminalText.safe(request["client"]?.stringValue ?? "?")
            let process = request["pid"]?.integerValue.map { " (process \($0))" } ?? ""
            let seconds = ClockText.number(request["seconds"]?.doubleValue ?? 0, places: 1)
            return Finding(
                "waiting", .warning, "\(method) of \(client)\(process) has waited for \(seconds) s",
                meaning: "a disk, server or program that it needs does not answer",
                action: "df; nowplayingctl outputs; nowplayingctl doctor FILE")
        }
    }

    /// Commands that a client turned off; `list`: of `commands.list`.
    static func commands(_ list: [JSONValue]) -> Finding {
        let disabled = list.filter { $0["enabled"]?.boolValue == false }
        guard !disabled.isEmpty else { return Finding("commands", .ok, "all are available") }
        let texts = disabled.map { command in
            TerminalText.safe(
                (command["command"]?.stringValue ?? "?") + (command["reason"]?.stringValue.map { " (\($0))" } ?? ""))
        }
        return Finding(
            "commands", .note, "not now: " + texts.joined(separator: ", "),
            meaning: "the situation or a client disabled them",
            action: "if a client did: nowplayingctl configure COMMAND --enable")
    }
}
