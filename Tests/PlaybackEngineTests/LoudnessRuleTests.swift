import NowPlaying
import PlaybackEngine
import Testing

/// Rules of ReplayGain 2.0 (wiki.hydrogenaud.io, "Player requirements") for gains by tags. Tags of R128 (RFC 7845 §5.2.1)
/// have another reference level, which the reader of the tags handles.
@Suite struct LoudnessRuleTests {
    private static let all = LoudnessTags(trackGain: -6, trackPeak: 0.5, albumGain: -3, albumPeak: 0.8)

    @Test("choice between tags", arguments: LoudnessMode.allCases, [true, false])
    func basis(mode: LoudnessMode, inAlbum: Bool) {
        let settings = LoudnessSettings(mode: mode)
        let cases = [
            Self.all, LoudnessTags(trackGain: -6), LoudnessTags(albumGain: -3), LoudnessTags(trackPeak: 0.5),
            LoudnessTags(),
        ]
        for tags in cases {
            let wishes: [Double?] =
                switch mode {
                case .off: []
                case .track: [tags.trackGain, tags.albumGain]
                case .album: [tags.albumGain, tags.trackGain]
                case .auto: inAlbum ? [tags.albumGain, tags.trackGain] : [tags.trackGain, tags.albumGain]
                }
            let gain = settings.gain(of: tags, inAlbum: inAlbum)
            let expected = wishes.lazy.compactMap { $0 }.first
            #expect(gain?.decibels == expected)
            #expect(gain?.basis == expected.map { $0 == -3 ? .album : .track })
        }
        #expect(settings.gain(of: nil, inAlbum: inAlbum) == nil)
    }

    @Test(
        "10 to the power of a twentieth, and never beyond what the peak allows",
        arguments: [-60, -12.5, -6, 0, 6, 20], [-15, 0, 6, 15] as [Double])
    func clipping(gain: Double, preamp: Double) throws {
        for peak in [nil, 0.01, 0.5, 1, 1.4] as [Double?] {
            let tags = LoudnessTags(trackGain: gain, trackPeak: peak)
            let settings = LoudnessSettings(mode: .track, preamp: preamp)
            let result = try #require(settings.gain(of: tags, inAlbum: false)).factor
            // Half decibels as factors: decibels add where factors multiply.
            let half = gain + preamp > 0 ? 1.0592537251772889 : 0.9440608762859234
            var plain = 1.0
            for _ in 0..<Int(abs(gain + preamp) * 2) { plain *= half }
            #expect(abs(result / min(plain, 1 / (peak ?? 1e-9)) - 1) < 1e-9)
            if let peak { #expect(result * peak <= 1 + 1e-12) }
        }
    }

    @Test("an album's peak protects an album; without it the track's does") func albumPeak() {
        let settings = LoudnessSettings(mode: .album, preamp: 12)
        #expect(settings.gain(of: Self.all, inAlbum: true)?.factor == 1 / 0.8)
        var tags = Self.all
        tags.albumPeak = nil
        #expect(settings.gain(of: tags, inAlbum: true)?.factor == 1 / 0.5)
        #expect(
            LoudnessSettings(mode: .track, preamp: 12).gain(of: Self.all, inAlbum: true)?.factor == 1.9952623149688795)
    }

    @Test(
        "what follows on an album",
        arguments: [
            ((1, 3), (1, 4), true), ((nil, 3), (nil, 4), true), ((nil, 3), (1, 4), true), ((1, 3), (1, 5), false),
            ((1, 3), (1, 3), false), ((1, 4), (1, 3), false), ((1, 9), (2, 1), true), ((1, 9), (2, 2), false),
            ((1, 9), (3, 1), false), ((nil, 9), (2, 1), true), ((1, nil), (1, 2), false), ((1, 1), (1, nil), false),
        ] as [((Int?, Int?), (Int?, Int?), Bool)])
    func order(first: (disc: Int?, track: Int?), second: (disc: Int?, track: Int?), follows: Bool) {
        func item(_ numbers: (disc: Int?, track: Int?), _ album: String? = "Album", _ artist: String? = nil)
            -> MediaMetadata
        {
            var result = MediaMetadata()
            (result.albumTitle, result.albumArtist) = (album, artist)
            (result.discNumber, result.trackNumber) = numbers
            return result
        }
        #expect(followsOnAlbum(item(second), after: item(first)) == follows)
        #expect(!followsOnAlbum(item(second, "Other"), after: item(first)))
        #expect(!followsOnAlbum(item(second, "Album", "Somebody"), after: item(first)))
        #expect(!followsOnAlbum(item(second, nil), after: item(first, nil)))
    }
}
