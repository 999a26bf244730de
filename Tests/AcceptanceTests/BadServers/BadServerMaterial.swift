import TestSupport
import Testing

/// The recordings that servers of the table send, made once: noise, whose frames can be found in any recording of it.
final class BadServerMaterial: Sendable {
    /// A coded recording, and its left channel as FFmpeg decodes it.
    struct Coded: Sendable {
        let bytes: [UInt8]
        let frames: [Int16]
    }

    static let sampleRate = 44_100
    /// Seconds of the file of a row, of the file that is sought in, and of all that a connection of a station sends.
    static let (shortSeconds, longSeconds, liveSeconds) = (6, 24, 8)
    /// Seconds of a part of an HLS stream, and the number of parts that a growing list shows.
    static let (segmentSeconds, shownSegments) = (1, 3)
    private static let segmentCount = 45

    private let short: [BadServerRow.Format: Coded]
    private let long: [BadServerRow.Format: Coded]
    private let stations: [BadServerRow.Format: [Coded]]
    /// Parts of the HLS stream.
    let segments: [[UInt8]]
    private let stream: Coded

    /// Makes all recordings by ffmpeg.
    init() throws {
        let folder = TemporaryFolder()
        let (shortWave, longWave) = (Self.noise(Self.shortSeconds, 1, folder), Self.noise(Self.longSeconds, 2, folder))
        var (short, long, stations):
            ([BadServerRow.Format: Coded], [BadServerRow.Format: Coded], [BadServerRow.Format: [Coded]])
        (short, long, stations) = ([:], [:], [:])
        let all = BadServerRow.Format.allCases.filter { $0 != .hls }
        try Self.code([(shortWave, "short"), (longWave, "long")], all, folder) { format, name, coded in
            if name == "short" { short[format] = coded } else { long[format] = coded }
        }
        let waves = (0..<3).map { (Self.noise(Self.liveSeconds, UInt64(3 + $0), folder), "connection \($0)") }
        try Self.code(waves, all.filter { $0 != .m4a }, isLive: true, folder) { stations[$0, default: []].append($2) }
        (self.short, self.long, self.stations) = (short, long, stations)
        let whole = Self.noise(Self.segmentCount * Self.segmentSeconds, 9, folder)
        try Self.ffmpeg(
            [
                "-i", whole, "-ac", "2", "-c:a", "aac", "-b:a", "256k", "-aac_pns", "0", "-f", "hls", "-hls_time",
                "\(Self.segmentSeconds)", "-hls_list_size", "0", "-hls_segment_filename", folder.path("%d.ts"),
                folder.path("a.m3u8"),
            ])
        var segments: [[UInt8]] = []
        while case let bytes = folder.read("\(segments.count).ts"), !bytes.isEmpty { segments.append(bytes) }
        try #require(segments.count >= Self.segmentCount)
        self.segments = segments
        stream = Coded(bytes: [], frames: try Self.decoded("a.m3u8", folder))
    }

    private static func ffmpeg(_ words: [String]) throws {
        try #require(AudioMaterial.run("ffmpeg", ["-v", "error", "-y"] + words) == 0, "ffmpeg \(words)")
    }

    /// A WAV file of noise.
    private static func noise(_ seconds: Int, _ seed: UInt64, _ folder: TemporaryFolder) -> String {
        let noise = AudioMaterial.noise(frames: seconds * sampleRate, channels: 1, bits: 14, seed: seed)
        let quiet = AudioMaterial(sampleRate: sampleRate, channels: 1, bits: 16, samples: noise.samples)
        return folder.write(quiet.wave(), "\(seed).wav")
    }

    private static func decoded(_ name: String, _ folder: TemporaryFolder) throws -> [Int16] {
        try ffmpeg(["-i", folder.path(name), "-f", "s16le", "-ac", "2", folder.path("decoded")])
        return LeftChannel.samples(folder.read("decoded"))
    }

    private static func code(
        _ waves: [(String, String)], _ formats: [BadServerRow.Format], isLive: Bool = false, _ folder: TemporaryFolder,
        _ take: (BadServerRow.Format, String, Coded) -> Void
    ) throws {
        for (wave, name) in waves {
            var words = ["-i", wave]
            for format in formats {
                words += ["-ac", "2"] + format.options
                if isLive, format == .mp3 { words += ["-write_xing", "0", "-id3v2_version", "0"] }
                words.append(folder.path("\(name).\(format.suffix)"))
            }
            try ffmpeg(words)
            for format in formats {
                let file = "\(name).\(format.suffix)"
                take(format, name, Coded(bytes: folder.read(file), frames: try decoded(file, folder)))
            }
        }
    }

    // MARK: Rows

    /// The file of a row.
    func file(_ row: BadServerRow) -> Coded {
        row.format == .hls ? stream : (row.isSought ? long : short)[row.format]!
    }

    /// Parts of the HLS file of a row.
    func parts(_ row: BadServerRow) -> ArraySlice<[UInt8]> { segments.prefix(seconds(row) / Self.segmentSeconds) }

    /// Seconds of the file of a row.
    func seconds(_ row: BadServerRow) -> Int { row.isSought ? Self.longSeconds : Self.shortSeconds }

    /// All bytes of the file of a row.
    func size(_ row: BadServerRow) -> Int {
        row.format == .hls ? parts(row).reduce(0) { $0 + $1.count } : file(row).bytes.count
    }

    /// All that each connection of a station sends.
    func station(_ format: BadServerRow.Format) -> [Coded] { stations[format] ?? [] }

    /// Each file or part whose sound a row may play.
    func sources(_ row: BadServerRow) -> [Coded] {
        row.isLive && row.format != .hls ? station(row.format) : [file(row)]
    }
}

extension BadServerRow.Format {
    fileprivate var suffix: String { self == .aac ? "aac" : self == .hls ? "ts" : rawValue }

    /// Words of ffmpeg. Without noise substitution, AAC decodes to the same frames each time.
    fileprivate var options: [String] {
        switch self {
        case .mp3: ["-c:a", "libmp3lame", "-b:a", "320k"]
        case .aac, .hls: ["-c:a", "aac", "-b:a", "256k", "-aac_pns", "0"]
        case .m4a: ["-c:a", "aac", "-b:a", "256k", "-aac_pns", "0", "-movflags", "+faststart"]
        case .ogg: ["-c:a", "libvorbis", "-q:a", "8"]
        case .flac: ["-c:a", "flac"]
        }
    }
}

/// The left channel of 16 bit stereo.
enum LeftChannel {
    static func samples(_ stereo: [UInt8]) -> [Int16] {
        stereo.withUnsafeBytes { bytes in
            [Int16](unsafeUninitializedCapacity: bytes.count / 4) { target, count in
                while 4 * count + 3 < bytes.count {
                    target[count] = bytes.loadUnaligned(fromByteOffset: 4 * count, as: Int16.self)
                    count += 1
                }
            }
        }
    }
}
