import ControlProtocol
import NowPlaying
import NowPlayingClient
import Testing

@testable import nowplaying_hooks

/// Environment of hooks, with our names and librespot's.
@Suite struct HookEnvironmentTests {
    private func state(_ name: String, _ more: JSONValue = [:], item: JSONValue = [:]) -> StateView {
        var object = JSONObject([
            .init("state", .string(name)), .init("cause", "play"), .init("volume", 0.5), .init("repeatMode", "one"),
            .init("shuffleMode", "items"), .init("item", item),
            .init("anchor", ["elapsed": 1.5, "rate": 0, "defaultRate": 1, "skew": 0, "monotonic": 1, "wall": 2]),
        ])
        for member in more.objectValue?.members ?? [] { object[member.name] = member.value }
        return StateView(.object(object))
    }

    private func variables(_ occasion: HookOccasion) -> [String: String] {
        var result: [String: String] = [:]
        for line in HookEnvironment.variables(occasion, at: MonotonicTime(nanoseconds: 2_000_000_000)) {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            #expect(result.updateValue(parts[1], forKey: parts[0]) == nil, "\(parts[0]) is there twice")
        }
        return result
    }

    /// librespot: `player_event_handler.rs`.
    @Test(arguments: [
        ("track", "playing", "", "track_changed"), ("play", "playing", "", "playing"),
        ("play", "stalled", "", "paused"),
        ("pause", "paused", "", "paused"), ("stop", "stopped", "ended", "end_of_track"),
        ("stop", "stopped", "command", "stopped"), ("seek", "playing", "", "seeked"),
        ("drift", "playing", "", "position_correction"), ("clock-step", "paused", "", "position_correction"),
        ("rate", "playing", "", "position_correction"), ("stall", "stalled", "", "loading"),
        ("unstall", "playing", "", "playing"), ("volume", "paused", "", "volume_changed"),
        ("mode", "paused", "", "shuffle_changed"), ("repeat", "paused", "", "repeat_changed"),
        ("error", "stopped", "", "unavailable"), ("active-began", "playing", "", "sink"),
        ("active-ended", "paused", "", "sink"), ("snapshot", "stopped", "", "session_connected"),
        ("daemon-lost", "playing", "", "session_disconnected"), ("interruption-began", "interrupted", "", "paused"),
        ("interruption-ended", "playing", "", "playing"), ("queue", "playing", "", ""), ("outputs", "paused", "", ""),
    ])
    func librespotsEvents(event: String, state name: String, reason: String, word: String) {
        let state = state(name, ["reason": .string(reason)])
        let changed = event == "repeat"
        let occasion = HookOccasion(
            changed ? "mode" : event, state, isActive: false,
            changedMode: changed ? .changeRepeatMode : event == "mode" ? .changeShuffleMode : nil)
        #expect(HookEnvironment.playerEvent(occasion) == word)
    }

    @Test func librespotsVariables() {
        let item: JSONValue = [
            "id": 4, "uri": "file:///a.flac", "title": "Aria", "artists": ["A", "B\n"], "albumTitle": "L",
            "duration": 200.25, "trackNumber": 3, "isExplicit": true,
        ]
        let values = variables(HookOccasion("play", state("paused", item: item), isActive: true))
        let wanted = [
            "PLAYER_EVENT": "paused", "TRACK_ID": "4", "URI": "file:///a.flac", "NAME": "Aria", "ARTISTS": "A\nB ",
            "ALBUM": "L", "NUMBER": "3", "DURATION_MS": "200250", "POSITION_MS": "1500", "IS_EXPLICIT": "true",
            "VOLUME": "32768", "SHUFFLE": "true", "REPEAT": "false", "REPEAT_TRACK": "true", "SINK_STATUS": "running",
        ]
        for (name, value) in wanted { #expect(values[name] == value, "\(name)") }
    }

    @Test func valuesAreCutAndClean() {
        let item: JSONValue = [
            "id": 4, "uri": "/a", "title": .string("\u{1B}[2J\u{7}\n=" + String(repeating: "é", count: 4000)),
            "artist": "a\u{0}b",
        ]
        let values = variables(HookOccasion("play", state("playing", item: item), isActive: true))
        for (name, value) in values where name.hasPrefix("NOWPLAYING_") || name == "NAME" {
            #expect(value.utf8.count <= HookEnvironment.maximumBytes, "\(name)")
            #expect(!value.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }, "\(name)")
        }
        // Cut between letters, not inside of one.
        #expect(values["NOWPLAYING_TITLE"]?.hasSuffix("é") == true && values["NOWPLAYING_TITLE"]!.utf8.count >= 4095)
        #expect(values["NOWPLAYING_ARTIST"] == "a\u{FFFD}b")
    }
}
