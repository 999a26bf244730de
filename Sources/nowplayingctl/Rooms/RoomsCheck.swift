import ControlProtocol
import NowPlaying
import NowPlayingClient
import SnapcastControl

/// Checks of the path from the daemon through a Snapcast server to the rooms, step by step.
struct RoomsCheck {
    /// Host of the server.
    let host: String
    /// Port of its control protocol.
    var controlPort = SnapcastServer.Address.controlPort
    /// Port of the daemon's source; nil: any.
    let port: String?
    /// Format in which the daemon sends, such as 48000:16:2; nil: not known.
    let format: String?
    /// Seconds of `snapcast-buffer`; nil: the daemon asks the server.
    let buffer: Double?
    /// True if the daemon plays to the server now.
    let isPlaying: Bool
    /// Severity of a port of the server that does not answer.
    var silence = Finding.Level.warning

    /// Seconds for an answer.
    private static let patience = 2.0
    /// Seconds by which two buffers may differ.
    private static let bufferError = 0.0015
    private static let maximumRooms = 16

    /// All findings, with the name `rooms`.
    func findings() -> [Finding] {
        let place = host.contains(":") ? "[\(host)]" : host
        guard let address = SnapcastServer.Address("\(place):\(controlPort)") else { return [] }
        let status: JSONValue
        let server: SnapcastServer
        do throws(Failure) {
            server = try SnapcastServer(address, seconds: Self.patience)
            status = try server.call("Server.GetStatus")
        } catch {
            let lines = error.message.split(separator: "\n").map(String.init)
            return [
                Finding(
                    "rooms", silence, lines.first ?? "",
                    meaning: "rooms cannot be listed, and apps of Snapcast show none", action: lines.last)
            ]
        }
        let probe = probe(server)
        let stream = stream(status)
        let rooms = (Room.all(status) ?? []).filter { $0.id != probe?.id }
        return [
            version(status), source(stream), stamp(probe), plugin(stream), list(rooms), others(rooms, stream),
        ].compactMap { $0 }
    }

    private func probe(_ server: SnapcastServer) -> SnapcastProbe? {
        guard let probe = try? SnapcastProbe(host, seconds: Self.patience) else { return nil }
        // If the deletion fails, an unused entry stays in the server's list.
        _ = try? server.call("Server.DeleteClient", ["id": .string(probe.id)])
        return probe
    }

    /// The source to which the daemon sends.
    private func stream(_ status: JSONValue) -> JSONValue? {
        let streams = status["server"]?["streams"]?.arrayValue ?? []
        return streams.first { stream in
            guard stream["uri"]?["scheme"] == "tcp" else { return false }
            let host = stream["uri"]?["host"]?.stringValue ?? ""
            return port.map { host.hasSuffix(":" + $0) || !host.contains(":") } ?? true
        }
    }

    private func version(_ status: JSONValue) -> Finding {
        let version = status["server"]?["server"]?["snapserver"]?["version"]?.stringValue ?? "of an unknown version"
        return Finding(
            "rooms", .ok, "the Snapcast server at \(TerminalText.safe(host)) answers: \(TerminalText.safe(version))")
    }

    private func source(_ stream: JSONValue?) -> Finding {
        guard let stream else {
            return Finding(
                "rooms", .fault, "the server has no source tcp://…?mode=server for the daemon",
                meaning: "the daemon cannot reach the rooms", action: "nowplayingctl setup rooms")
        }
        let name = TerminalText.safe(stream["id"]?.stringValue ?? "")
        let theirs = stream["uri"]?["query"]?["sampleformat"]?.stringValue ?? "48000:16:2"
        guard format == nil || format == theirs else {
            return Finding(
                "rooms", .fault,
                "the daemon sends \(format ?? ""), and the source “\(name)” takes \(TerminalText.safe(theirs))",
                meaning: "the daemon sends nothing, and playback stalls",
                action: "output = snapcast:\(TerminalText.safe(host)),\(TerminalText.safe(theirs)) in nowplayingd.conf")
        }
        let codec = stream["uri"]?["query"]?["codec"]?.stringValue ?? "flac"
        guard codec == "pcm" else {
            return Finding(
                "rooms", .note,
                "the source “\(name)” takes \(TerminalText.safe(theirs)), with the codec \(TerminalText.safe(codec))",
                meaning: "rooms may play up to 24 ms off the clock", action: "codec=pcm in /etc/snapserver.conf")
        }
        return Finding("rooms", .ok, "the source “\(name)” takes \(TerminalText.safe(theirs)), bit for bit")
    }

    private func stamp(_ probe: SnapcastProbe?) -> Finding {
        guard let probe, let found = probe.buffer else {
            return Finding(
                "rooms", silence, "the server's port 1704 does not answer", meaning: "no room gets the music",
                action: "restart the server, or allow its port 1704 in the firewall")
        }
        let milliseconds = Int(clamping: (found * 1000).rounded())
        if let buffer, abs(buffer - found) > Self.bufferError {
            return Finding(
                "rooms", .warning,
                "snapcast-buffer is \(Int(clamping: (buffer * 1000).rounded())) ms, and the server's buffer \(milliseconds) ms",
                meaning: "the position is wrong by the difference",
                action: "remove snapcast-buffer from nowplayingd.conf, or set it to \(milliseconds)")
        }
        guard let ahead = probe.ahead else {
            return isPlaying
                ? Finding(
                    "rooms", .warning, "the daemon plays, but the server sends no music to rooms",
                    meaning: "the group of a new room has another stream", action: "nowplayingctl rooms")
                : Finding(
                    "rooms", .ok, "rooms play \(milliseconds) ms after the server",
                    action: "play, for a look at the music itself")
        }
        let left = Int(clamping: (ahead * 1000).rounded())
        guard ahead > 0 else {
            return Finding(
                "rooms", .warning, "music reaches a room \(-left) ms too late", meaning: "the rooms stutter",
                action: "a larger buffer in /etc/snapserver.conf, or a less busy machine")
        }
        return Finding(
            "rooms", .ok, "music reaches a room \(left) ms before it plays, of a buffer of \(milliseconds) ms")
    }

    private func plugin(_ stream: JSONValue?) -> Finding? {
        guard let stream else { return nil }
        let script = stream["uri"]?["query"]?["controlscript"]?.stringValue ?? ""
        guard script.contains("nowplaying-snapcast") else {
            return Finding(
                "rooms", .note, "apps of Snapcast see no title and no picture",
                action: "nowplayingctl setup rooms shows the line for nowplaying-snapcast")
        }
        // The server has properties after the first answer of the script.
        guard stream["properties"]?["playbackStatus"] != nil else {
            return Finding(
                "rooms", .warning, "nowplaying-snapcast does not answer the server",
                meaning: "apps of Snapcast see no title",
                action: "check the log: journalctl -u snapserver; then systemctl restart snapserver")
        }
        let mayControl = stream["properties"]?["canControl"] == true
        return Finding(
            "rooms", .ok,
            "nowplaying-snapcast answers; "
                + (mayControl ? "everybody in the LAN can pause" : "apps of Snapcast can only look"))
    }

    /// The rooms that play something else: a new room plays the first source of the server.
    private func others(_ rooms: [Room], _ stream: JSONValue?) -> Finding? {
        guard let id = stream?["id"]?.stringValue else { return nil }
        let connected = rooms.filter(\.isConnected)
        let others = connected.filter { $0.group.stream != id }
        guard let first = others.first else { return nil }
        let words = others.prefix(Self.maximumRooms).map {
            "\(TerminalText.safe($0.name)) (“\(TerminalText.safe($0.group.stream))”)"
        }
        let more = others.count > Self.maximumRooms ? ", …" : ""
        return Finding(
            "rooms", others.count == connected.count ? .warning : .note,
            "not on the daemon's stream “\(TerminalText.safe(id))”: \(words.joined(separator: ", "))\(more)",
            meaning: "these rooms do not hear the daemon",
            action:
                "nowplayingctl rooms \(Finding.word(first.name)) --stream \(Finding.word(id)); new rooms play the first "
                + "source of /etc/snapserver.conf")
    }

    private func list(_ rooms: [Room]) -> Finding {
        guard rooms.contains(where: \.isConnected) else {
            return Finding(
                "rooms", .warning, "no room is connected", meaning: "nobody hears the music",
                action: "in each room: snapclient --host and the name of the server")
        }
        let words = rooms.prefix(Self.maximumRooms).map { room in
            var parts: [String] = []
            if room.latency != 0 { parts.append("latency \(room.latency) ms") }
            if room.isMuted || room.group.isMuted { parts.append("muted") }
            if !room.isConnected { parts.append("not connected") }
            let name = TerminalText.safe(room.name)
            return parts.isEmpty ? name : "\(name) (\(parts.joined(separator: ", ")))"
        }
        let more = rooms.count > Self.maximumRooms ? ", …" : ""
        return Finding(
            "rooms", .ok,
            "\(rooms.count == 1 ? "1 room" : "\(rooms.count) rooms"): \(words.joined(separator: ", "))\(more)")
    }
}
