import AudioCore
import AudioDecoders
import NowPlaying
import TestSupport
import Testing

/// Metadata of files.
@Suite struct MetadataTests {
    let folder = TemporaryFolder()

    private func metadata(_ comments: [String]) throws -> MediaMetadata {
        try metadata(comments.map { Array($0.utf8) })
    }

    private func metadata(_ comments: [[UInt8]]) throws -> MediaMetadata {
        var options = FLACOptions()
        options.blocks = [AudioMaterial.vorbisComments(comments)]
        let file = AudioMaterial.noise(frames: 20).flac(options)
        return try DecoderRegistry.openDecoder(path: folder.write(file, "a")).metadata
    }

    @Test func everyField() throws {
        let read = try metadata([
            "TITLE=Erbarme dich", "subtitle=Aria", "Artist=First", "ARTIST=Second", "ALBUM=Passion",
            "ALBUMARTIST=Choir",
            "COMPOSER=J. S. Bach", "GENRE=Baroque", "GENRE=Vocal", "DATE=1999-05-03T12:00", "TRACKNUMBER=3/11",
            "DISCNUMBER=1", "TOTALDISCS=2", "ISRC=DEA123456789", "DESCRIPTION=live", "REPLAYGAIN_TRACK_GAIN=-3 dB",
        ])
        var expected = MediaMetadata()
        expected.title = "Erbarme dich"
        expected.subtitle = "Aria"
        expected.artist = "First, Second"
        expected.artists = ["First", "Second"]
        expected.albumTitle = "Passion"
        expected.albumArtist = "Choir"
        expected.composer = "J. S. Bach"
        expected.genre = "Baroque, Vocal"
        expected.releaseDate = "1999-05-03"
        expected.trackNumber = 3
        expected.trackCount = 11
        expected.discNumber = 1
        expected.discCount = 2
        expected.isrc = "DEA123456789"
        expected.summary = "live"
        expected.loudness = LoudnessTags(trackGain: -3)
        #expect(read == expected)
    }

    @Test(
        arguments: [
            ("TRACKNUMBER=07", 7, nil), ("TRACKNUMBER= 7 / 9 ", 7, 9), ("TRACKNUMBER=A1", nil, nil),
            ("TRACKNUMBER=0", nil, nil), ("TRACKNUMBER=-1", nil, nil), ("TRACKNUMBER=99999999999999999999/3", nil, 3),
            ("TRACKNUMBER=1/2/3", 1, nil), ("TRACKNUMBER=/", nil, nil),
        ] as [(String, Int?, Int?)])
    func numbers(comment: String, number: Int?, count: Int?) throws {
        let read = try metadata([comment])
        #expect(read.trackNumber == number)
        #expect(read.trackCount == count)
    }

    @Test(
        arguments: [
            ("1999", "1999"), ("1999-05", "1999-05"), ("1999/05/03", "1999-05-03"), ("1999-13-01", "1999"),
            ("1999-05-40", "1999-05"), ("1999-05-03 10:00", "1999-05-03"), ("May 1999", nil), ("99", nil),
            ("0000", nil),
            ("1999-5-3", "1999"), ("24.12.1985", "1985-12-24"), ("1.2.1985", "1985-02-01"),
            ("24/12/1985", "1985-12-24"),
            ("12/24/1985", "1985-12-24"), ("03/05/1999", "1999"), ("05/05/1999", "1999-05-05"), ("12/1985", "1985-12"),
            ("13/1985", "1985"), ("31-01-2001", "2001-01-31"), ("'85", "1985"), ("’07", "2007"), ("'39", "2039"),
            ("'40", "1940"), ("'850", nil), ("85", nil), ("1.2.3.1985", nil), ("24.12.85", nil), ("v1.2.1985", nil),
        ] as [(String, String?)])
    func dates(text: String, date: String?) throws {
        #expect(try metadata(["DATE=\(text)"]).releaseDate == date)
    }

    @Test("hostile texts") func hostileTexts() throws {
        func title(_ bytes: [UInt8]) throws -> String? { try metadata([Array("TITLE=".utf8) + bytes]).title }
        func title(_ text: String) throws -> String? { try title(Array(text.utf8)) }
        #expect(try title("a\u{0}b\nc\u{1B}[31md\u{7F}\u{85}\u{2028}e") == "a b c [31md   e")
        #expect(try title("  \t ") == nil)
        #expect(try title("") == nil)
        // Not UTF-8: taken for Latin-1.
        #expect(try title([0x4D, 0xFC, 0x6C, 0x6C, 0x65, 0x72]) == "Müller")
        #expect(try title([0xED, 0xA0, 0x80, 0xC0, 0x80]) != nil)
        // The text is cut between characters of any length.
        for character in ["a", "é", "€", "𝄞"] {
            for lead in 0..<4 {
                let text = String(repeating: "x", count: lead) + String(repeating: character, count: 5000)
                let read = try #require(try title(text))
                #expect(read.utf8.count <= 4096 && read.utf8.count > 4096 - 4)
                #expect(text.hasPrefix(read))
            }
        }
        let many = try metadata((0..<1000).map { "ARTIST=\(String(repeating: "ü", count: 100))\($0)" })
        #expect(many.artists.count == 32)
        #expect(many.artist!.utf8.count <= 4096)
        #expect(try metadata(["=x", "TITLE", "", "TITLE=y", "T\u{0}TLE=z"]).title == "y")
    }

    @Test("comments that contradict themselves") func brokenComments() throws {
        let good = AudioMaterial.vorbisComments([Array("TITLE=x".utf8)]).content
        for position in good.indices {
            for value in [0, 1, 0x7F, 0xFF] as [UInt8] {
                var options = FLACOptions()
                var content = good
                content[position] = value
                options.blocks = [(4, content), (1, [0, 0, 0])]
                let material = AudioMaterial.noise(frames: 20)
                let decoder = try DecoderRegistry.openDecoder(path: folder.write(material.flac(options), "a"))
                try expectSame(readFrames(decoder), expectedBytes(material, .int16))
            }
        }
        for length in good.indices {
            var options = FLACOptions()
            options.blocks = [(4, Array(good[..<length]))]
            let file = AudioMaterial.noise(frames: 20).flac(options)
            #expect(try DecoderRegistry.openDecoder(path: folder.write(file, "a")).metadata.title == nil)
        }
    }

    @Test("loudspeakers named by a comment") func channelMask() throws {
        func channels(_ mask: String) throws -> [ChannelPosition] {
            var options = FLACOptions()
            options.blocks = [AudioMaterial.vorbisComments([Array("WAVEFORMATEXTENSIBLE_CHANNEL_MASK=\(mask)".utf8)])]
            let file = AudioMaterial.noise(frames: 20, channels: 4).flac(options)
            return try DecoderRegistry.openDecoder(path: folder.write(file, "a")).format.channels
        }
        #expect(try channels("0x0107") == [.frontLeft, .frontRight, .frontCenter, .rearCenter])
        for wrong in ["0x3F", "0x0", "", "0xF0000000", "nonsense"] {
            #expect(try channels(wrong) == ChannelPosition.standardOrder(channels: 4))
        }
    }

    @Test("texts of a WAV file") func waveTexts() throws {
        let info: [(String, [UInt8])] = [
            ("INAM", Array("Title".utf8)), ("IART", [0x4D, 0xFC, 0x6C, 0x6C, 0x65, 0x72]),
            ("IPRD", Array("Album".utf8)),
            ("ICRD", Array("2001-02".utf8)), ("IGNR", Array("Jazz\u{1B}".utf8)), ("ICMT", Array("Text".utf8)),
            ("ITRK", Array("4".utf8)),
        ]
        let material = AudioMaterial.noise(frames: 100)
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(material.wave(info: info), "a"))
        var expected = MediaMetadata()
        expected.title = "Title"
        expected.artist = "Müller"
        expected.artists = ["Müller"]
        expected.albumTitle = "Album"
        expected.releaseDate = "2001-02"
        expected.genre = "Jazz"
        expected.summary = "Text"
        expected.trackNumber = 4
        #expect(decoder.metadata == expected)
        try expectSame(readFrames(decoder), expectedBytes(material, .int16))
    }
}
