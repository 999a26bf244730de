import ControlProtocol
import Glibc
import NowPlaying
import NowPlayingClient

/// The variables that a hook gets: `NOWPLAYING_…`, and those of librespot's `--onevent`.
enum HookEnvironment {
    /// Bytes of UTF-8 in a value, at most.
    static let maximumBytes = 4096

    /// `name=value`, from this process's environment and the occasion.
    static func variables(_ occasion: HookOccasion, at time: MonotonicTime) -> [String] {
        inherited() + (own(occasion, at: time) + librespot(occasion, at: time)).map { "\($0.0)=\($0.1)" }
    }

    /// The environment of this process without the variables meant for it alone.
    private static func inherited() -> [String] {
        var result: [String] = []
        var next = environ
        while let entry = next.pointee {
            next += 1
            let text = String(cString: entry)
            let name = text.prefix { $0 != "=" }
            if withheld.contains(String(name)) { continue }
            if name.hasPrefix("NOWPLAYING_"), name != "NOWPLAYING_SOCKET" { continue }
            result.append(text)
        }
        return result
    }

    private static let withheld: Set<String> = [
        "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_USEC", "WATCHDOG_PID",
        "JOURNAL_STREAM",
        "INVOCATION_ID", "CREDENTIALS_DIRECTORY", "RUNTIME_DIRECTORY", "MANAGERPID", "SYSTEMD_EXEC_PID",
    ]

    private static func own(_ occasion: HookOccasion, at time: MonotonicTime) -> [(String, String)] {
        let state = occasion.state
        let anchor = state.anchor
        func seconds(_ value: Double?) -> String { value.map { ClockText.number($0, places: 9) } ?? "" }
        func field(_ name: String) -> String { clean(scalar(state.item?[name])) }
        var values: [(String, String)] = [
            ("EVENT", occasion.event), ("EVENTS", clean(occasion.events.joined(separator: " "))),
            ("CAUSE", clean(state.cause)), ("REASON", clean(state.reason ?? "")),
            ("ACTIVE", occasion.isActive ? "1" : "0"), ("STATE", clean(state.stateName)),
            ("SEQ", clean(scalar(state.json["seq"]))), ("INSTANCE", clean(state.instance)),
            ("SESSION", clean(scalar(state.json["session"]))), ("BY", clean(state.text("by", "client") ?? "")),
        ]
        let monotonic = anchor?.monotonic.nanoseconds
        values += [
            ("ELAPSED", seconds(anchor?.elapsed)), ("POSITION", seconds(state.position(at: time))),
            ("RATE", seconds(anchor?.rate)), ("DURATION", seconds(state.duration)),
            ("MONOTONIC", seconds(monotonic.map { Double($0) / 1e9 })),
            ("MONOTONIC_NS", monotonic.map(String.init) ?? ""), ("WALL", seconds(anchor?.wall)),
            ("WALL_NS", anchor.map { String(Int64(clamping: max(0, min($0.wall, 9e9)) * 1e9)) } ?? ""),
        ]
        values += [
            ("ITEM_ID", field("id")), ("PLAY", field("play")), ("URI", field("uri")),
            ("TITLE", clean(state.title ?? "")),
            ("ARTIST", field("artist")), ("ALBUM", field("albumTitle")), ("ALBUM_ARTIST", field("albumArtist")),
            ("COMPOSER", field("composer")), ("GENRE", field("genre")), ("TRACK_NUMBER", field("trackNumber")),
            ("DISC_NUMBER", field("discNumber")), ("RELEASE_DATE", field("releaseDate")),
            ("ARTWORK_ID", clean(scalar(state.item?["artwork"]?.arrayValue?.first?["id"]))),
        ]
        values += [
            ("VOLUME", seconds(state.volume)), ("MUTED", state.isMuted ? "1" : "0"),
            ("OUTPUT", clean(state.text("output", "name") ?? "")),
            ("QUEUE_INDEX", state.queueIndex.map(String.init) ?? ""), ("QUEUE_COUNT", String(state.queueCount)),
            ("STALL_REASON", clean(state.stallReason ?? "")), ("ERROR", clean(state.text("error", "message") ?? "")),
        ]
        return values.map { ("NOWPLAYING_" + $0.0, $0.1) }
    }

    /// As librespot's player_event_handler names them. Several artists stand one a line, as there.
    private static func librespot(_ occasion: HookOccasion, at time: MonotonicTime) -> [(String, String)] {
        let state = occasion.state
        func milliseconds(_ value: Double?) -> String {
            value.map { "\(Int64(clamping: max(0, min($0, 9e12)) * 1000))" } ?? ""
        }
        func field(_ name: String) -> String { clean(scalar(state.item?[name])) }
        let artists = state.item?["artists"]?.arrayValue?.compactMap(\.stringValue) ?? []
        let repeatMode = state.text("repeatMode") ?? "off"
        let volume = state.volume.map { String(Int(clamping: (max(0, min($0, 1)) * 65535).rounded())) }
        let values: [(String, String)] = [
            ("PLAYER_EVENT", playerEvent(occasion)), ("TRACK_ID", field("id")), ("URI", field("uri")),
            ("NAME", clean(state.title ?? "")),
            ("ARTISTS", artists.isEmpty ? field("artist") : cut(artists.map(clean).joined(separator: "\n"))),
            ("ALBUM_ARTISTS", field("albumArtist")), ("ALBUM", field("albumTitle")), ("NUMBER", field("trackNumber")),
            ("DISC_NUMBER", field("discNumber")), ("DURATION_MS", milliseconds(state.duration)),
            ("POSITION_MS", milliseconds(state.position(at: time))),
            ("IS_EXPLICIT", state.item?["isExplicit"]?.boolValue == true ? "true" : "false"), ("ITEM_TYPE", "Track"),
            ("VOLUME", volume ?? ""),
            ("SHUFFLE", (state.text("shuffleMode") ?? "off") == "off" ? "false" : "true"),
            ("REPEAT", repeatMode == "all" ? "true" : "false"),
            ("REPEAT_TRACK", repeatMode == "one" ? "true" : "false"),
            ("SINK_STATUS", occasion.isActive ? "running" : "closed"),
        ]
        return values
    }

    /// librespot's word for the event; empty: it has none.
    static func playerEvent(_ occasion: HookOccasion) -> String {
        switch occasion.event {
        case "track": "track_changed"
        case "play", "unstall", "interruption-ended": occasion.state.state == .playing ? "playing" : "paused"
        case "pause", "interruption-began": "paused"
        case "stop": occasion.state.reason == "ended" ? "end_of_track" : "stopped"
        case "seek": "seeked"
        case "drift", "rate", "clock-step": "position_correction"
        case "stall": "loading"
        case "volume": "volume_changed"
        case "mode": modeEvent(occasion.changedMode)
        case "error": "unavailable"
        case "active-began", "active-ended": "sink"
        case "snapshot": "session_connected"
        case "daemon-lost": "session_disconnected"
        default: ""
        }
    }

    /// librespot's word for a change of the mode that a command sets; empty: it has none.
    private static func modeEvent(_ command: RemoteCommand?) -> String {
        if command == .changeRepeatMode { return "repeat_changed" }
        return command == .changeShuffleMode ? "shuffle_changed" : ""
    }

    private static func scalar(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text)?: text
        case .integer(let number)?: "\(number)"
        case .number(let number)?: ClockText.number(number, places: 9)
        case .bool(let flag)?: flag ? "true" : "false"
        default: ""
        }
    }

    /// The text on one line without control characters, cut to the longest value.
    static func clean(_ text: String) -> String { cut(TerminalText.safe(text)) }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > maximumBytes else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: maximumBytes)
        while UTF8.isContinuation(text.utf8[end]) { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }
}
