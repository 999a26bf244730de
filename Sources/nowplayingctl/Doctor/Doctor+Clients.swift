import ControlProtocol
import NowPlayingClient

/// Checks of the daemon's clients.
extension Doctor {
    /// True for the system's daemon.
    var isSystems: Bool {
        get throws(Failure) { try run.connection().path.hasPrefix("/run/nowplayingd/") }
    }

    /// The active session and its owner.
    mutating func sessions() throws(Failure) {
        let list: [JSONValue]
        do throws(Failure) { list = try run.call("session.list")["sessions"]?.arrayValue ?? [] } catch {
            // It is older than sessions.
            guard error.remote?.code == -32601 else { throw error }
            return
        }
        guard let active = list.first(where: { $0["active"] == true }), let name = active["name"]?.stringValue else {
            return
        }
        let others = list.count == 1 ? "" : ", of \(list.count)"
        if name == "main" { return add(Finding("sessions", .ok, "the active one is main" + others)) }
        let state = TerminalText.safe(active["state"]?.stringValue ?? "?")
        let shown = TerminalText.safe(name)
        let isExternal = active["external"] == true
        add(
            Finding(
                "sessions", .note,
                "the active one is \(shown)" + others + (isExternal ? "; another program plays it" : "") + ": \(state)",
                meaning: "commands without a session, such as buttons and remotes, go there",
                action: "nowplayingctl session activate main; nowplayingctl --session main status"))
    }

    /// Commands that wait for an answer.
    mutating func waiting(_ diagnosis: JSONValue?) {
        guard let list = diagnosis?["waiting"]?.arrayValue else { return }
        // An announcement is answered after it has played.
        let late = list.filter { $0["method"]?.stringValue != "announce" }
        guard !late.isEmpty else { return add(Finding("waiting", .ok, "no command has waited for more than a second")) }
        for request in late {
            let method = TerminalText.safe(request["method"]?.stringValue ?? "?")
            let client = TerminalText.safe(request["client"]?.stringValue ?? "?")
            let process = request["pid"]?.integerValue.map { " (process \($0))" } ?? ""
            let seconds = ClockText.number(request["seconds"]?.doubleValue ?? 0, places: 1)
            add(
                Finding(
                    "waiting", .warning, "\(method) of \(client)\(process) has waited for \(seconds) s",
                    meaning: "a disk, server or program that it needs does not answer",
                    action: "df; nowplayingctl outputs; nowplayingctl doctor FILE"))
        }
    }
}
