import BridgeRuntime
import ControlProtocol
import Testing

@testable import MPRISBridge

/// Properties as a state makes them.
@Suite struct PropertyTests {
    private let all = CommandTable([
        "commands": [
            ["command": "play", "enabled": true], ["command": "pause", "enabled": true],
            ["command": "nextTrack", "enabled": true], ["command": "previousTrack", "enabled": false],
            ["command": "changePlaybackPosition", "enabled": true],
            ["command": "changePlaybackRate", "enabled": true, "supportedPlaybackRates": [2, 0.5, 1]],
        ]
    ])

    @Test func metadataInTheTypesOfMPRIS() {
        let item: JSONValue = [
            "id": 4, "uri": "/m/a b.flac", "title": "Aria\n", "artist": "Gould, Bach",
            "artists": ["Gould", "Bach\u{7}"],
            "albumTitle": "Goldberg", "albumArtist": "Gould", "composer": "Bach", "genre": "Baroque",
            "trackNumber": 1, "discNumber": 2, "releaseDate": "1955-06", "duration": 113.5, "rating": 4, "playCount": 7,
            "description": "Take 1", "artworkUrl": "https://a/b.jpg",
        ]
        #expect(
            TrackMetadata.of(item) == [
                "mpris:trackid": .path("/nowplayingd/track/4"), "mpris:length": .int64(113_500_000),
                "mpris:artUrl": .string("https://a/b.jpg"), "xesam:url": .string("file:///m/a%20b.flac"),
                "xesam:title": .string("Aria "), "xesam:artist": .strings(["Gould", "Bach\u{FFFD}"]),
                "xesam:album": .string("Goldberg"), "xesam:albumArtist": .strings(["Gould"]),
                "xesam:composer": .strings(["Bach"]), "xesam:genre": .strings(["Baroque"]),
                "xesam:comment": .strings(["Take 1"]), "xesam:trackNumber": .int32(1), "xesam:discNumber": .int32(2),
                "xesam:useCount": .int32(7), "xesam:userRating": .double(0.8),
                "xesam:contentCreated": .string("1955-06"),
            ])
    }

    @Test func metadataThatIsMissingOrWrong() {
        #expect(TrackMetadata.of(nil) == ["mpris:trackid": .path(TrackPath.none)])
        #expect(TrackMetadata.of(["id": "x"]) == ["mpris:trackid": .path(TrackPath.none)])
        let odd: JSONValue = [
            "id": 1, "uri": "file:///m/So%20What.flac", "artist": "Davis", "duration": 1e300,
            "trackNumber": 99_999_999_999, "releaseDate": "soon", "isLiveStream": false,
        ]
        #expect(
            TrackMetadata.of(odd) == [
                "mpris:trackid": .path("/nowplayingd/track/1"), "xesam:url": .string("file:///m/So%20What.flac"),
                "xesam:title": .string("So What.flac"), "xesam:artist": .strings(["Davis"]),
            ])
        let live: JSONValue = ["id": 1, "duration": 5, "isLiveStream": true]
        #expect(TrackMetadata.of(live)["mpris:length"] == nil)
    }

    @Test(arguments: [
        ("playing", "Playing"), ("paused", "Paused"), ("stopped", "Stopped"), ("interrupted", "Paused"),
        ("stalled", "Paused"), ("dreaming", "Stopped"),
    ])
    func statusIsWhatIsHeard(state: String, status: String) {
        let properties = PlayerProperties.player(Sample.state("play", state), all)
        #expect(properties["PlaybackStatus"] == .string(status))
    }

    @Test func ratesAreNeverZero() {
        let paused = PlayerProperties.player(Sample.state("pause", "paused", rate: 0), all)
        #expect(paused["Rate"] == .double(1))
        #expect(paused["MinimumRate"] == .double(0.5))
        #expect(paused["MaximumRate"] == .double(2))
        let fast = PlayerProperties.player(Sample.state("rate", rate: 2), CommandTable())
        #expect(fast["Rate"] == .double(2))
        #expect(fast["MaximumRate"] == .double(1))
    }

    @Test func whatTheCommandCentreAllows() {
        let properties = PlayerProperties.player(Sample.state(), all)
        #expect(properties["CanGoNext"] == .bool(true))
        #expect(properties["CanGoPrevious"] == .bool(false))
        #expect(properties["CanSeek"] == .bool(true))
        let nothing = PlayerProperties.player(Sample.state(id: nil), all)
        #expect(nothing["CanPlay"] == .bool(true))
        #expect(nothing["CanPause"] == .bool(false))
        #expect(nothing["CanSeek"] == .bool(false))
        #expect(PlayerProperties.player(Sample.state(), CommandTable())["CanPlay"] == .bool(false))
    }

    @Test func modesAndVolume() {
        let changes: JSONValue = ["repeatMode": "all", "shuffleMode": "collections", "muted": true]
        let properties = PlayerProperties.player(Sample.state(changes: changes), all)
        #expect(properties["LoopStatus"] == .string("Playlist"))
        #expect(properties["Shuffle"] == .bool(true))
        #expect(properties["Volume"] == .double(0))
        #expect(PlayerProperties.player(Sample.state(), all)["Volume"] == .double(0.8))
        #expect(["None", "Track", "Playlist"].map(PlayerProperties.repeatMode) == ["off", "one", "all"])
        #expect(PlayerProperties.repeatMode("none") == nil)
    }

    @Test func onlyWhatChangedIsTold() {
        let before = PlayerProperties.player(Sample.state(), all)
        let after = PlayerProperties.player(Sample.state("pause", "paused", elapsed: 5, rate: 0, at: 5), all)
        #expect(after.changes(since: before) == ["PlaybackStatus": .string("Paused")])
        #expect(PlayerProperties.player(Sample.state("drift", elapsed: 9, at: 9), all).changes(since: before).isEmpty)
    }

    @Test func theDocumentDescribesWhatIsThere() {
        for (name, value) in PlayerProperties.player(Sample.state(), all).entries.map({ ($0.name, $0.value) }) {
            #expect(Introspection.document.contains("<property name=\"\(name)\" type=\"\(value.signature)\""))
        }
        for entry in PlayerProperties.root(schemes: [], types: []).entries {
            #expect(
                Introspection.document.contains("<property name=\"\(entry.name)\" type=\"\(entry.value.signature)\""))
        }
    }
}
