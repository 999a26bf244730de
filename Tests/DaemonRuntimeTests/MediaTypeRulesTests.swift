import AudioCore
import LinuxSystem
import NowPlaying
import PlaybackEngine
import Testing

@testable import DaemonConfiguration

/// Kinds of items and their defaults.
@Suite struct MediaTypeRulesTests {
    private func kind(
        _ path: String = "/m/a.mp3", _ duration: Double? = nil, _ change: (inout MediaMetadata) -> Void = { _ in }
    ) throws -> MediaType {
        var rules = MediaTypeRules()
        rules.podcast.folders = ["/srv/podcasts"]
        rules.podcast.shortest = 1200
        rules.audiobook.shortest = 7200
        var metadata = MediaMetadata()
        change(&metadata)
        return rules.kind(of: .file(try #require(FilePath(Array(path.utf8)))), metadata, duration: duration)
    }

    @Test("a client's word, then the folder, then the genre, then the length") func order() throws {
        #expect(try kind() == .music)
        #expect(try kind("/srv/podcasts/x/a.mp3") == .podcast)
        #expect(try kind("/srv/podcasts/x/a.mp3", 8000) { $0.genre = "Audiobook" } == .podcast)
        #expect(try kind("/srv/podcasts/a.mp3") { $0.mediaType = .music } == .music)
        #expect(try kind { $0.genre = "Podcast" } == .podcast)
        #expect(try kind("/m/a.mp3", 60) { $0.genre = "Spoken Word" } == .audiobook)
        #expect(try kind("/m/a.mp3", 1199) == .music)
        #expect(try kind("/m/a.mp3", 1200) == .podcast)
        #expect(try kind("/m/a.mp3", 7200) == .audiobook)
        #expect(try kind("/m/a.mp3", 7200) { $0.isLiveStream = true } == .audio)
    }

    @Test("each kind has its intervals, and a client's count more") func intervals() throws {
        var contents = ConfigurationFile.Contents()
        let text =
            "[playback]\nforward-intervals = 20\n[kinds]\npodcast-forward-intervals = 30, 60\nmusic-backward-intervals = 10\n"
        try ConfigurationFile.parse(Array(text.utf8), named: "f", into: &contents)
        let configuration = contents.configuration
        #expect(configuration.forwardIntervals == [20])
        #expect(configuration.kindIntervals[.podcast]?.forward == [30, 60])
        #expect(configuration.kindIntervals[.podcast]?.backward == nil)
        #expect(configuration.kindIntervals[.music]?.backward == [10])
    }
}
