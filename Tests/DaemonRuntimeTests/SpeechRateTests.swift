import AudioCore
import LinuxSystem
import NowPlaying
import Testing

@testable import DaemonConfiguration

/// Recognition of spoken items.
@Suite struct SpeechRateTests {
    private func rate(_ genre: String?, _ path: String = "/m/a.mp3", _ change: (inout SpeechRate) -> Void = { _ in })
        throws
        -> Double
    {
        var rules = SpeechRate()
        rules.rate = 1.5
        change(&rules)
        var metadata = MediaMetadata()
        metadata.genre = genre
        return rules.rate(.file(try #require(FilePath(Array(path.utf8)))), metadata)
    }

    @Test(
        "the genre is one of the words, alone or with more behind it",
        arguments: [
            (nil, 1), ("", 1), ("Rock", 1), ("Podcast", 1.5), ("PODCASTS", 1.5), ("podcast", 1.5), ("Podcasting", 1),
            ("Audiobook", 1.5), ("Audio Book", 1.5), ("audiobooks", 1.5), ("Spoken Word", 1.5), ("Spoken", 1),
            ("Speech", 1.5), ("Speeches", 1), ("Rock; Podcast", 1.5), ("Rock/Speech", 1.5), ("Jazz,Blues", 1),
            ("Podcast Comedy", 1.5), ("Comedy Podcast", 1), (" Podcast", 1.5), (";;", 1), ("Hörbuch", 1),
        ] as [(String?, Double)])
    func genres(genre: String?, expected: Double) throws { #expect(try rate(genre) == expected) }

    @Test("other words are those of the owner, and the usual ones no more") func ownGenres() throws {
        #expect(try rate("Hörbuch") { $0.genres = ["hörbuch"] } == 1.5)
        #expect(try rate("Podcast") { $0.genres = ["hörbuch"] } == 1)
        #expect(try rate("Podcast") { $0.genres = [] } == 1)
    }

    @Test(
        "a folder, with all that is below it and nothing beside it",
        arguments: [
            ("/talk/a.mp3", 1.5), ("/talk/x/y/a.mp3", 1.5), ("/talks/a.mp3", 1), ("/m/talk/a.mp3", 1), ("/talk", 1),
            ("/Talk/a.mp3", 1), ("/with space/a.mp3", 1.5), ("/with/a.mp3", 1), ("/ends/a.mp3", 1.5), ("/endsa.mp3", 1),
        ])
    func folders(path: String, expected: Double) throws {
        #expect(try rate(nil, path) { $0.folders = ["/talk", "/with space", "/ends/"] } == expected)
    }

    @Test("a rate of 1 is nothing at all") func off() throws {
        #expect(
            try rate("Podcast", "/talk/a.mp3") {
                $0.rate = 1
                $0.folders = ["/talk"]
            } == 1)
        #expect(SpeechRate().rate == 1)
    }
}
