import BridgeRuntime
import ControlProtocol
import NowPlayingClient
import Testing

@testable import SnapcastBridge

/// Properties of a stream, as a state makes them.
@Suite struct PropertyTests {
    private static let commands = CommandTable([
        "commands": [
            ["command": "play", "enabled": true], ["command": "pause", "enabled": true],
            ["command": "nextTrack", "enabled": false], ["command": "changePlaybackPosition", "enabled": true],
        ]
    ])

    private static func state(_ name: String, _ item: JSONValue, _ changes: JSONObject = JSONObject()) -> StateView {
        var state = JSONObject([
            .init("state", .string(name)), .init("item", item), .init("volume", 0.5), .init("muted", false),
            .init("repeatMode", "all"), .init("shuffleMode", "off"),
            .init("anchor", ["elapsed": 3, "rate": 1, "defaultRate": 1, "skew": 0, "monotonic": 0]),
        ])
        for member in changes.members { state[member.name] = member.value }
        return StateView(.object(state))
    }

    private static let item: JSONValue = [
        "id": 12, "uri": "/secret/folder/a.flac", "duration": 200, "title": "T", "artists": ["A", "B"],
        "albumTitle": "L", "releaseDate": "2001", "trackNumber": 3,
    ]

    @Test func whole() {
        let properties = StreamProperties.of(
            Self.state("playing", Self.item), Self.commands, picture: "http://box/a.jpg", knowsMute: false)
        #expect(
            JSONWriter.text(.object(properties))
                == #"{"playbackStatus":"playing","loopStatus":"playlist","shuffle":false,"volume":50,"rate":1,"#
                + #""canGoNext":false,"canGoPrevious":false,"canPlay":true,"canPause":true,"canSeek":true,"#
                + #""canControl":true,"metadata":{"trackId":"12","duration":200,"title":"T","artist":["A","B"],"#
                + #""album":"L","trackNumber":3,"contentCreated":"2001","artUrl":"http://box/a.jpg"}}"#)
    }

    @Test("neither files nor addresses of items leave the machine") func noAddresses() {
        var item = Self.item.objectValue ?? JSONObject()
        item["uri"] = "https://user:password@host/stream"
        item["artworkUrl"] = "http://host/private.jpg"
        for value in [Self.item, .object(item)] {
            let properties = StreamProperties.of(
                Self.state("playing", value), Self.commands, picture: nil, knowsMute: false)
            let text = JSONWriter.text(.object(properties))
            for secret in ["secret", "folder", "password", "private"] { #expect(!text.contains(secret), "\(text)") }
        }
    }

    @Test("without rights nothing can be controlled") func noRights() {
        let properties = StreamProperties.of(Self.state("playing", Self.item), nil, picture: nil, knowsMute: false)
        for member in properties.members where member.name.hasPrefix("can") { #expect(member.value == false) }
    }

    @Test("without a daemon or an item there is metadata all the same: the server needs some") func nothing() {
        let gone = StreamProperties.of(nil, nil, picture: nil, knowsMute: false)
        #expect(gone["metadata"] == [:] && gone["playbackStatus"] == "stopped" && gone["canControl"] == false)
        let empty = StreamProperties.of(Self.state("stopped", .null), Self.commands, picture: nil, knowsMute: false)
        #expect(empty["metadata"] == [:] && empty["canPause"] == false && empty["canPlay"] == true)
    }

    @Test func silence() {
        let muted = Self.state("paused", Self.item, JSONObject([.init("muted", true)]))
        #expect(StreamProperties.of(muted, nil, picture: nil, knowsMute: false)["volume"] == 0)
        let later = StreamProperties.of(muted, nil, picture: nil, knowsMute: true)
        #expect(later["volume"] == 50 && later["mute"] == true)
    }

    @Test("texts are bounded, and have no control characters") func texts() {
        let item: JSONValue = [
            "id": 1, "title": .string(String(repeating: "x", count: 5000)), "artist": "a\u{1B}[2Jb\n\u{202E}c",
            "duration": 60, "isLiveStream": true,
        ]
        let metadata = StreamProperties.of(Self.state("playing", item), nil, picture: nil, knowsMute: false)["metadata"]
        #expect(metadata?["title"]?.stringValue?.count == 500)
        let artist = metadata?["artist"]?.arrayValue?.first?.stringValue ?? ""
        #expect(artist.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 0x202E } && !artist.isEmpty)
        #expect(metadata?["duration"] == nil)
    }
}
