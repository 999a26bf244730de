import ControlProtocol
import NowPlaying
import Sessions
import Testing

@Suite struct StateEncoderTests {
    private static let anchor = PlaybackAnchor(
        elapsed: 83.204512, rate: 1, skew: 0.000041, monotonic: MonotonicTime(nanoseconds: 8_123_456_789_012),
        wall: 1_795_168_800.123457)

    @Test func everyKeyIsThereWhenNothingPlays() throws {
        var state = NowPlayingState(
            anchor: PlaybackAnchor(elapsed: 0, rate: 0, monotonic: MonotonicTime(nanoseconds: 5)))
        state.sequence = 1
        state.instance = "f3a9"
        let text = String(decoding: StateEncoder(bootID: "boot").encode(state), as: UTF8.self)
        #expect(
            text == """
                {"session":"main","seq":1,"instance":"f3a9","cause":"snapshot","reason":null,"by":null,\
                "state":"stopped","stall":null,"pending":null,"interruption":null,"route":null,\
                "activeChanged":null,"ad":null,\
                "anchor":{"elapsed":0,"rate":0,\
                "defaultRate":1,"skew":0,"monotonic":0.000000005,"wall":0,"wallSynced":true,"bootId":"boot"},\
                "item":null,"upcoming":null,"queue":{"index":null,"count":0,"version":0,"revision":0},"commandsVersion":0,\
                "repeatMode":"off","shuffleMode":"off","consumeMode":"off","singleMode":"off","volume":1,"muted":false,\
                "loudness":{"mode":"off","preamp":0},\
                "crossfade":{"seconds":0},"fadeIn":0,"fadeOut":0,"sleep":null,"output":null,"error":null}
                """)
    }

    @Test func everyKeyIsAField() throws {
        let bytes = StateEncoder(bootID: "boot").encode(NowPlayingState(anchor: Self.anchor))
        let keys = try JSONReader.read(bytes).objectValue?.members.map(\.name)
        #expect(keys == StateField.allCases.map(\.rawValue))
    }

    @Test func routesAndInterruptionsAreTold() throws {
        var state = NowPlayingState(anchor: Self.anchor)
        state.cause = .route
        state.route = Route(from: "usb", to: nil, reason: .deviceGone)
        state.state = .interrupted
        state.interruption = Interruption(by: "Shairport Sync", shouldResume: true)
        let value = try JSONReader.read(StateEncoder(bootID: "boot").encode(state))
        #expect(value["reason"] == "deviceGone")
        #expect(value["route"] == ["from": "usb", "to": .null, "reason": "deviceGone"])
        #expect(value["state"] == "interrupted")
        #expect(value["interruption"] == ["by": "Shairport Sync", "shouldResume": true])
    }

    @Test func whatIsKnownIsTold() throws {
        var state = NowPlayingState(anchor: Self.anchor)
        state.cause = .adBegan
        state.reason = .jump
        state.by = Originator(client: "nowplayingctl", pid: 812, uid: 1000)
        state.state = .stalled
        state.stall = .noServer
        var metadata = MediaMetadata()
        metadata.title = "a\u{1b}[31m\"b\""
        metadata.artists = ["x", "y"]
        metadata.isExplicit = false
        metadata.mediaType = .podcast
        metadata.chapters = [Chapter(start: 0), Chapter(start: 12.5, title: "c")]
        metadata.adTimeRanges = [AdTimeRange](repeating: AdTimeRange(start: 1, duration: 2), count: 51)
        state.item = NowPlayingItem(
            id: ItemID(4), play: 1, uri: "file:///a", metadata: metadata, duration: 213.4,
            format: MediaFormat(codec: "FLAC", sampleRate: 44100, channels: 2, bitsPerSample: 16))
        state.upcoming = UpcomingItem(
            itemID: ItemID(5), title: nil, artist: "z",
            instant: .init(monotonic: MonotonicTime(nanoseconds: 8_253_456_789_000), wall: 2))
        state.queueIndex = 3
        state.output = OutputStatus(name: "n", description: "d", state: "running", latency: 0.031, uncertainty: 0.0004)
        state.error = PlaybackError(itemID: ItemID(9), uri: "u", status: "noSuchContent", message: "m", count: 2)
        let bytes = StateEncoder(bootID: "boot").encode(state)
        let value = try JSONReader.read(bytes)
        #expect(value["cause"] == "ad-began")
        #expect(value["reason"] == "jump")
        #expect(value["by"] == ["client": "nowplayingctl", "pid": 812, "uid": 1000, "via": "socket"])
        #expect(value["stall"] == ["reason": "noServer"])
        #expect(
            value["item"] == [
                "id": 4, "play": 1, "uri": "file:///a", "title": "a\u{1b}[31m\"b\"", "artists": ["x", "y"],
                "isExplicit": false, "mediaType": "podcast",
                "chapters": [["start": 0], ["start": 12.5, "title": "c"]],
                "adTimeRanges": ["count": 51], "duration": 213.4,
                "format": ["codec": "FLAC", "sampleRate": 44100, "channels": 2, "bitsPerSample": 16],
            ])
        #expect(value["upcoming"] == ["itemId": 5, "artist": "z", "monotonic": 8253.456789, "wall": 2])
        #expect(
            value["output"] == [
                "name": "n", "description": "d", "state": "running", "latency": 0.031, "delay": 0,
                "uncertainty": 0.0004,
            ])
        #expect(value["error"]?["count"] == 2)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains(#""monotonic":8123.456789012,"wall":1795168800.123457,"#))
        #expect(!text.contains("\u{1b}"))
    }
}
