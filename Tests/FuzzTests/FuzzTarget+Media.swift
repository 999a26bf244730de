import ArtworkLookup
import AudioCore
import AudioDecoders
import CLinux
import Glibc
import NowPlaying
import TestSupport
import TrackReading

/// Files: lists, pictures, and audio with its metadata.
extension FuzzTarget {
    /// A list; the first byte says of which kind.
    static let playlist = FuzzTarget(
        name: "playlist",
        seeds: {
            [
                [0] + Array("#EXTM3U\n#EXTALB:A\n#EXTINF:12,B - C\nd/e.flac\n".utf8),
                [0, 0xFF, 0xFE, 0x61, 0, 0x0A, 0],
                [2] + Array("[playlist]\nFile1=a.mp3\nTitle1=T\nLength1=9\nNumberOfEntries=1\n".utf8),
                [3]
                    + Array(
                        "<playlist><trackList><track><title>x</title><location>a</location></track></trackList></playlist>"
                            .utf8),
            ]
        },
        run: { bytes in
            guard let first = bytes.first else { return }
            let kinds = PlaylistKind.allCases
            guard let entries = try? kinds[Int(first) % kinds.count].entries(Array(bytes.dropFirst())) else { return }
            for entry in entries {
                precondition(!entry.location.isEmpty)
                precondition((entry.metadata.title ?? "").utf8.count <= 4096)
                precondition((entry.duration ?? 0) >= 0)
            }
        })

    /// A cue sheet.
    static let cueSheet = FuzzTarget(
        name: "cue-sheet",
        seeds: {
            [
                "PERFORMER \"P\"\nTITLE \"A\"\nREM DATE 1999\nFILE \"a.flac\" WAVE\n TRACK 01 AUDIO\n  TITLE \"x\"\n  INDEX 00 00:00:00\n  INDEX 01 00:02:10\n TRACK 02 AUDIO\n  INDEX 01 03:04:74\n"
            ].map { Array($0.utf8) }
        },
        run: { bytes in
            guard let sheet = try? CueSheet(text: bytes) else { return }
            precondition(sheet.tracks.allSatisfy { $0.file >= 0 && $0.file < sheet.files.count })
        })

    /// A picture.
    static let image = FuzzTarget(
        name: "image",
        seeds: {
            [
                [0x89] + Array("PNG\r\n\u{1a}\n".utf8) + [0, 0, 0, 13] + Array("IHDR".utf8) + [
                    0, 0, 1, 0, 0, 0, 1, 0, 8, 2, 0, 0, 0,
                ],
                Array("GIF89a".utf8) + [10, 0, 20, 0, 0, 0, 0],
                [0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0, 9, 0, 7, 1, 1, 0x11, 0],
            ]
        },
        run: { bytes in
            guard let header = ImageHeader(bytes) else { return }
            precondition(header.width > 0 && header.height > 0)
        })

    /// A short film, of which the header is read.
    static let film = FuzzTarget(
        name: "film", seeds: { [Array("GIF89a".utf8) + [10, 0, 20, 0, 0, 0, 0, 0x21, 0xF9, 4, 0, 9, 0, 0, 0]] },
        run: { bytes in
            let descriptor = linux_memory_file("fuzz")
            _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard let file = try? MediaFile(descriptor: descriptor), let header = try? VideoHeader(file) else { return }
            precondition((1...65_535).contains(header.width) && (1...65_535).contains(header.height))
        })

    /// One target for each kind of file, so that each has a corpus of its own: the content alone does not choose the decoder.
    static let media: [FuzzTarget] = [
        medium("flac") {
            [[$0.flac()], made($0, "flac", ["-compression_level", "8", "-metadata", "title=T"])].flatMap { $0 }
        },
        medium("wave") { [$0.wave(), $0.rf64(), $0.w64(), $0.aiff(), $0.au(), $0.caf()] },
        medium("mp3") { made($0, "mp3", ["-codec:a", "libmp3lame", "-b:a", "32k", "-metadata", "title=T"]) },
        medium("vorbis", repair: withSums) { made($0, "ogg", ["-codec:a", "libvorbis", "-metadata", "title=T"]) },
        medium("ogg-flac", repair: withSums) { made($0, "oga", ["-codec:a", "flac", "-metadata", "title=T"]) },
        medium("opus", repair: withSums) { made($0, "opus", ["-codec:a", "libopus", "-b:a", "24k"]) },
    ]

    /// A file of this kind is opened, its tags, pictures and cue sheet are read, it is played for a while and sought in.
    private static func medium(
        _ name: String, repair: @escaping @Sendable ([UInt8]) -> [UInt8] = { $0 },
        _ seeds: @escaping @Sendable (AudioMaterial) -> [[UInt8]]
    ) -> FuzzTarget {
        FuzzTarget(
            name: name,
            seeds: { seeds(AudioMaterial.waves(frames: 3000)) },
            run: { bytes in
                let descriptor = linux_memory_file("fuzz")
                let bytes = repair(bytes)
                _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                readTrack(descriptor)
                guard let file = try? MediaFile(descriptor: descriptor) else { return }
                for picture in (try? EmbeddedPicture.all(in: file)) ?? [] {
                    let content = try? picture.bytes(in: file, limit: 1 << 20)
                    precondition((content?.count ?? 0) <= 1 << 20)
                }
                _ = try? EmbeddedCueSheet.sheet(of: file)
                guard let decoder = try? DecoderRegistry.openDecoder(for: file) else { return }
                play(decoder)
            })
    }

    /// The facts of a file, as a scanner of a library reads them.
    static func readTrack(_ descriptor: Int32) {
        guard let facts = try? TrackReader().read(descriptor, keepsComments: true) else { return }
        precondition(facts.tags.entries.count <= TrackTags.maximumEntries)
        precondition(facts.tags.entries.allSatisfy { (1...4096).contains($0.value.utf8.count) })
        precondition((0...TimeLimit.seconds).contains(facts.duration ?? 0))
        precondition(facts.chapters.count <= Chapter.limit)
        precondition(facts.comments.count <= 512)
        precondition(
            facts.comments.allSatisfy {
                (1...256).contains($0.name.utf8.count) && (1...4096).contains($0.value.utf8.count)
            })
    }

    private static func play(_ decoder: any AudioDecoder) {
        precondition((decoder.metadata.title ?? "").utf8.count <= 4096)
        precondition((decoder.lengthInFrames ?? 0) >= 0 && decoder.format.sampleRate > 0)
        let bytes = 1 << 15
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 16)
        defer { room.deallocate() }
        let most = bytes / decoder.format.bytesPerFrame
        func read() -> Bool {
            guard let frames = try? decoder.read(into: room) else { return false }
            precondition((0...most).contains(frames))
            _ = decoder.takeMetadataChange()
            return frames > 0
        }
        for _ in 0..<20 where !read() { break }
        guard decoder.isSeekable else { return }
        for place in [1000, 0, (decoder.lengthInFrames ?? 1) - 1, Int64.max / 4] where place >= 0 {
            if (try? decoder.seek(toFrame: place)) != nil { _ = read() }
        }
    }

    /// The bytes with a correct checksum of each page, so that changes reach the codec.
    @Sendable private static func withSums(_ bytes: [UInt8]) -> [UInt8] {
        var result = bytes
        var place = 0
        while place + 27 <= bytes.count, bytes[place..<place + 4].elementsEqual("OggS".utf8) {
            let table = bytes[(place + 27)...].prefix(Int(bytes[place + 26]))
            let end = table.endIndex + table.reduce(0) { $0 + Int($1) }
            guard table.count == bytes[place + 26], end <= bytes.count else { break }
            var page = Array(bytes[place..<end])
            AudioMaterial.setOggChecksum(&page)
            result.replaceSubrange(place..<end, with: page)
            place = end
        }
        return result
    }

    /// The material coded by FFmpeg.
    static func made(_ material: AudioMaterial, _ ending: String, _ options: [String]) -> [[UInt8]] {
        let folder = TemporaryFolder()
        let source = folder.write(material.wave(), "source.wav")
        let result = folder.path("made." + ending)
        let status = AudioMaterial.run(
            "ffmpeg", ["-loglevel", "error", "-bitexact", "-i", source, "-bitexact"] + options + [result])
        return status == 0 ? [folder.read("made." + ending)] : []
    }
}
