import CLinux
import Glibc
import NowPlaying
import TestSupport
import Testing
import TrackReading

/// Files that lie, are cut off or damaged: the reader of tracks says something bounded of each, or that it is none.
@Suite struct TrackHostileTests {
    private let reader = TrackReader()

    /// The facts of these bytes; nil: they are no sound.
    @discardableResult private func read(_ bytes: [UInt8]) -> TrackFacts? {
        let descriptor = linux_memory_file("track")
        defer { close(descriptor) }
        _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        let facts = try? reader.read(descriptor)
        if let facts { Self.check(facts) }
        return facts
    }

    /// Everything within the limits that are promised.
    private static func check(_ facts: TrackFacts) {
        #expect(facts.tags.entries.count <= TrackTags.maximumEntries)
        #expect(facts.tags.entries.reduce(0) { $0 + $1.value.utf8.count } <= TrackTags.maximumBytes)
        #expect(facts.tags.entries.allSatisfy { (1...4096).contains($0.value.utf8.count) })
        #expect((0...TimeLimit.seconds).contains(facts.duration ?? 0))
        #expect(facts.chapters.count <= Chapter.limit)
        for number in [facts.trackNumber, facts.trackCount, facts.discNumber, facts.discCount, facts.movementNumber] {
            #expect((1...99_999).contains(number ?? 1))
        }
    }

    private static func big(_ number: Int, _ count: Int = 4) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * (count - 1 - $0))) }
    }
    private static func little(_ number: Int, _ count: Int = 4) -> [UInt8] { big(number, count).reversed() }
    private static func safe(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(number >> (21 - 7 * $0) & 0x7F) } }
    private static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        big(content.count + 8) + name.unicodeScalars.map { UInt8($0.value) } + content
    }

    private static let sound: [UInt8] = (0..<3).flatMap { _ in
        [0xFF, 0xFB, 0x90, 0xC4] + [UInt8](repeating: 0, count: 413)
    }

    /// A small file of each kind, with tags.
    private static let samples: [(name: String, bytes: [UInt8])] = {
        let material = AudioMaterial.noise(frames: 200)
        let comments = ["TITLE=T", "ARTIST=A", "ARTIST=B", "CHAPTER001=00:00:01.000", "CHAPTER001NAME=x", "LYRICS=l"]
        var options = FLACOptions()
        options.blocks = [AudioMaterial.vorbisComments(comments.map { Array($0.utf8) })]
        func frame(_ name: String, _ content: [UInt8]) -> [UInt8] {
            Array(name.utf8) + safe(content.count) + [0, 0] + content
        }
        let frames =
            frame("TIT2", [1, 0xFF, 0xFE, 0x41, 0, 0x3D, 0xD8, 0x00, 0xDE]) + frame("TPE1", [3, 0x41, 0, 0x42])
            + frame("TXXX", [0] + Array("WORK\u{0}w".utf8)) + frame("TIPL", [0] + Array("mix\u{0}M".utf8))
            + frame("CHAP", [0x63, 0] + big(1000) + big(2000) + big(0) + big(0) + frame("TIT2", [0, 0x43]))
            + frame("APIC", [0] + Array("image/png\u{0}\u{3}\u{0}".utf8) + [1, 2, 3, 4])
            + frame("RVA2", Array("track".utf8) + [0, 1, 0xFC, 0, 16, 0x40, 0])
        let tag = Array("ID3".utf8) + [4, 0, 0] + safe(frames.count) + frames
        let item = little(3) + little(0) + Array("Artist".utf8) + [0] + Array("A\u{0}B".utf8)
        let edge = Array("APETAGEX".utf8) + little(2000) + little(item.count + 32) + little(1)
        let ape = item + edge + [0, 0, 0, 0] + [UInt8](repeating: 0, count: 8)
        func text(_ name: String, _ value: String) -> [UInt8] {
            box(name, box("data", big(1) + big(0) + Array(value.utf8)))
        }
        let entry = big(0, 6) + big(1, 2) + big(0, 8) + big(2, 2) + big(16, 2) + big(0) + big(44_100 << 16)
        let table = box("stsd", big(0) + big(1) + box("mp4a", entry))
        let media =
            box("mdhd", big(0, 12) + big(44_100) + big(88_200) + big(0))
            + box("hdlr", big(0, 8) + Array("soun".utf8) + big(0, 12)) + box("minf", box("stbl", table))
        let list = box(
            "ilst", text("\u{A9}nam", "T") + box("trkn", box("data", big(0, 8) + big(3) + big(11, 2) + big(0, 2))))
        let user = box("udta", box("meta", big(0) + box("hdlr", big(0, 24)) + list))
        let header = box("mvhd", big(0, 12) + big(1000) + big(2000) + big(0, 80))
        let film = box("ftyp", Array("M4A ".utf8)) + box("moov", header + box("trak", box("mdia", media)) + user)
        let info = [("INAM", Array("T".utf8)), ("IART", Array("A".utf8))]
        return [
            ("flac", material.flac(options)), ("mp3", tag + sound + ape), ("mp4", film),
            ("wave", material.wave(info: info)), ("aiff", material.aiff()), ("au", material.au()),
            ("caf", material.caf()), ("w64", material.w64()), ("rf64", material.rf64()),
            ("wavpack", Array("wvpk".utf8) + [UInt8](repeating: 1, count: 40) + ape),
            ("musepack", Array("MPCKSH".utf8) + [15, 0, 0, 0, 0, 8, 0x88, 0x10, 0, 0x10, 0] + ape),
        ]
    }()

    @Test("every sample is read") func samples() throws {
        for (name, bytes) in Self.samples {
            let facts = try #require(read(bytes), "\(name)")
            #expect(facts.format.sampleRate > 0, "\(name)")
        }
        let mp3 = try #require(read(Self.samples[1].bytes))
        #expect(mp3.tags.first(.title) == "A😀")
        #expect(mp3.tags[.artist] == ["A", "B"])
        #expect(mp3.tags[.mixer] == ["M"])
        #expect(mp3.chapters == [Chapter(start: 1, title: "C")])
        #expect(mp3.pictureType == "image/png")
        #expect(mp3.loudness == LoudnessTags(trackGain: -2, trackPeak: 0.5))
        let film = try #require(read(Self.samples[2].bytes))
        #expect((film.tags.first(.title), film.trackNumber, film.trackCount) == ("T", 3, 11))
        #expect(film.duration == 2)
    }

    @Test("cut off at every byte") func truncated() {
        for (_, bytes) in Self.samples {
            for length in 0..<min(bytes.count, 2500) { read(Array(bytes[..<length])) }
        }
    }

    @Test("bytes changed at random") func flipped() {
        var random = SeededRandom(seed: 7)
        for (_, bytes) in Self.samples {
            for _ in 0..<1000 {
                var damaged = bytes
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    // Headers are at the beginning.
                    let reach = Bool.random(using: &random) ? bytes.count : min(bytes.count, 120)
                    damaged[Int.random(in: 0..<reach, using: &random)] =
                        [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)].randomElement(
                            using: &random) ?? 0
                }
                read(damaged)
            }
        }
    }

    @Test("sizes of 4 GiB and more, and endless lists, cost next to nothing") func lies() throws {
        let endless: [(name: String, bytes: [UInt8])] = [
            (
                "frames",
                Array("ID3".utf8) + [3, 0, 0] + Self.safe(0xFFF_FFFF)
                    + (0..<200_000).flatMap { _ in Array("TPE1".utf8) + [0, 0, 0, 2, 0, 0, 0, 0x41] } + Self.sound
            ),
            (
                "comments",
                Array("fLaC".utf8) + [0x84, 0xFF, 0xFF, 0xFF] + Self.little(0) + Self.little(-1)
                    + (0..<200_000).flatMap { _ in Self.little(8) + Array("ARTIST=x".utf8) }
            ),
            ("boxes", Self.box("ftyp", Self.big(0)) + (0..<200_000).flatMap { _ in Self.box("free", []) }),
            ("huge box", Self.big(1) + Array("ftyp".utf8) + [UInt8](repeating: 0xFF, count: 64)),
            (
                "endless atoms",
                Self.box("ftyp", Self.big(0)) + Self.big(-1) + Array("moov".utf8)
                    + (0..<100_000).flatMap { _ in Self.box("trak", []) }
            ),
            (
                "chunks",
                Array("RIFF".utf8) + Self.big(-1) + Array("WAVE".utf8)
                    + (0..<200_000).flatMap { _ in Array("junk".utf8) + Self.little(0) }
            ),
            (
                "items",
                Self.sound + [UInt8](repeating: 0, count: 1 << 20) + Array("APETAGEX".utf8) + Self.little(2000)
                    + Self.little(1 << 20) + Self.little(-1) + [0, 0, 0, 0] + [UInt8](repeating: 0, count: 8)
            ),
            (
                "pages",
                (0..<100_000).flatMap { _ in
                    Array("OggS".utf8) + [0, 2] + [UInt8](repeating: 0, count: 20) + [0] as [UInt8]
                }
            ),
            ("frames of nothing", [UInt8](repeating: 0xFF, count: 4 << 20)),
        ]
        for (name, bytes) in endless {
            let descriptor = linux_memory_file("track")
            defer { close(descriptor) }
            _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            // The end is far away, and all holes before it.
            try #require(ftruncate(descriptor, 5 << 40) == 0)
            var before = rusage()
            var after = rusage()
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &before)
            if let facts = try? reader.read(descriptor) { Self.check(facts) }
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &after)
            #expect(reader.reads <= 4096, "\(name)")
            #expect(after.ru_maxrss - before.ru_maxrss < 32 << 10, "\(name)")
        }
    }

    @Test("no file, and none that can be read") func noFile() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        #expect(throws: TrackReadingError.notAFile) { try reader.read(ends[0]) }
        #expect(throws: TrackReadingError.unreadable(EBADF)) { try reader.read(-1) }
        #expect(throws: TrackReadingError.notRecognised) {
            let descriptor = linux_memory_file("track")
            defer { close(descriptor) }
            _ = try reader.read(descriptor)
        }
    }
}
