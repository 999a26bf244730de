import AudioCore
import AudioDecoders
import Foundation
import Glibc
import NowPlaying
import TestSupport
import Testing
import TrackReading

/// Facts of files for a library, beside mutagen's reading of the tags and the player's of the sound.
@Suite struct TrackReaderTests {
    let folder = TemporaryFolder()

    /// Coders by the endings of their files; IN and OUT stand for the names.
    private static let coders: [(name: String, command: [String])] = [
        ("a.flac", ["flac", "--silent", "--force", "-o", "OUT", "IN"]),
        ("a.oga", ["flac", "--silent", "--force", "--ogg", "-o", "OUT", "IN"]),
        ("a.ogg", ["oggenc", "-Q", "-o", "OUT", "IN"]), ("a.opus", ["opusenc", "--quiet", "IN", "OUT"]),
        ("a.spx", ["speexenc", "IN", "OUT"]), ("a.mp3", ["lame", "--quiet", "-V5", "IN", "OUT"]),
        ("a.v23.mp3", ["lame", "--quiet", "-b", "128", "IN", "OUT"]),
        ("a.v22.mp3", ["lame", "--quiet", "-V9", "IN", "OUT"]),
        ("a.ape.mp3", ["lame", "--quiet", "-V9", "IN", "OUT"]), ("a.mpc", ["mpcenc", "--silent", "IN", "OUT"]),
        ("a.m4a", ["ffmpeg", "-loglevel", "error", "-i", "IN", "-c:a", "aac", "OUT"]),
        ("a.m4b", ["ffmpeg", "-loglevel", "error", "-i", "IN", "-c:a", "alac", "-f", "mp4", "OUT"]),
        ("a.wv", ["ffmpeg", "-loglevel", "error", "-i", "IN", "-c:a", "wavpack", "OUT"]),
        ("a.tta", ["ffmpeg", "-loglevel", "error", "-i", "IN", "-c:a", "tta", "OUT"]),
        ("a.wav", ["cp", "IN", "OUT"]), ("a.v23.wav", ["cp", "IN", "OUT"]), ("a.aiff", ["sox", "IN", "OUT"]),
        ("a.wma", ["ffmpeg", "-loglevel", "error", "-i", "IN", "-c:a", "wmav2", "OUT"]),
    ]

    /// Seconds of files of which FFmpeg, and so the player, knows the length only about: it counts packets of Musepack
    /// and whole frames of Speex.
    private static let otherLengths = ["a.mpc": 3.0, "a.spx": 3.0]

    /// Each file of sound, 3 s long.
    private func files() throws -> [String] {
        let source = folder.write(AudioMaterial.waves(frames: 3 * 44_100).wave(), "source.wav")
        return try Self.coders.map { name, command in
            let path = folder.path(name)
            let words = command.dropFirst().map { $0 == "IN" ? source : $0 == "OUT" ? path : $0 }
            try #require(AudioMaterial.run(command[0], Array(words)) == 0, "\(command[0]) did not make \(name)")
            return path
        }
    }

    /// Every kind of tag in one file of each kind, as mutagen wrote them, and its reading.
    private func tagged() throws -> [(path: String, tags: [String: [String]])] {
        let files = try files()
        let run = TestProcess.run(["/usr/bin/python3", "-c", TagWriter.program] + files)
        try #require(run.status == 0, "\(run.text)")
        let read = try JSONSerialization.jsonObject(with: Data(run.text.utf8)) as? [String: [String: [String]]]
        let expected = try #require(read)
        return try files.map { ($0, try #require(expected[$0])) }
    }

    private func facts(_ path: String) throws -> TrackFacts {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        return try TrackReader().read(descriptor)
    }

    /// Numbers as mutagen's program prints them.
    private func pair(_ number: Int?, _ count: Int?) -> [String] { [number, count].map { $0.map(String.init) ?? "" } }

    @Test("every tag in every kind of file as mutagen has it") func asMutagen() throws {
        for (path, tags) in try tagged() {
            let facts = try facts(path)
            let name = path.split(separator: "/").last ?? ""
            var theirs = tags
            #expect(theirs.count > 40, "\(name)")
            #expect(pair(facts.trackNumber, facts.trackCount) == theirs.removeValue(forKey: "trackNumber"), "\(name)")
            #expect(pair(facts.discNumber, facts.discCount) == theirs.removeValue(forKey: "discNumber"), "\(name)")
            // Windows Media has no such tag.
            let movement = theirs.removeValue(forKey: "movementNumber") ?? ["", ""]
            #expect(pair(facts.movementNumber, facts.movementCount) == movement, "\(name)")
            #expect([facts.isCompilation == true ? "1" : "0"] == theirs.removeValue(forKey: "compilation"), "\(name)")
            #expect([facts.hasLyrics ? "1" : "0"] == theirs.removeValue(forKey: "lyrics"), "\(name)")
            #expect(String(facts.pictureCount) == theirs.removeValue(forKey: "pictures")?.first ?? "0", "\(name)")
            #expect(facts.pictureCount == 0 || facts.pictureType == "image/png", "\(name)")
            for tag in TagName.allCases {
                #expect(facts.tags[tag] == theirs.removeValue(forKey: tag.rawValue) ?? [], "\(name): \(tag)")
            }
            #expect(theirs.isEmpty, "\(name): \(theirs.keys.sorted()) have no tag of ours")
            if !name.contains(".v22") {
                #expect(facts.loudness?.trackGain == -6.54, "\(name)")
                #expect(facts.loudness?.trackPeak == 0.988, "\(name)")
            }
        }
    }

    @Test("length and kind of the sound as the player has them") func asThePlayer() throws {
        for path in try files() {
            let facts = try facts(path)
            let decoder = try DecoderRegistry.openDecoder(path: path)
            let name = path.split(separator: "/").last ?? ""
            let frames = try #require(decoder.lengthInFrames)
            let seconds = Double(frames) / Double(decoder.format.sampleRate)
            #expect(facts.lengthTrust == .exact, "\(name)")
            if let length = Self.otherLengths[String(name)] {
                #expect(facts.duration == length, "\(name)")
            } else {
                // A decoder in another process counts in microseconds.
                #expect(
                    abs((facts.duration ?? 0) - seconds) < 0.000_01, "\(name): \(facts.duration ?? 0), not \(seconds)")
            }
            #expect(facts.format.codec == decoder.mediaFormat.codec, "\(name)")
            #expect(facts.format.sampleRate == decoder.mediaFormat.sampleRate, "\(name)")
            #expect(facts.format.channels == decoder.mediaFormat.channels, "\(name)")
            #expect(facts.format.bitsPerSample == decoder.mediaFormat.bitsPerSample, "\(name)")
        }
    }

    @Test("fields as the player shows them") func asThePlayerShows() throws {
        for (path, _) in try tagged() where !path.hasSuffix(".m4a") && !path.hasSuffix(".m4b") {
            let facts = try facts(path)
            let decoder = try DecoderRegistry.openDecoder(path: path)
            // FFmpeg keeps one value of each name, and of few names.
            if decoder is ChildDecoder { continue }
            let shown = decoder.metadata
            let name = path.split(separator: "/").last ?? ""
            #expect(facts.tags.first(.title) == shown.title, "\(name)")
            #expect(facts.tags.first(.subtitle) == shown.subtitle, "\(name)")
            #expect(facts.tags[.artist].joined(separator: ", ") == shown.artist, "\(name)")
            #expect(facts.tags.singleArtists == shown.artists, "\(name)")
            #expect(facts.tags.first(.album) == shown.albumTitle, "\(name)")
            #expect(facts.tags[.albumArtist].joined(separator: ", ") == shown.albumArtist, "\(name)")
            #expect(facts.tags[.composer].joined(separator: ", ") == shown.composer, "\(name)")
            #expect(facts.tags[.genre].joined(separator: ", ") == shown.genre, "\(name)")
            #expect(facts.date == shown.releaseDate, "\(name)")
            #expect(facts.tags.first(.isrc) == shown.isrc, "\(name)")
            #expect(facts.tags.first(.language) == shown.language, "\(name)")
            #expect((facts.trackNumber, facts.trackCount) == (shown.trackNumber, shown.trackCount), "\(name)")
            #expect((facts.discNumber, facts.discCount) == (shown.discNumber, shown.discCount), "\(name)")
            #expect(facts.loudness == shown.loudness, "\(name)")
            #expect(facts.pictureCount == (try EmbeddedPicture.all(in: MediaFile(path: path)).count), "\(name)")
        }
    }
}
