import BridgeRuntime
import ControlProtocol
import NowPlaying
import NowPlayingClient

/// Properties of a stream in the form of a Snapcast server. Each message has all properties: the server drops missing
/// ones. Files and addresses of items are left out, as all machines of the LAN see the properties.
enum StreamProperties {
    /// The properties except `position`. `commands`: nil if the server's clients may not control. `picture`: an address for
    /// phones.
    static func of(_ state: StateView?, _ commands: CommandTable?, picture: String?, knowsMute: Bool) -> JSONObject {
        let item = state?.item
        func allows(_ name: String, _ holds: Bool = true) -> JSONValue {
            .bool(state != nil && holds && commands?.allows(name) == true)
        }
        let isMuted = state?.isMuted ?? false
        let volume = isMuted && !knowsMute ? 0 : max(0, min(1, state?.volume ?? 1))
        var result = JSONObject([
            .init("playbackStatus", .string(status(state))),
            .init("loopStatus", .string(loops[state?.text("repeatMode") ?? ""] ?? "none")),
            .init("shuffle", .bool((state?.text("shuffleMode") ?? "off") != "off")),
            .init("volume", .integer(Int64(clamping: (volume * 100).rounded()))),
            .init("rate", .number(state?.playingRate ?? 1)),
            .init("canGoNext", allows("nextTrack")), .init("canGoPrevious", allows("previousTrack")),
            .init("canPlay", allows("play")), .init("canPause", allows("pause", item != nil)),
            .init("canSeek", allows("changePlaybackPosition", item != nil)),
            .init("canControl", .bool(state != nil && commands != nil)),
            .init("metadata", .object(metadata(item, title: state?.title, picture: picture))),
        ])
        if knowsMute { result["mute"] = .bool(isMuted) }
        return result
    }

    /// The server's playback status. A stall counts as a pause, as the position stands still.
    private static func status(_ state: StateView?) -> String {
        switch state?.state {
        case .playing: "playing"
        case .paused, .interrupted, .stalled: "paused"
        case .stopped, nil: "stopped"
        }
    }

    /// The protocol's word for a `loopStatus`; nil: the status is invalid.
    static func repeatMode(_ status: String) -> String? { loops.first { $0.value == status }?.key }

    private static let loops = ["off": "none", "one": "track", "all": "playlist"]

    // MARK: Metadata

    /// Maximum characters of a text. A server logs and compares each message as a whole.
    private static let maximumText = 500

    private static func metadata(_ item: JSONValue?, title: String?, picture: String?) -> JSONObject {
        var result = JSONObject()
        guard let item, let id = item["id"]?.integerValue else { return result }
        result["trackId"] = .string(String(id))
        if item["isLiveStream"]?.boolValue != true { result["duration"] = item["duration"] }
        result["title"] = title.flatMap(text).map(JSONValue.string)
        let listed = item["artists"]?.arrayValue?.prefix(16).compactMap { $0.stringValue.flatMap(text) } ?? []
        result["artist"] = list(listed.isEmpty ? [item["artist"]?.stringValue.flatMap(text)] : listed)
        result["album"] = item["albumTitle"]?.stringValue.flatMap(text).map(JSONValue.string)
        result["albumArtist"] = list([item["albumArtist"]?.stringValue.flatMap(text)])
        result["composer"] = list([item["composer"]?.stringValue.flatMap(text)])
        result["genre"] = list([item["genre"]?.stringValue.flatMap(text)])
        for name in ["trackNumber", "discNumber"] {
            if let number = item[name]?.integerValue, let small = Int32(exactly: number) {
                result[name] = .integer(Int64(small))
            }
        }
        result["contentCreated"] = item["releaseDate"]?.stringValue.flatMap(text).map(JSONValue.string)
        result["artUrl"] = picture.map(JSONValue.string)
        return result
    }

    private static func list(_ texts: [String?]) -> JSONValue? {
        let texts = texts.compactMap { $0 }
        return texts.isEmpty ? nil : .array(texts.map(JSONValue.string))
    }

    /// One line without control characters; nil when nothing is left.
    private static func text(_ text: String) -> String? {
        let safe = String(TerminalText.safe(text).prefix(maximumText))
        return safe.isEmpty ? nil : safe
    }
}
