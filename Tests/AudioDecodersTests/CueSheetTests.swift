import AudioCore
import AudioDecoders
import NowPlaying
import TestSupport
import Testing

@Suite struct CueSheetTests {
    static let album = """
        REM GENRE Electronica
        REM DATE 1998
        REM DISCID 860B640B
        REM REPLAYGAIN_ALBUM_GAIN -6.54 dB
        PERFORMER "Faithless"
        TITLE "Live in "Berlin""
        FILE "Faithless - Live.mp3" MP3
          TRACK 01 AUDIO
            TITLE "Reverence"
            SONGWRITER "S. Bliss"
            ISRC GBARL9800001
            REM REPLAYGAIN_TRACK_GAIN -5 dB
            INDEX 01 00:02:33
          TRACK 02 AUDIO
            TITLE "She's My Baby"
            PERFORMER "Another"
            INDEX 00 06:40:00
            INDEX 01 06:42:00
          TRACK 03 AUDIO
            INDEX 01 110:54:74
        """

    private func tracks(_ text: String) throws -> [String] {
        try CueSheet(text: Array(text.utf8)).tracks.map {
            "\($0.number) \($0.file) \($0.start.count)-\($0.end.map { "\($0.count)" } ?? "")"
        }
    }

    @Test func anAlbum() throws {
        let sheet = try CueSheet(text: Array(Self.album.utf8))
        #expect(sheet.files == [Array("Faithless - Live.mp3".utf8)])
        // The gap before the second track is the end of the first.
        #expect(try tracks(Self.album) == ["1 0 183-30150", "2 0 30150-499124", "3 0 499124-"])
        let first = sheet.tracks[0].metadata
        #expect(first.title == "Reverence")
        #expect(first.artist == "Faithless")
        #expect(first.albumTitle == "Live in \"Berlin\"")
        #expect(first.albumArtist == "Faithless")
        #expect(first.composer == "S. Bliss")
        #expect(first.isrc == "GBARL9800001")
        #expect(first.genre == "Electronica")
        #expect(first.releaseDate == "1998")
        #expect(first.trackNumber == 1)
        #expect(first.trackCount == 3)
        #expect(first.loudness == LoudnessTags(trackGain: -5, albumGain: -6.54))
        #expect(sheet.tracks[1].metadata.artist == "Another")
        #expect(sheet.tracks[2].metadata.title == "Track 3")
        #expect(sheet.tracks[2].metadata.loudness == LoudnessTags(albumGain: -6.54))
    }

    @Test(
        arguments: [
            // One file a track; the gap of the second is the end of the first file (EAC).
            (
                "FILE a WAVE\nTRACK 01 AUDIO\nINDEX 01 00:00:00\nTRACK 02 AUDIO\nINDEX 00 03:00:00\nFILE \"b c\" WAVE\n"
                    + "INDEX 01 00:00:00\n", ["1 0 0-", "2 1 0-"]
            ),
            // A track of data is none, but the tracks before end where it begins.
            (
                "FILE a BINARY\nTRACK 01 AUDIO\nINDEX 01 0:0:0\nTRACK 02 MODE1/2352\nINDEX 01 0:2:0\nTRACK 03 AUDIO\n"
                    + "INDEX 01 0:4:0", ["1 0 0-150", "3 0 300-"]
            ),
            // Two discs in a sheet, whose numbers begin anew.
            (
                "FILE a WAVE\nTRACK 01 AUDIO\nINDEX 01 0:0:0\nTRACK 02 AUDIO\nINDEX 01 0:1:0\nFILE b WAVE\nTRACK 01 AUDIO\n"
                    + "INDEX 01 0:0:0\nTRACK 02 AUDIO\nINDEX 01 0:1:0", ["1 0 0-75", "2 0 75-", "3 1 0-75", "4 1 75-"]
            ),
            // Indexes in any case and order, and lines that are not an index of a track.
            (
                "file a wave\ntrack 1 audio\nindex 02 0:3:0\nindex 01 0:1:0\nindex x 0:0:0\nindex 01 0:61:0\nindex 00 0:0:0",
                ["1 0 75-"]
            ),
        ])
    func sheets(text: String, expected: [String]) throws { #expect(try tracks(text) == expected) }

    @Test("a track that ends where it begins is left out") func tracksAtOneTime() throws {
        let text =
            "FILE a WAVE\n"
            + [0, 2, 2, 3, 3].enumerated().map { "TRACK \($0 + 1) AUDIO\nINDEX 01 0:\($1):0\n" }.joined()
        #expect(try tracks(text) == ["1 0 0-150", "3 0 150-225", "5 0 225-"])
    }

    @Test(
        arguments: [
            ("", "is not a cue sheet with tracks of audio"),
            ("FILE a WAVE\n", "is not a cue sheet with tracks of audio"),
            ("TRACK 01 AUDIO\nINDEX 01 0:0:0", "is not a cue sheet with tracks of audio"),
            (
                "FILE a WAVE\nTRACK 01 AUDIO\nINDEX 01 0:5:0\nTRACK 02 AUDIO\nINDEX 01 0:4:0",
                "has tracks out of order: 2 does not begin after 1"
            ),
        ])
    func noSheets(text: String, message: String) {
        #expect(throws: PlaylistError(message)) { try CueSheet(text: Array(text.utf8)) }
    }

    @Test(arguments: [(1, 44_100, 588), (1, 48_000, 640), (1, 8000, 107), (2, 8000, 213), (75, 11_025, 11_025)])
    func framesOfTimes(count: Int64, rate: Int, frames: Int64) {
        #expect(MediaTime(count, perSecond: 75).frames(atRate: rate) == frames)
    }

    @Test func timesFarAway() {
        // Nothing lies behind ten million seconds.
        for (count, unit) in [(Int64.max, Int64(75)), (.max, 44_100), (.max, .max), (1 << 62, 1)] {
            #expect(MediaTime(count, perSecond: unit).frames(atRate: 44_100) == 441_000_000_000)
            #expect(MediaTime(count, perSecond: unit).seconds == 1e7)
            #expect(MediaTime(-count, perSecond: unit).frames(atRate: 384_000) == 0)
        }
        #expect(MediaTime(7, perSecond: 0).frames(atRate: 3) == 21)
    }

    // MARK: In a FLAC file

    private func sheet(_ blocks: [(type: UInt8, content: [UInt8])]) throws -> CueSheet? {
        var options = FLACOptions()
        options.blocks = blocks
        let folder = TemporaryFolder()
        let path = folder.write(AudioMaterial.noise(frames: 100_000).flac(options), "a.flac")
        return try EmbeddedCueSheet.sheet(of: MediaFile(path: path))
    }

    @Test func inATag() throws {
        let text = "cuesheet=" + Self.album.replacing("\n", with: "\r\n")
        let comments = AudioMaterial.vorbisComments([Array("TITLE=x".utf8), Array(text.utf8)])
        let found = try #require(try sheet([comments]))
        #expect(found.files == [[]])
        #expect(found.tracks.map(\.metadata.title) == ["Reverence", "She's My Baby", "Track 3"])
        let none = AudioMaterial.vorbisComments([Array("CUESHEET=garbage".utf8), Array("CUESHEETS=".utf8)])
        #expect(try sheet([none]) == nil)
    }

    @Test(arguments: ["oggenc", "opusenc", "flac", "ape"]) func inATagOfAnotherKind(kind: String) throws {
        let folder = TemporaryFolder()
        let wave = folder.write(AudioMaterial.waves(frames: 48_000, sampleRate: 48_000).wave(), "a.wav")
        let file = folder.path("a")
        let comment = "CUESHEET=" + Self.album
        switch kind {
        case "oggenc": try #require(AudioMaterial.run("oggenc", ["-Q", "-c", comment, "-o", file, wave]) == 0)
        case "opusenc":
            try #require(AudioMaterial.run("opusenc", ["--quiet", "--comment", comment, wave, file]) == 0)
        case "flac":
            let words = ["--silent", "--force", "--ogg", "-T", comment, "-o", file, wave]
            try #require(AudioMaterial.run("flac", words) == 0)
        default:
            var tag = ByteBuilder()
            tag.little(Self.album.utf8.count, 4)
            tag.little(0, 4)
            tag.text("Cuesheet\0" + Self.album + "APETAGEX")
            tag.little(2000, 4)
            tag.little(8 + 9 + Self.album.utf8.count + 32, 4)
            tag.little(1, 4)
            tag.bytes += [UInt8](repeating: 0, count: 12)
            _ = folder.write([UInt8](repeating: 0xFF, count: 1000) + tag.bytes, "a")
        }
        let found = try #require(try EmbeddedCueSheet.sheet(of: MediaFile(path: file)))
        #expect(found.files == [[]])
        #expect(found.tracks.map(\.metadata.title) == ["Reverence", "She's My Baby", "Track 3"])
    }

    @Test("in a text of ID3v2, in any of its encodings", arguments: 0..<4 as Range<UInt8>, [3, 4] as [UInt8])
    func inATextOfID3(encoding: UInt8, version: UInt8) throws {
        // More than a text of other names may have.
        let rest = String(repeating: "REM \(String(repeating: "x", count: 90))\n", count: 900)
        let text = "CUESHEET\0" + Self.album + "\n" + rest
        let content: [UInt8]
        switch encoding {
        case 1:
            let little = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
            let zero = 2 * 8
            content = [1, 0xFF, 0xFE] + little[...(zero + 1)] + [0xFF, 0xFE] + little[(zero + 2)...]
        case 2: content = [2] + text.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        default: content = [encoding] + Array(text.utf8)
        }
        func size(_ count: Int, _ bits: Int) -> [UInt8] {
            stride(from: 3 * bits, through: 0, by: -bits).map { UInt8(count >> $0 & (1 << bits - 1)) }
        }
        let frame = Array("TXXX".utf8) + size(content.count, version == 4 ? 7 : 8) + [0, 0] + content
        let tag = Array("ID3".utf8) + [version, 0, 0] + size(frame.count, 7) + frame
        let folder = TemporaryFolder()
        let path = folder.write(tag + [UInt8](repeating: 0xFF, count: 1000), "a.mp3")
        let found = try #require(try EmbeddedCueSheet.sheet(of: MediaFile(path: path)))
        #expect(found.tracks.map(\.metadata.title) == ["Reverence", "She's My Baby", "Track 3"])
    }

    /// A block CUESHEET with tracks that begin at these samples.
    static func block(_ starts: [Int], leadOut: Int) -> (type: UInt8, content: [UInt8]) {
        var block = ByteBuilder()
        block.bytes += [UInt8](repeating: 0, count: 128 + 8 + 259)
        block.big(starts.count + 1, 1)
        for (place, start) in starts.enumerated() {
            block.big(start, 8)
            block.big(place + 1, 1)
            block.text(place == 0 ? "GBARL9800001" : "\0\0\0\0\0\0\0\0\0\0\0\0")
            block.bytes += [UInt8](repeating: 0, count: 14) + [2]
            for index in 0...1 {
                block.big(index * 588, 8)
                block.big(index, 1)
                block.bytes += [0, 0, 0]
            }
        }
        block.big(leadOut, 8)
        block.big(170, 1)
        block.bytes += [UInt8](repeating: 0, count: 12 + 14 + 1)
        return (5, block.bytes)
    }

    @Test func inABlock() throws {
        let found = try #require(try sheet([Self.block([0, 40_000], leadOut: 100_000)]))
        #expect(found.tracks.map(\.start) == [588, 40_588].map { MediaTime($0, perSecond: 44_100) })
        #expect(found.tracks.map(\.end) == [MediaTime(40_588, perSecond: 44_100), nil])
        #expect(found.tracks.map(\.metadata.isrc) == ["GBARL9800001", nil])
        #expect(try sheet([Self.block([0], leadOut: 100_000)]) == nil)
        // The tag has the titles.
        let comments = AudioMaterial.vorbisComments([Array(("CUESHEET=" + Self.album).utf8)])
        #expect(try sheet([Self.block([0, 40_000], leadOut: 100_000), comments])?.tracks.count == 3)
    }

    @Test(arguments: 0..<200) func brokenBlocks(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var (type, content) = Self.block([0, 10_000, 20_000], leadOut: 100_000)
        for _ in 0..<(1 + random.next() % 8) {
            content[395 + Int(random.next() % UInt64(content.count - 395))] = UInt8(truncatingIfNeeded: random.next())
        }
        content = Array(content.prefix(content.count - Int(random.next() % 120)))
        _ = try sheet([(type, content)])
    }
}
