import ControlProtocol
import Glibc
import NowPlaying
import NowPlayingClient
import SnapcastControl

/// Checks of the way from the daemon to the ear.
enum SoundChecks {
    /// Sound server and sink. `output`: of `diagnostics.get`; `outputs`: asks the daemon for its outputs.
    static func outputs(
        _ state: StateView, _ output: JSONValue?, isSystems: Bool, outputs: () throws(Failure) -> [JSONValue]
    ) throws(Failure) -> [Finding] {
        switch output?["kind"]?.stringValue {
        case "null":
            return [
                Finding(
                    "server", .warning, "the daemon plays into nothing (output = null)",
                    meaning: "there is no sound",
                    action: "set output = pulse in nowplayingd.conf and restart the daemon")
            ]
        case "file" where ["noServer", "noOutput"].contains(state.json["stall"]?["reason"]?.stringValue):
            return [file(output?["path"]?.stringValue ?? "")]
        case "file":
            return [
                Finding(
                    "server", .warning, "the daemon writes files (output = file)",
                    meaning: "there is no sound",
                    action: "set output = pulse in nowplayingd.conf and restart the daemon")
            ]
        case "pipe":
            return [pipe(state, output?["path"]?.stringValue ?? "")]
        case "snapcast":
            let address = output?["address"]?.stringValue ?? ""
            return [snapcast(state, address)] + rooms(state, address, output)
        default: break
        }
        let list: [JSONValue]
        do throws(Failure) {
            list = try outputs()
        } catch {
            guard error.remote != nil else { throw error }
            return [SoundPrograms(in: "/usr/bin").finding(error.message, isSystems: isSystems)]
        }
        return [Finding("server", .ok, "the sound server answers")]
            + sink(list, state, wanted: output?["sink"]?.stringValue)
    }

    /// A file that cannot be written.
    private static func file(_ path: String) -> Finding {
        Finding(
            "server", .fault, "the daemon cannot write the file \(TerminalText.safe(path))",
            meaning: "nothing is recorded",
            action:
                "check that its folder exists, has room, and lets the user of the daemon write; the log has the reason")
    }

    /// The program that reads the FIFO, as far as the daemon needs one now.
    private static func pipe(_ state: StateView, _ path: String) -> Finding {
        let shown = TerminalText.safe(path)
        guard state.json["stall"]?["reason"]?.stringValue == "noServer" else {
            return Finding("server", .ok, "the daemon sends samples into the FIFO \(shown)")
        }
        var status = stat()
        if stat(path, &status) != 0, errno == ENOENT {
            return Finding(
                "server", .fault, "the daemon cannot make the FIFO \(shown)", meaning: "there is no sound",
                action: "make its folder, and let the user of the daemon write there; the log has the reason")
        }
        return Finding(
            "server", .fault, "no program reads the FIFO \(shown)", meaning: "there is no sound",
            action: "start the program that reads it; see the log if it runs")
    }

    /// The way from the Snapcast server to the rooms.
    private static func rooms(_ state: StateView, _ address: String, _ output: JSONValue?) -> [Finding] {
        guard let place = SnapcastServer.Address(address) else { return [] }
        // Without a port it is the usual one of a source.
        let port = place.port == SnapcastServer.Address.controlPort ? 4953 : place.port
        return RoomsCheck(
            host: place.host, port: String(port), format: output?["format"]?.stringValue,
            buffer: output?["buffer"]?.doubleValue, isPlaying: state.state == .playing
        ).findings()
    }

    /// The Snapcast server, as far as the daemon needs one now.
    private static func snapcast(_ state: StateView, _ address: String) -> Finding {
        let shown = TerminalText.safe(address)
        switch state.json["stall"]?["reason"]?.stringValue {
        case "noServer":
            return Finding(
                "server", .fault, "the daemon sends nothing to the Snapcast server at \(shown)",
                meaning: "there is no sound",
                action:
                    "start the server, with a source tcp://…?mode=server at this address that takes the daemon's format; "
                    + "the findings about rooms and the log of the daemon have the cause")
        case "serverHung":
            return Finding(
                "server", .fault, "the Snapcast server at \(shown) does not read", meaning: "there is no sound",
                action: "check that no other program sends to this source; restart the server")
        default:
            return Finding("server", .ok, "the daemon plays to the Snapcast server at \(shown)")
        }
    }

    private static func sink(_ list: [JSONValue], _ state: StateView, wanted: String?) -> [Finding] {
        var findings: [Finding] = []
        let inUse = state.json["output"]?["name"]?.stringValue
        if let wanted, !list.contains(where: { $0["name"]?.stringValue == wanted }) {
            findings.append(
                Finding(
                    "sink", .fault, "the configured sink \(TerminalText.safe(wanted)) does not exist",
                    meaning: "its device is off or unplugged, or has another name",
                    action: "nowplayingctl outputs; then set sink in nowplayingd.conf, or remove it"))
        }
        let device = list.first { $0["name"]?.stringValue == inUse } ?? list.first { $0["default"]?.boolValue == true }
        guard let device = device ?? list.first, let name = device["name"]?.stringValue else {
            return findings + [
                Finding(
                    "sink", .fault, "the sound server has no output", meaning: "there is no sound",
                    action: "connect or switch on a device; check that the user is in group audio: id")
            ]
        }
        let shown = TerminalText.safe(device["description"]?.stringValue ?? name)
        let word = Finding.word(name)
        if name == "auto_null" {
            findings.append(
                Finding(
                    "sink", .fault, "the sound server has only its dummy output", meaning: "there is no sound",
                    action: "connect or switch on a device; check for other users of it: fuser -v /dev/snd/*"))
        }
        if device["state"]?.stringValue == "suspended", state.state == .playing || state.state == .stalled {
            findings.append(
                Finding(
                    "sink", .fault, "\(shown) is suspended during playback",
                    meaning: "the server, another session or an idle rule has suspended the device",
                    action: "pactl suspend-sink \(word) 0"))
        }
        if device["muted"]?.boolValue == true {
            findings.append(
                Finding(
                    "sink", .fault, "\(shown) is muted", meaning: "all sound on it is silent",
                    action: "pactl set-sink-mute \(word) 0"))
        }
        if device["volume"]?.doubleValue == 0 {
            findings.append(
                Finding(
                    "sink", .fault, "\(shown) is at 0 %", meaning: "all sound on it is silent",
                    action: "pactl set-sink-volume \(word) 50%"))
        }
        return findings.isEmpty ? [Finding("sink", .ok, "playback is on \(shown)")] : findings
    }
}
