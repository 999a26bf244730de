import NowPlaying
import Testing

@testable import PlaybackEngine

@Suite struct ItemDetailsTests {
    private var found: MediaMetadata {
        var metadata = MediaMetadata()
        metadata.title = "Air"
        metadata.artist = "Bach"
        metadata.albumTitle = "Suites"
        metadata.composer = "J. S. Bach"
        metadata.trackNumber = 3
        return metadata
    }

    @Test func aClientsWordWins() {
        var given = MediaMetadata()
        given.title = "Aria"
        let details = ItemDetails(given: given, found: found, duration: 12)
        #expect(details.metadata.title == "Aria")
        #expect(details.metadata.composer == "J. S. Bach")
        #expect(details.given == given)
        #expect(details.found == found)
    }

    @Test func reducedKeepsWhatListsShow() throws {
        var given = MediaMetadata()
        given.genre = "Baroque"
        let format = MediaFormat(codec: "FLAC", sampleRate: 44100, channels: 2, bitsPerSample: 16)
        let whole = ItemDetails(given: given, found: found, duration: 12, format: format)
        #expect(whole.format == format)
        let reduced = try #require(whole.reduced())
        #expect(reduced.duration == 12)
        #expect(reduced.given == given)
        #expect(reduced.metadata.title == "Air")
        #expect(reduced.metadata.artist == "Bach")
        #expect(reduced.metadata.albumTitle == "Suites")
        #expect(reduced.metadata.genre == "Baroque")
        #expect(reduced.metadata.composer == nil)
        #expect(reduced.format == nil)
        #expect(reduced.reduced() == nil)
    }

    @Test func nothingKnownIsNothing() {
        let details = ItemDetails()
        #expect(details.metadata == MediaMetadata())
        #expect(details.format == nil && details.duration == nil)
        #expect(details.reduced() == nil)
    }
}
