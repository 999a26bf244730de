import ControlProtocol
import NowPlaying
import NowPlayingClient
import SnapcastControl

/// From the daemon to the ear.
extension Doctor {
    /// Sound server and sink.
    mutating func outputs(_ state: StateView, _ diagnosis: JSONValue?) throws(Failure) {
        switch diagnosis?["output"]?["kind"]?.stringValue {
        case "null":
            return add(
                Finding(
                    "server", .warning, "the daemon plays into nothing (output = null)",
                    meaning: "there is no sound",
                    action: "set output = pulse in nowplayingd.conf and restart the daemon")
            )
        case "file":
            return add(
                Finding(
                    "server", .warning, "the daemon writes files (output = file)",
                    meaning: "there is no sound",
                    action: "set output = pulse in nowplayingd.conf and restart the daemon")
            )
        case "pipe":
            return add(pipe(state, diagnosis?["output"]?["path"]?.stringValue ?? ""))
        case "snapcast":
            let output = diagnosis?["output"]
            let address = output?["address"]?.stringValue ?? ""
            add(snapcast(state, address))
            return rooms(state, address, output)
        default: break
        }
        let list: [JSONValue]
        do throws(Failure) {
            list = try run.call("output.list")["outputs"]?.arrayValue ?? []
        } catch {
            guard error.remote != nil else { throw error }
            return add(SoundPrograms(in: "/usr/bin").finding(error.message, isSystems: try isSystems))
        }
        add(Finding("server", .ok, "the sound server answers"))
        sink(list, state, wanted: diagnosis?["output"]?["sink"]?.stringValue)
    }

    /// The program that reads the FIFO, as far as the daemon needs one now.
    private func pipe(_ state: StateView, _ path: String) -> Finding {
        let shown = TerminalText.safe(path)
        guard state.json["stall"]?["reason"]?.stringValue == "noServer" else {
            return Finding("server", .ok, "the daemon sends samples into the FIFO \(shown)")
        }
        return Finding(
            "server", .fault, "no program reads the FIFO \(shown)", meaning: "there is no sound",
            action: "start the program that reads it; see the log if it runs")
    }

    /// The way from the Snapcast server to the rooms.
    private mutating func rooms(_ state: StateView, _ address: String, _ output: JSONValue?) {
        guard let place = SnapcastServer.Address(address) else { return }
        // Without a port it is the usual one of a source.
        let port = place.port == SnapcastServer.Address.controlPort ? 4953 : place.port
        let check = RoomsCheck(
            host: place.host, port: String(port), format: output?["format"]?.stringValue,
            buffer: output?["buffer"]?.doubleValue, isPlaying: state.state == .playing)
        for finding in check.findings() { add(finding) }
    }

    /// The Snapcast server, as far as the daemon needs one now.
    private func snapcast(_ state: StateView, _ address: String) -> Finding {
        let shown = TerminalText.safe(address)
        switch state.json["stall"]?["reason"]?.stringValue {
        case "noServer":
            return Finding(
                "server", .fault, "the Snapcast server at \(shown) is not reached", meaning: "there is no sound",
                action: "start it, with a source tcp://…?mode=server at this address; see the log of the daemon")
        case "serverHung":
            return Finding(
                "server", .fault, "the Snapcast server at \(shown) does not read", meaning: "there is no sound",
                action: "check that no other program sends to this source; restart the server")
        default:
            return Finding("server", .ok, "the daemon plays to the Snapcast server at \(shown)")
        }
    }

    private mutating func sink(_ list: [JSONValue], _ state: StateView, wanted: String?) {
        let count = findings.count
        let inUse = state.json["output"]?["name"]?.stringValue
        if let wanted, !list.contains(where: { $0["name"]?.stringValue == wanted }) {
            add(
                Finding(
                    "sink", .fault, "the configured sink \(TerminalText.safe(wanted)) does not exist",
                    meaning: "its device is off or unplugged, or has another name",
                    action: "nowplayingctl outputs; then set sink in nowplayingd.conf, or remove it"))
        }
        let device = list.first { $0["name"]?.stringValue == inUse } ?? list.first { $0["default"]?.boolValue == true }
        guard let device = device ?? list.first, let name = device["name"]?.stringValue else {
            return add(
                Finding(
                    "sink", .fault, "the sound server has no output", meaning: "there is no sound",
                    action: "connect or switch on a device; check that the user is in group audio: id"))
        }
        let shown = TerminalText.safe(device["description"]?.stringValue ?? name)
        let word = Finding.word(name)
        if name == "auto_null" {
            add(
                Finding(
                    "sink", .fault, "the sound server has only its dummy output", meaning: "there is no sound",
                    action: "connect or switch on a device; check for other users of it: fuser -v /dev/snd/*"))
        }
        if device["state"]?.stringValue == "suspended", state.state == .playing || state.state == .stalled {
            add(
                Finding(
                    "sink", .fault, "\(shown) is suspended during playback",
                    meaning: "the server, another session or an idle rule has suspended the device",
                    action: "pactl suspend-sink \(word) 0"))
        }
        if device["muted"]?.boolValue == true {
            add(
                Finding(
                    "sink", .fault, "\(shown) is muted", meaning: "all sound on it is silent",
                    action: "pactl set-sink-mute \(word) 0"))
        }
        if device["volume"]?.doubleValue == 0 {
            add(
                Finding(
                    "sink", .fault, "\(shown) is at 0 %", meaning: "all sound on it is silent",
                    action: "pactl set-sink-volume \(word) 50%"))
        }
        if findings.count == count { add(Finding("sink", .ok, "playback is on \(shown)")) }
    }

    /// Our own stream, and what holds it.
    mutating func play(_ state: StateView, _ diagnosis: JSONValue?) {
        if state.isMuted {
            add(
                Finding(
                    "volume", .fault, "the player is muted", meaning: "it plays silently",
                    action: "nowplayingctl unmute"))
        } else if state.volume == 0 {
            add(
                Finding(
                    "volume", .fault, "the player's volume is 0 %", meaning: "it plays silently",
                    action: "nowplayingctl volume 50"))
        } else {
            add(Finding("volume", .ok, StatusText.volume(state)))
        }
        switch state.state {
        case .playing: add(Finding("play", .ok, "playing " + (StatusText.name(state) ?? "")))
        case .stalled: add(Finding("play", .fault, "stalled", meaning: StatusText.stall(state.stallReason)))
        case .interrupted:
            add(
                Finding(
                    "play", .warning, "held by \(state.interrupter ?? "another program")",
                    meaning: StatusText.interruption(state), action: "end the other program's sound, or wait"))
        case .paused:
            add(
                Finding(
                    "play", .note, "paused" + Doctor.paused(diagnosis?["lastPause"], state), meaning: nil,
                    action: "nowplayingctl play"))
        default:
            add(Finding("play", .note, state.stateName + ", " + StatusText.position(state, at: MonotonicTime.now)))
        }
        // A start after early deaths has a line of its own.
        if let error = StatusText.error(state), diagnosis?["rest"] == nil {
            add(
                Finding(
                    "item", .warning, error, meaning: "the queue continued or stopped without it",
                    action: "nowplayingctl doctor FILE examines one file"))
        }
    }

    /// The client that paused, and the time; empty if unknown.
    private static func paused(_ last: JSONValue?, _ state: StateView) -> String {
        var text = ""
        if let client = last?["client"]?.stringValue ?? state.text("by", "client") {
            text = ", by " + TerminalText.safe(client)
            if let process = last?["pid"]?.integerValue { text += " (process \(process))" }
        } else if last?["reason"]?.stringValue == "sleep" {
            text = ", by the sleep timer"
        } else if last?["seconds"] != nil {
            text = ", by the daemon: its output went away, or another program requested it"
        }
        return text + (last?["seconds"]?.doubleValue.map { ", \(ClockText.clock($0)) ago" } ?? "")
    }

    /// Commands that a client turned off.
    mutating func commands() throws(Failure) {
        let list = try run.call("commands.list")["commands"]?.arrayValue ?? []
        let disabled = list.filter { $0["enabled"]?.boolValue == false }
        guard !disabled.isEmpty else { return add(Finding("commands", .ok, "all are available")) }
        let texts = disabled.map { command in
            TerminalText.safe(
                (command["command"]?.stringValue ?? "?") + (command["reason"]?.stringValue.map { " (\($0))" } ?? ""))
        }
        add(
            Finding(
                "commands", .note, "not now: " + texts.joined(separator: ", "),
                meaning: "the situation or a client disabled them",
                action: "if a client did: nowplayingctl configure COMMAND --enable"))
    }

    /// The file that was asked about.
    mutating func file(_ diagnosis: JSONValue?) {
        guard let file = diagnosis?["file"] else { return }
        let name = StateView.name(ofURI: file["uri"]?.stringValue ?? "")
        if let error = file["error"]?.stringValue {
            let text = TerminalText.safe(error)
            return add(
                Finding(
                    "file", .fault, text.contains(name) ? text : "\(name): \(text)", meaning: "it cannot play",
                    action: "nowplayingctl formats lists the formats"))
        }
        func text(_ key: String) -> String? { file[key]?.stringValue.map { TerminalText.safe($0) } }
        var parts = [text("codec") ?? "unknown coding"]
        if let rate = file["sampleRate"]?.doubleValue {
            parts.append("\(ClockText.number(rate / 1000, places: 3)) kHz")
        }
        if let channels = file["channels"]?.integerValue { parts.append("\(channels) channels") }
        if let duration = file["duration"]?.doubleValue {
            parts.append(
                ClockText.clock(duration) + (file["durationIsExact"]?.boolValue == false ? " (estimated)" : ""))
        } else {
            parts.append("of unknown length")
        }
        if file["seekable"]?.boolValue == false { parts.append("not seekable") }
        let tags = ["artist", "title", "albumTitle"].compactMap(text).joined(separator: " – ")
        add(
            Finding(
                "file", .ok, "\(name) plays: " + parts.joined(separator: ", "),
                meaning: tags.isEmpty ? "it has no tags; clients show its file name" : "tags: " + tags))
    }
}
