import ControlProtocol
import NowPlaying
import NowPlayingClient
import Testing

@Suite struct StateViewTests {
    private func view(_ text: String) throws -> StateView { StateView(try JSONReader.read(text)) }

    private let playing = """
        {"cause": "track", "state": "playing", "instance": "x", "item": {"id": 4, "play": 2, "uri": "file:///m/So%20What.flac",
         "artist": "Miles\\u001b[2J", "albumTitle": "Kind of Blue", "duration": 10, "format": {"codec": "FLAC"}},
         "anchor": {"elapsed": 2.5, "rate": 1, "skew": 0.25, "monotonic": 100, "wall": 5},
         "queue": {"index": 3, "count": 12}, "volume": 0.8, "muted": false, "repeatMode": "one", "stall": null,
         "output": {"description": "Speaker\\nbox", "latency": 0.03}, "later": {"thing": true}}
        """

    private func instant(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    @Test func positionFollowsTheFormulaOfTheProtocol() throws {
        let state = try view(playing)
        for (time, position) in [(90, 2.5), (100, 2.5), (102, 5), (104, 7.5), (200, 10)] as [(Double, Double)] {
            #expect(state.position(at: instant(time)) == position)
        }
    }

    @Test func theNextSecondIsNeitherEarlyNorAfterTheEnd() throws {
        let state = try view(playing)
        // Before the anchor's instant nothing moves; half a second of content then lasts 0.4 s.
        let first = try #require(state.nextSecond(after: instant(90)))
        #expect(abs(first.seconds(since: instant(100.4))) < 0.00001)
        #expect(try #require(state.position(at: first)) >= 3)
        #expect(state.nextSecond(after: instant(106)) == nil)
        let paused = try view(playing.replacing("\"rate\": 1", with: "\"rate\": 0"))
        #expect(paused.nextSecond(after: instant(101)) == nil)
    }

    /// A change that is heard later, of item 4.
    private func pending(_ state: String, item: Int = 4) throws -> StateView {
        let change = """
            {"pending": {"state": "\(state)", "itemId": \(item), "position": 7.5, "monotonic": 103, "wall": 8}, "cause": "pending",
            """
        return try view(playing.replacing("{\"cause\": \"track\",", with: change))
    }

    @Test func aRequestIsShownBeforeItIsHeard() throws {
        let paused = try pending("paused")
        #expect(paused.state == .playing && paused.position(at: instant(102)) == 5)
        #expect(paused.asRequested.state == .paused && paused.asRequested.stateName == "paused")
        for time in [102.0, 103, 110] { #expect(paused.asRequested.position(at: instant(time)) == 7.5) }
        let seek = try pending("playing").asRequested
        #expect(seek.state == .playing && seek.position(at: instant(102)) == 7.5)
        #expect(seek.position(at: instant(104)) == 8.75)
        let track = try pending("playing", item: 5).asRequested
        #expect(track.itemID == 4 && track.position(at: instant(102)) == 5)
        #expect(try view(playing).asRequested.json == view(playing).json)
    }

    @Test(arguments: [
        "null", "1", "{}", "{\"state\": \"paused\"}", "{\"state\": 5, \"position\": 1}",
        "{\"state\": \"paused\", \"position\": \"x\"}",
    ])
    func aRequestThatCannotBeReadIsNone(text: String) throws {
        let state = try view(playing.replacing("{\"cause\"", with: "{\"pending\": \(text), \"cause\""))
        #expect(state.asRequested.json == state.json)
    }

    @Test func textsAreSafeAndTheNameStandsInForTheTitle() throws {
        let state = try view(playing)
        #expect(state.title == "So What.flac")
        #expect(state.text("item", "artist") == "Miles\u{FFFD}[2J")
        #expect(state.text("output", "description") == "Speaker box")
        #expect(state.text("item", "missing", "deeper") == nil)
        #expect(state.stallReason == nil)
    }

    @Test(arguments: [
        ("status", "Playing"), ("state", "playing"), ("position", "5000000"), ("mpris:length", "10000000"),
        ("elapsed", "5"), ("remaining", "5"), ("duration", "10"), ("title", "So What.flac"),
        ("xesam:album", "Kind of Blue"), ("album", "Kind of Blue"), ("mpris:trackid", "4"), ("loop", "Track"),
        ("shuffle", "false"), ("volume", "0.8"), ("playerName", "nowplayingd"), ("output.description", "Speaker box"),
        ("output.latency", "0.03"), ("format.codec", "FLAC"), ("later.thing", "true"), ("queue.index", "3"),
        ("cause", "track"), ("nothing.here", ""), ("", ""), (".", ""), ("item", ""),
    ])
    func variablesAreFound(name: String, text: String) throws {
        #expect(try view(playing).variable(name, at: instant(102)).printed == text)
    }

    @Test(arguments: [
        "{}", "null", "[]", "{\"state\": 5, \"anchor\": {\"elapsed\": \"x\"}, \"item\": null}",
        "{\"state\": \"dancing\", \"item\": {}, \"anchor\": {\"elapsed\": 1, \"rate\": 1, \"monotonic\": 1e300}}",
    ])
    func unknownAndMissingThingsAreNoFault(text: String) throws {
        let state = try view(text)
        #expect(state.state == nil)
        #expect(state.position(at: instant(1)) == nil)
        #expect(state.nextSecond(after: instant(1)) == nil)
        #expect(state.variable("status", at: instant(1)).printed == "Stopped")
    }

    @Test(arguments: [
        ("file:///m/So%20What.flac", "So What.flac"), ("/m/50%25.flac", "50%25.flac"), ("http://x.org/", "x.org"),
        ("http://x.org/a/b.mp3?k=v#f", "b.mp3"), ("file:///a%0Ab", "a b"), ("file:///%E9", "\u{FFFD}"), ("", ""),
        ("/", "/"),
    ])
    func namesOfURIs(uri: String, name: String) { #expect(StateView.name(ofURI: uri) == name) }
}
