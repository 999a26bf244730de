import AudioCore
import Foundation
import Glibc
import NowPlaying
import TestSupport
import Testing
import TrackReading

/// Tags of files for a library that mutagen does not write: chunks of information, and chapters.
@Suite struct TrackTagTests {
    let folder = TemporaryFolder()

    private func facts(_ path: String) throws -> TrackFacts {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        return try TrackReader().read(descriptor)
    }

    private static func little(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * $0) & 255) } }

    /// A sound file with a chunk of information, before or after the sound.
    private func wave(_ texts: [(name: String, value: [UInt8])], isFirst: Bool, _ name: String) throws -> String {
        let sound = AudioMaterial.noise(frames: 8000, sampleRate: 8000, channels: 1).wave()
        let chunk = texts.flatMap { name, value -> [UInt8] in
            let whole = value + [0]
            return Array(name.utf8) + Self.little(whole.count) + whole + (whole.count % 2 == 0 ? [] : [0])
        }
        let list = Array("LIST".utf8) + Self.little(chunk.count + 4) + Array("INFO".utf8) + chunk
        var bytes = Array(sound)
        let place = try #require(Data(bytes).range(of: Data("data".utf8))?.lowerBound)
        bytes.insert(contentsOf: list, at: isFirst ? place : bytes.count)
        bytes.replaceSubrange(4..<8, with: Self.little(bytes.count - 8))
        return folder.write(bytes, name)
    }

    @Test("chunks of information of RIFF, in UTF-8 and Latin-1") func riffInformation() throws {
        let texts: [(String, [UInt8])] = [
            ("INAM", Array("Tïtle — 音".utf8)), ("IART", [0x42, 0x6A, 0xF6, 0x72, 0x6B]), ("IPRD", Array("Album".utf8)),
            ("ICRD", Array("1999-05-03".utf8)), ("IGNR", Array("Jazz".utf8)), ("ICMT", Array("odd".utf8)),
            ("ITRK", Array("3/11".utf8)), ("ICOP", Array("©".utf8)), ("IXXX", Array("nothing".utf8)), ("IKEY", []),
        ]
        for isFirst in [true, false] {
            let facts = try facts(try wave(texts, isFirst: isFirst, "info.wav"))
            #expect(facts.tags[.title] == ["Tïtle — 音"] && facts.tags[.artist] == ["Björk"], "\(facts.tags)")
            #expect(facts.tags[.album] == ["Album"] && facts.tags[.date] == ["1999-05-03"])
            #expect(facts.tags[.genre] == ["Jazz"] && facts.tags[.comment] == ["odd"])
            #expect(facts.trackNumber == 3 && facts.trackCount == 11)
            #expect(facts.tags[.copyright] == ["©"] && facts.duration == 1)
        }
    }

    /// A program that writes chapters with mutagen: of ID3 with frames, of Vorbis with comments.
    private static let chapters = """
        import sys
        import mutagen
        from mutagen.id3 import ID3, CHAP, CTOC, CTOCFlags, TIT2
        tags = ID3()
        tags.add(TIT2(encoding=3, text="Book"))
        tags.add(CTOC(element_id="toc", flags=CTOCFlags.TOP_LEVEL | CTOCFlags.ORDERED, child_element_ids=["b", "a"]))
        tags.add(CHAP(element_id="b", start_time=1500, end_time=3000, sub_frames=[TIT2(encoding=1, text=["Zwei é"])]))
        tags.add(CHAP(element_id="a", start_time=0, end_time=1500, sub_frames=[TIT2(encoding=3, text=["Eins"])]))
        tags.save(sys.argv[1])
        for path in sys.argv[2:]:
            file = mutagen.File(path)
            if file.tags is None: file.add_tags()
            file.tags["CHAPTER002"] = "00:00:01.500"
            file.tags["CHAPTER002NAME"] = "Zwei é"
            file.tags["CHAPTER001"] = "00:00:00.000"
            file.tags["CHAPTER001NAME"] = "Eins"
            file.save()
        """

    @Test("chapters of each kind of tag") func chaptersOfEachKind() throws {
        let source = folder.write(AudioMaterial.waves(frames: 3 * 44_100).wave(), "source.wav")
        let paths = ["a.mp3", "a.flac", "a.ogg", "a.opus", "a.m4b"].map { folder.path($0) }
        let data = folder.file(
            "chapters.txt",
            ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=1500\ntitle=Eins\n"
                + "[CHAPTER]\nTIMEBASE=1/1000\nSTART=1500\nEND=3000\ntitle=Zwei é\n")
        let commands: [[String]] = [
            ["lame", "--quiet", source, paths[0]], ["flac", "--silent", "-o", paths[1], source],
            ["oggenc", "-Q", "-o", paths[2], source], ["opusenc", "--quiet", source, paths[3]],
            [
                "ffmpeg", "-loglevel", "error", "-i", source, "-i", data, "-map_metadata", "1", "-c:a", "aac", "-f",
                "mp4",
                paths[4],
            ],
        ]
        for command in commands {
            try #require(AudioMaterial.run(command[0], Array(command.dropFirst())) == 0, "\(command)")
        }
        let run = TestProcess.run(["/usr/bin/python3", "-c", Self.chapters] + paths.dropLast())
        try #require(run.status == 0, "\(run.text)")
        for path in paths {
            let chapters = try facts(path).chapters
            #expect(chapters.map(\.start) == [0, 1.5], "\(path): \(chapters)")
            #expect(chapters.map(\.title) == ["Eins", "Zwei é"], "\(path): \(chapters)")
        }
    }

    private func comments(_ path: String) throws -> [String] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let reader = TrackReader()
        let found = try reader.read(descriptor, keepsComments: true)
        // Nothing else depends on it.
        var others = found
        others.comments = []
        #expect(try reader.read(descriptor) == others)
        return found.comments.map { "\($0.name)=\($0.value)" }
    }

    @Test("all fields of Vorbis comments by the names in the file, but for pictures") func commentsOfVorbis() throws {
        let given = [
            "TITLE=A", "album artist=B", "MY_TAG=one", "MY_TAG=two\nlines", "=no name", "no separator", "EMPTY=",
            "YEAR=1999", "TRACKNUMBER=3/4", "METADATA_BLOCK_PICTURE=AAAA", "REPLAYGAIN_TRACK_GAIN=-7 dB", "日本=語",
            String(repeating: "n", count: 300) + "=long",
        ]
        var options = FLACOptions()
        options.blocks = [AudioMaterial.vorbisComments(given.map { Array($0.utf8) })]
        let sound = AudioMaterial.noise(frames: 100).flac(options)
        let whole = [
            "TITLE=A", "album artist=B", "MY_TAG=one", "MY_TAG=two lines", "YEAR=1999", "TRACKNUMBER=3/4",
            "REPLAYGAIN_TRACK_GAIN=-7 dB", "日本=語",
        ]
        #expect(try comments(folder.write(sound, "a.flac")) == whole)
    }

    /// A program that writes tags of each format with mutagen.
    private static let odd = """
        import sys
        import mutagen
        from mutagen.apev2 import APEv2
        from mutagen.id3 import ID3, TIT2, TPE1, TXXX
        mp3, wav, m4a, wma = sys.argv[1:]
        tags = ID3()
        tags.add(TIT2(encoding=1, text="Tïtle"))
        tags.add(TPE1(encoding=3, text=["One", "Two"]))
        tags.add(TXXX(encoding=1, desc="My Tag", text=["ö", "2"]))
        tags.save(mp3)
        ape = APEv2()
        ape["Odd"] = ["x", "y"]
        ape.save(mp3)
        file = mutagen.File(m4a)
        file["\\xa9nam"] = "Tïtle"
        file["----:com.apple.iTunes:My Tag"] = [mutagen.mp4.MP4FreeForm("ö".encode())]
        file.save()
        file = mutagen.File(wma)
        file["Title"] = "Tïtle"
        file["My Tag"] = "ö"
        file.save()
        """

    @Test("all fields of the other formats: by their names, or else by the usual ones") func commentsOfOthers() throws {
        let source = folder.write(AudioMaterial.waves(frames: 44_100).wave(), "source.wav")
        let (mp3, wav, m4a, wma) = (
            folder.path("c.mp3"), try wave([("INAM", Array("Title".utf8))], isFirst: true, "c.wav"),
            folder.path("c.m4a"), folder.path("c.wma")
        )
        for path in [mp3, m4a, wma] {
            let made = TestProcess.run(["ffmpeg", "-v", "error", "-i", source, "-map_metadata", "-1", path])
            try #require(made.status == 0, "\(made.text)")
        }
        let written = TestProcess.run(["/usr/bin/python3", "-c", Self.odd, mp3, wav, m4a, wma])
        try #require(written.status == 0, "\(written.text)")
        #expect(
            try comments(mp3) == ["My Tag=ö", "My Tag=2", "Odd=x", "Odd=y", "TITLE=Tïtle", "ARTIST=One", "ARTIST=Two"])
        #expect(try comments(wav) == ["TITLE=Title"])
        let ofMP4 = try comments(m4a)
        #expect(ofMP4.contains("My Tag=ö") && ofMP4.contains("TITLE=Tïtle"), "\(ofMP4)")
        let ofASF = try comments(wma)
        #expect(ofASF.contains("My Tag=ö") && ofASF.contains("TITLE=Tïtle"), "\(ofASF)")
    }
}
