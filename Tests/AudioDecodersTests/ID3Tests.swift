import AudioCore
import AudioDecoders
import NowPlaying
import TestSupport
import Testing

/// Tags of MP3 files, in every version, put together by hand.
@Suite struct ID3Tests {
    let folder = TemporaryFolder()

    /// Three frames of silence.
    private let sound: [UInt8] = (0..<3).flatMap { _ in [0xFF, 0xFB, 0x90, 0xC4] + [UInt8](repeating: 0, count: 413) }

    private func metadata(_ before: [UInt8], _ behind: [UInt8] = []) throws -> MediaMetadata {
        try DecoderRegistry.openDecoder(path: folder.write(before + sound + behind, "a.mp3")).metadata
    }

    private func syncSafe(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(number >> (21 - 7 * $0) & 0x7F) } }
    private func plain(_ number: Int, _ count: Int = 4) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * (count - 1 - $0))) }
    }

    /// A frame in the form of this version; `hasPlainSize`: 8 bits a byte where 2.4 wants 7.
    private func frame(
        _ version: Int, _ name: String, _ content: [UInt8], flags: UInt8 = 0, hasPlainSize: Bool = false
    ) -> [UInt8] {
        if version == 2 { return Array(name.utf8) + plain(content.count, 3) + content }
        let size = version == 4 && !hasPlainSize ? syncSafe(content.count) : plain(content.count)
        return Array(name.utf8) + size + [0, flags] + content
    }

    private func tag(_ version: UInt8, _ frames: [[UInt8]], flags: UInt8 = 0, padding: Int = 20) -> [UInt8] {
        let body = frames.flatMap { $0 } + [UInt8](repeating: 0, count: padding)
        return Array("ID3".utf8) + [version, 0, flags] + syncSafe(body.count) + body
    }

    private func latin(_ text: String) -> [UInt8] { [0] + text.unicodeScalars.map { UInt8($0.value) } }

    @Test("every field, in each version", arguments: [2, 3, 4] as [Int]) func everyField(version: Int) throws {
        let names: [(String, String)] = [
            ("TT2", "TIT2"), ("TT3", "TIT3"), ("TP1", "TPE1"), ("TP2", "TPE2"), ("TAL", "TALB"), ("TCM", "TCOM"),
            ("TCO", "TCON"), ("TRK", "TRCK"), ("TPA", "TPOS"), ("TRC", "TSRC"), ("TLA", "TLAN"),
        ]
        let values = ["T", "S", "A", "AA", "B", "C", "(17)", "3/11", "1/2", "DEA123456789", "deu"]
        var frames = zip(names, values).map { name, value in
            frame(version, version == 2 ? name.0 : name.1, latin(value))
        }
        if version == 4 {
            frames.append(frame(4, "TDRC", latin("1999-05-03T10:00")))
        } else {
            frames.append(frame(version, version == 2 ? "TYE" : "TYER", latin("1999")))
            frames.append(frame(version, version == 2 ? "TDA" : "TDAT", latin("0305")))
        }
        let comment: [UInt8] = [0] + Array("eng".utf8) + [0] + Array("text".utf8)
        frames.append(frame(version, version == 2 ? "COM" : "COMM", [0] + Array("engiTunNORM".utf8) + [0, 0x31]))
        frames.append(frame(version, version == 2 ? "COM" : "COMM", comment))
        frames.append(
            frame(version, version == 2 ? "TXX" : "TXXX", latin("replaygain_track_gain") + [0] + Array("-6.5 dB".utf8)))
        frames.append(frame(version, version == 2 ? "TXX" : "TXXX", latin("ITUNESADVISORY") + [0, 0x31]))
        let read = try metadata(tag(UInt8(version), frames))
        var expected = MediaMetadata()
        expected.title = "T"
        expected.subtitle = "S"
        expected.artist = "A"
        expected.artists = ["A"]
        expected.albumArtist = "AA"
        expected.albumTitle = "B"
        expected.composer = "C"
        expected.genre = "Rock"
        expected.trackNumber = 3
        expected.trackCount = 11
        expected.discNumber = 1
        expected.discCount = 2
        expected.isrc = "DEA123456789"
        expected.language = "deu"
        expected.releaseDate = "1999-05-03"
        expected.summary = "text"
        expected.isExplicit = true
        expected.loudness = LoudnessTags(trackGain: -6.5)
        #expect(read == expected)
    }

    @Test("every encoding") func encodings() throws {
        func title(_ content: [UInt8]) throws -> String? { try metadata(tag(4, [frame(4, "TIT2", content)])).title }
        let text = "Zoë — 音楽 𝄞"
        let units = Array(text.utf16)
        let little = units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let big = units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        #expect(try title([1, 0xFF, 0xFE] + little) == text)
        #expect(try title([1, 0xFE, 0xFF] + big + [0, 0]) == text)
        #expect(try title([1] + little) == text)
        #expect(try title([2] + big) == text)
        #expect(try title([3] + Array(text.utf8)) == text)
        #expect(try title([0, 0x5A, 0x6F, 0xEB]) == "Zoë")
        // A text marked as Latin-1 is Latin-1.
        #expect(try title([0, 0xC3, 0xA9]) == "Ã©")
        // Broken: something valid, or nothing.
        #expect(try title([1, 0xFF, 0xFE, 0x00, 0xD8, 0x41, 0x00]) != nil)
        #expect(try title([1, 0xFF]) == nil)
        #expect(try title([9, 0x41]) == "A")
        #expect(try title([]) == nil)
        #expect(try title([3] + [UInt8](repeating: 0x61, count: 100_000))?.utf8.count == 4096)
        // Several values.
        let artists = try metadata(tag(4, [frame(4, "TPE1", [3] + Array("A\u{0}B\u{0}AC/DC".utf8))]))
        #expect(artists.artists == ["A", "B", "AC/DC"])
        #expect(artists.artist == "A, B, AC/DC")
    }

    @Test("unsynchronisation, extended headers, sizes of iTunes, compression") func structures() throws {
        let title = latin("ÿà") + [0xFF]
        func unsynchronised(_ bytes: [UInt8]) -> [UInt8] {
            var result: [UInt8] = []
            for (index, byte) in bytes.enumerated() {
                result.append(byte)
                let next = index + 1 < bytes.count ? bytes[index + 1] : 0
                if byte == 0xFF, next >= 0xE0 || next == 0 { result.append(0) }
            }
            return result
        }
        // 2.3: the whole tag, sizes as before.
        let body = unsynchronised(frame(3, "APIC", [UInt8](repeating: 0xFF, count: 500)) + frame(3, "TIT2", title))
        #expect(try metadata(Array("ID3".utf8) + [3, 0, 0x80] + syncSafe(body.count) + body).title == "ÿàÿ")
        // 2.4: frame by frame, with the length before.
        let content = plain(title.count) + unsynchronised(title)
        #expect(try metadata(tag(4, [frame(4, "TIT2", content, flags: 3)], flags: 0x80)).title == "ÿàÿ")
        // Extended headers.
        let simple = frame(3, "TIT2", latin("x"))
        #expect(try metadata(tag(3, [plain(6) + [0, 0, 0, 0, 0, 0], simple], flags: 0x40)).title == "x")
        #expect(
            try metadata(tag(4, [syncSafe(6) + [1, 0], frame(4, "TIT2", latin("x"))], flags: 0x40)).title == "x")
        // A large frame of 2.4 whose size has 8 bits a byte.
        let large = frame(4, "APIC", [UInt8](repeating: 0x10, count: 300), hasPlainSize: true)
        #expect(try metadata(tag(4, [large, frame(4, "TIT2", latin("x"))])).title == "x")
        let right = frame(4, "APIC", [UInt8](repeating: 0x10, count: 300))
        #expect(try metadata(tag(4, [right, frame(4, "TIT2", latin("x"))])).title == "x")
        // Compressed ones are passed over.
        #expect(
            try metadata(tag(4, [frame(4, "TALB", [1, 2, 3], flags: 8), frame(4, "TIT2", latin("x"))])).title == "x")
        // Two tags: the first one wins, the second one fills in.
        let two =
            tag(4, [frame(4, "TIT2", latin("x"))])
            + tag(3, [frame(3, "TIT2", latin("y")), frame(3, "TALB", latin("z"))])
        #expect(try metadata(two).title == "x")
        #expect(try metadata(two).albumTitle == "z")
    }

    @Test("genres, podcasts, volumes") func specials() throws {
        func read(_ name: String, _ content: [UInt8]) throws -> MediaMetadata {
            try metadata(tag(4, [frame(4, name, content)]))
        }
        #expect(try read("TCON", latin("17")).genre == "Rock")
        #expect(try read("TCON", latin("(4)Eurodisco")).genre == "Disco, Eurodisco")
        #expect(try read("TCON", latin("((Rock)")).genre == "(Rock)")
        #expect(try read("TCON", latin("(RX)(9)")).genre == "Remix, Metal")
        #expect(try read("TCON", [3] + Array("Jazz\u{0}17".utf8)).genre == "Jazz, Rock")
        let podcast = try metadata(
            tag(
                4, [frame(4, "PCST", [0, 0, 0, 0]), frame(4, "TALB", latin("Show")), frame(4, "TDES", latin("About"))]))
        #expect(podcast.show == "Show")
        #expect(podcast.summary == "About")
        // −2 dB, peak half of full scale in 16 bits.
        let volume: [UInt8] = Array("track".utf8) + [0, 1, 0xFC, 0x00, 16, 0x40, 0x00]
        #expect(try read("RVA2", volume).loudness == LoudnessTags(trackGain: -2, trackPeak: 0.5))
    }

    @Test("in a chunk of WAV and AIFF files, and in front of FLAC") func inOtherFiles() throws {
        let material = AudioMaterial.noise(frames: 500)
        let tag = tag(
            4,
            [
                frame(4, "TIT2", latin("Of ID3")), frame(4, "TPE1", latin("One") + [0] + Array("Two".utf8)),
                frame(4, "TXXX", latin("replaygain_track_gain") + [0] + Array("-6.5 dB".utf8)),
            ], padding: 21)
        let little = Array("id3 ".utf8) + plain(tag.count).reversed()
        let big = Array("ID3 ".utf8) + plain(tag.count)
        let info = [("INAM", Array("x".utf8)), ("IPRD", Array("Album".utf8))]
        for (number, bytes) in [
            material.wave(info: info) + little + tag, material.aiff() + big + tag, tag + material.flac(),
        ].enumerated() {
            let decoder = try DecoderRegistry.openDecoder(path: folder.write(bytes, "a"))
            #expect(decoder.metadata.title == "Of ID3", "\(number)")
            #expect(decoder.metadata.artists == ["One", "Two"], "\(number)")
            #expect(decoder.metadata.loudness?.trackGain == -6.5, "\(number)")
            #expect(decoder.metadata.albumTitle == (number == 0 ? "Album" : nil))
            try checkConformance(decoder, expected: expectedBytes(material, .int16))
        }
        // FLAC's own tags come first.
        var options = FLACOptions()
        options.blocks = [AudioMaterial.vorbisComments([Array("TITLE=Of FLAC".utf8)])]
        let own = try DecoderRegistry.openDecoder(path: folder.write(tag + material.flac(options), "a"))
        #expect(own.metadata.title == "Of FLAC")
        #expect(own.metadata.artist == "One, Two")
        for length in stride(from: 0, to: tag.count, by: 7) {
            let cut = material.wave() + little + tag.prefix(length)
            try expectSame(
                readFrames(DecoderRegistry.openDecoder(path: folder.write(cut, "a"))), expectedBytes(material, .int16))
        }
    }

    @Test("tags at the end") func trailing() throws {
        var old = Array("TAG".utf8) + [UInt8](repeating: 0, count: 125)
        old.replaceSubrange(3..<8, with: Array("Title".utf8))
        old[126] = 7
        old[127] = 17
        let first = try metadata([], old)
        #expect(first.title == "Title")
        #expect(first.trackNumber == 7)
        #expect(first.genre == "Rock")
        func item(_ name: String, _ value: String, flags: UInt8 = 0) -> [UInt8] {
            let bytes = Array(value.utf8)
            return plain(bytes.count).reversed() + [flags, 0, 0, 0] + Array(name.utf8) + [0] + bytes
        }
        let items =
            item("Cover Art (Front)", String(repeating: "x", count: 1000), flags: 2) + item("Artist", "A\u{0}B")
            + item("Track", "2/9") + item("REPLAYGAIN_ALBUM_GAIN", "+1.5 dB") + item("Year", "2001")
        func edge(_ flags: [UInt8]) -> [UInt8] {
            Array("APETAGEX".utf8) + plain(2000).reversed() + plain(items.count + 32).reversed() + plain(5).reversed()
                + flags + [UInt8](repeating: 0, count: 8)
        }
        let ape = edge([0, 0, 0, 0xA0]) + items + edge([0, 0, 0, 0x80])
        for behind in [ape, ape + old] {
            let read = try metadata([], behind)
            #expect(read.artists == ["A", "B"])
            #expect(read.trackNumber == 2)
            #expect(read.trackCount == 9)
            #expect(read.releaseDate == "2001")
            #expect(read.loudness == LoudnessTags(albumGain: 1.5))
        }
        // ID3v2 wins over APE, that over ID3v1.
        let all = try metadata(tag(3, [frame(3, "TPE1", latin("Z"))]), ape + old)
        #expect(all.artist == "Z")
        #expect(all.title == "Title")
        #expect(all.trackNumber == 2)
    }

    @Test("tags cut, flipped and lying about their size") func broken() throws {
        let good = tag(4, [frame(4, "TIT2", latin("x")), frame(4, "APIC", [UInt8](repeating: 1, count: 300))])
        for position in good.indices {
            for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                var bytes = good
                bytes[position] = value
                // The file plays, or its error has a reason, which is text.
                _ = try? metadata(bytes)
            }
        }
        for length in good.indices { _ = try? metadata(Array(good[..<length])) }
        // A picture of 50 MB costs nothing, and 10⁵ comments neither.
        let picture = tag(
            4, [frame(4, "APIC", [UInt8](repeating: 1, count: 50_000_000)), frame(4, "TIT2", latin("x"))])
        #expect(try metadata(picture).title == "x")
        let many = tag(3, (0..<100_000).map { frame(3, "TXXX", latin("a\($0)") + [0, 0x62]) })
        _ = try metadata(many)
    }
}
