import ControlProtocol
import NowPlaying
import NowPlayingClient

/// Checks of the playback, and of one file.
enum PlayChecks {
    /// Our own stream, and what holds it.
    static func play(_ state: StateView, _ diagnosis: JSONValue?) -> [Finding] {
        var findings: [Finding] = []
        if state.isMuted {
            findings.append(
                Finding(
                    "volume", .fault, "the player is muted", meaning: "it plays silently",
                    action: "nowplayingctl unmute"))
        } else if state.volume == 0 {
            findings.append(
                Finding(
                    "volume", .fault, "the player's volume is 0 %", meaning: "it plays silently",
                    action: "nowplayingctl volume 50"))
        } else {
            findings.append(Finding("volume", .ok, StatusText.volume(state)))
        }
        switch state.state {
        case .playing: findings.append(Finding("play", .ok, "playing " + (StatusText.name(state) ?? "")))
        case .stalled: findings.append(Finding("play", .fault, "stalled", meaning: StatusText.stall(state.stallReason)))
        case .interrupted:
            findings.append(
                Finding(
                    "play", .warning, "held by \(state.interrupter ?? "another program")",
                    meaning: StatusText.interruption(state), action: "end the other program's sound, or wait"))
        case .paused:
            findings.append(
                Finding(
                    "play", .note, "paused" + paused(diagnosis?["lastPause"], state), meaning: nil,
                    action: "nowplayingctl play"))
        case .stopped, nil:
            findings.append(
                Finding("play", .note, state.stateName + ", " + StatusText.position(state, at: MonotonicTime.now)))
        }
        // A start after early deaths has a line of its own.
        if let error = StatusText.error(state), diagnosis?["rest"] == nil {
            findings.append(
                Finding(
                    "item", .warning, error, meaning: "the queue continued or stopped without it",
                    action: "nowplayingctl doctor FILE examines one file"))
        }
        return findings
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

    /// The file that was asked about; `file`: of `diagnostics.get`.
    static func file(_ file: JSONValue?) -> Finding? {
        guard let file else { return nil }
        let name = StateView.name(ofURI: file["uri"]?.stringValue ?? "")
        if let error = file["error"]?.stringValue {
            let text = TerminalText.safe(error)
            return Finding(
                "file", .fault, text.contains(name) ? text : "\(name): \(text)", meaning: "it cannot play",
                action: "nowplayingctl formats lists the formats")
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
        return Finding(
            "file", .ok, "\(name) plays: " + parts.joined(separator: ", "),
            meaning: tags.isEmpty ? "it has no tags; clients show its file name" : "tags: " + tags)
    }
}
