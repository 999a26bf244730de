import NowPlaying
import Testing

@Suite struct PlaybackAnchorTests {
    private func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    @Test(
        arguments: [
            // elapsed, rate, skew, seconds later, duration, expected
            (10, 1, 0, 5, 100, 15),
            (10, 0, 0, 5, 100, 10),
            (10, 2, 0, 5, 100, 20),
            (10, 1, 0.001, 100, 1000, 110.1),
            (98, 1, 0, 5, 100, 100),
            (10, 1, 0, -5, 100, 10),
            (0, 1, -0.0001, 3600, 4000, 3599.64),
        ] as [(Double, Double, Double, Double, Double, Double)])
    func theFormulaOfTheProtocol(
        elapsed: Double, rate: Double, skew: Double, later: Double, duration: Double, expected: Double
    ) {
        let anchor = PlaybackAnchor(elapsed: elapsed, rate: rate, skew: skew, monotonic: at(50))
        #expect(abs(anchor.position(at: at(50 + later), duration: duration) - expected) < 1e-9)
    }

    @Test func withoutDurationItIsNotBounded() {
        let anchor = PlaybackAnchor(elapsed: 1, rate: 1, monotonic: at(0))
        #expect(anchor.position(at: at(1e6), duration: nil) == 1_000_001)
    }
}

@Suite struct MediaMetadataTests {
    @Test func whatAClientSaidWins() {
        var given = MediaMetadata()
        given.title = "mine"
        given.artist = "me"
        var found = MediaMetadata()
        found.title = "file's"
        found.albumTitle = "album"
        found.artists = ["a", "b"]
        let shown = given.filled(from: found)
        #expect(shown.title == "mine")
        #expect(shown.albumTitle == "album")
        #expect(shown.artists.isEmpty, "the file's artists do not contradict the client's")
    }
}
