import TestSupport

/// Files of many containers, and random changes of their headers, sizes, tags, pictures and times.
struct CraftedFiles {
    /// A container and a file of it to begin with.
    struct Seed: Sendable {
        var name: String
        var bytes: [UInt8]
    }

    /// Name of the file, and the arguments of ffmpeg to write it.
    private static let containers: [(name: String, options: [String])] = [
        ("a.mp3", ["-c:a", "libmp3lame"]), ("a.mp2", ["-c:a", "mp2"]), ("a.flac", []),
        ("a.ogg", ["-c:a", "libvorbis"]),
        ("a.opus", ["-c:a", "libopus"]), ("a.oga", ["-c:a", "flac"]), ("a.wav", ["-write_id3v2", "1"]),
        ("f.wav", ["-c:a", "pcm_f32le"]), ("r.wav", ["-rf64", "always"]), ("a.w64", []),
        ("a.aiff", ["-write_id3v2", "1"]), ("a.au", []), ("a.caf", []), ("a.m4a", ["-c:a", "aac"]),
        ("b.m4a", ["-c:a", "alac"]), ("a.mka", ["-c:a", "flac"]), ("a.webm", ["-c:a", "libopus"]), ("a.wma", []),
        ("a.wv", ["-c:a", "wavpack"]), ("a.tta", ["-c:a", "tta"]), ("a.aac", ["-c:a", "aac"]),
        ("a.ac3", ["-c:a", "ac3"]),
        ("a.voc", []), ("a.flv", ["-c:a", "libmp3lame"]), ("a.avi", ["-c:a", "libmp3lame"]),
        ("a.spx", ["-c:a", "libspeex", "-ar", "16000", "-ac", "1"]), ("a.mpg", ["-c:a", "mp2"]),
        ("a.ts", ["-c:a", "aac"]), ("a.aifc", ["-c:a", "adpcm_ima_qt"]), ("a.adx", ["-c:a", "adpcm_adx"]),
    ]

    /// Containers that hold a picture as a stream.
    private static let withPicture: Set = ["a.mp3", "a.flac", "a.m4a", "a.aiff", "a.wav"]

    /// A file of each container, with tags, and a picture where ffmpeg writes one. Without an encoder there is none.
    static func seeds() -> [Seed] {
        let folder = TemporaryFolder()
        let wave = folder.write(AudioMaterial.waves(frames: 22_050).wave(), "source.wav")
        let picture = folder.path("cover.png")
        let make = ["-v", "error", "-y", "-f", "lavfi", "-i", "testsrc=size=16x16", "-frames:v", "1", picture]
        let hasPicture = AudioMaterial.run("ffmpeg", make) == 0
        let tags = ["title=Title", "artist=Artist", "album=Album", "track=3/11", "comment=text", "CUESHEET=x"]
        let block = "METADATA_BLOCK_PICTURE=AAAAAwAAAAlpbWFnZS9wbmcAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQBAgME"
        return containers.compactMap { name, options in
            var words = ["-v", "error", "-nostdin", "-y", "-i", wave]
            if hasPicture, withPicture.contains(name) {
                words += [
                    "-i", picture, "-map", "0:a", "-map", "1:v", "-c:v", "copy", "-disposition:v", "attached_pic",
                ]
            }
            words += (tags + [block]).flatMap { ["-metadata", $0] } + options + [folder.path(name)]
            guard AudioMaterial.run("ffmpeg", words) == 0 else { return nil }
            return Seed(name: name, bytes: folder.read(name))
        }
    }

    /// Marks behind which numbers stand that readers believe.
    private static let marks = [
        "APIC", "ID3", "TIT2", "fmt ", "data", "COMM", "SSND", "moov", "mvhd", "mdhd", "stts", "stsz", "elst", "covr",
        "OggS", "ds64", "id3 ", "Xing", "Info", "LAME", "TAG", "desc", "OpusHead", "fLaC", "RIFF", "strh", "vorbis",
        "METADATA", "ilst", "pakt",
    ].map { Array($0.utf8) }

    /// The file with one to four changes.
    static func crafted(_ seed: Seed, _ numbers: inout SeededRandom) -> [UInt8] {
        var bytes = seed.bytes
        for _ in 0..<Int.random(in: 1...4, using: &numbers) where bytes.count > 16 { change(&bytes, &numbers) }
        if bytes.starts(with: "OggS".utf8) { repairPages(&bytes) }
        return bytes
    }

    private static func place(_ bytes: [UInt8], _ numbers: inout SeededRandom) -> Int {
        let last = bytes.count - 1
        switch Int.random(in: 0..<10, using: &numbers) {
        case 0...3:
            let mark = marks.filter { bytes.firstRange(of: $0) != nil }.randomElement(using: &numbers)
            if let mark {
                let found = bytes.ranges(of: mark).randomElement(using: &numbers)?.upperBound ?? 0
                return min(last, found + Int.random(in: 0..<32, using: &numbers))
            }
            return Int.random(in: 0...min(last, 64), using: &numbers)
        case 4...6: return Int.random(in: 0...min(last, 128), using: &numbers)
        case 7: return Int.random(in: 0...min(last, 4096), using: &numbers)
        case 8: return max(0, last - Int.random(in: 0..<300, using: &numbers))
        default: return Int.random(in: 0...last, using: &numbers)
        }
    }

    private static func change(_ bytes: inout [UInt8], _ numbers: inout SeededRandom) {
        let place = place(bytes, &numbers)
        switch Int.random(in: 0..<10, using: &numbers) {
        case 0...1: bytes[place] = [0, 1, 0x40, 0x7F, 0x80, 0xFF].randomElement(using: &numbers)!
        case 2...6:
            // A number at an edge, in either order.
            let width = [2, 3, 4, 8].randomElement(using: &numbers)!
            let edges: [[UInt8]] = [
                [UInt8](repeating: 0, count: width), [UInt8](repeating: 0, count: width - 1) + [1],
                [0x7F] + [UInt8](repeating: 0xFF, count: width - 1), [0x80] + [UInt8](repeating: 0, count: width - 1),
                [UInt8](repeating: 0xFF, count: width), [UInt8](repeating: 0xFF, count: width - 1) + [0xFE],
                [UInt8](repeating: 0x7F, count: width), [0x43, 0xE0] + [UInt8](repeating: 0, count: width),
            ]
            var number = Array(edges.randomElement(using: &numbers)!.prefix(width))
            if Bool.random(using: &numbers) { number.reverse() }
            let end = min(bytes.count, place + width)
            bytes.replaceSubrange(place..<end, with: number.prefix(end - place))
        case 7:
            for offset in place..<min(bytes.count, place + Int.random(in: 1...16, using: &numbers)) {
                bytes[offset] = UInt8.random(in: 0...255, using: &numbers)
            }
        case 8: bytes.insert(contentsOf: bytes[place...].prefix(Int.random(in: 1...600, using: &numbers)), at: place)
        default:
            let count = min(bytes.count - place, Int.random(in: 1...600, using: &numbers))
            if Bool.random(using: &numbers) {
                bytes.removeSubrange(place..<place + count)
            } else {
                bytes.removeLast(count)
            }
        }
    }

    /// Gives each page of Ogg its right checksum (RFC 3533 §6): readers pass over a page whose checksum is wrong.
    private static func repairPages(_ bytes: inout [UInt8]) {
        var place = 0
        while place + 27 <= bytes.count, bytes[place...].starts(with: "OggS".utf8) {
            let head = place + 27 + Int(bytes[place + 26])
            guard head <= bytes.count else { return }
            let end = head + bytes[(place + 27)..<head].reduce(0) { $0 + Int($1) }
            guard end <= bytes.count else { return }
            for index in 22..<26 { bytes[place + index] = 0 }
            var sum: UInt32 = 0
            for byte in bytes[place..<end] {
                sum ^= UInt32(byte) << 24
                for _ in 0..<8 { sum = sum & 0x8000_0000 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
            }
            for index in 0..<4 { bytes[place + 22 + index] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(index))) }
            place = end
        }
    }
}
