import Testing
import TestSupport

/// The recordings that servers of the table send: made once.
final class BadServerMaterial: Sendable {
    /// Seconds of a part of the HLS stream, and the part in which its trouble comes.
    static let (segmentSeconds, troubledSegment) = (2.0, 4)
    /// Steps of each connection of a station.
    static let liveSteps = [0..<16, 16..<32, 32..<48]

    private let files: [BadServerRow.Format: [UInt8]]
    /// The same with its index at the end.
    private let lateIndex: [UInt8]
    private let stations: [BadServerRow.Format: [[UInt8]]]
    let segments: [[UInt8]]

    /// Makes all recordings by ffmpeg in a folder.
    init(_ folder: TemporaryFolder) throws {
        func wave(_ steps: Range<Int>) -> String {
            let tones = AudioMaterial(
                sampleRate: StepTones.sampleRate, channels: 2, bits: 16, samples: StepTones.samples(steps))
            return folder.write(tones.wave(), "\(steps.lowerBound)-\(steps.upperBound).wav")
        }
        func coded(_ source: String, _ name: String, _ options: [String]) throws -> [UInt8] {
            let words = ["-v", "error", "-y", "-i", source] + options + [folder.path(name)]
            try #require(AudioMaterial.run("ffmpeg", words) == 0)
            return folder.read(name)
        }
        let options: [BadServerRow.Format: (name: String, words: [String])] = [
            .mp3: ("a.mp3", ["-b:a", "320k"]), .aac: ("a.aac", ["-b:a", "256k"]),
            .ogg: ("a.ogg", ["-c:a", "libvorbis", "-q:a", "8"]), .flac: ("a.flac", []),
            .m4a: ("a.m4a", ["-c:a", "aac", "-b:a", "256k", "-movflags", "+faststart"]),
        ]
        let whole = wave(0..<StepTones.count)
        var (files, stations): ([BadServerRow.Format: [UInt8]], [BadServerRow.Format: [[UInt8]]]) = ([:], [:])
        for (format, option) in options { files[format] = try coded(whole, option.name, option.words) }
        lateIndex = try coded(whole, "b.m4a", ["-c:a", "aac", "-b:a", "256k"])
        for part in Self.liveSteps {
            let source = wave(part)
            for (format, option) in options where format != .m4a {
                let words = option.words + (format == .mp3 ? ["-write_xing", "0", "-id3v2_version", "0"] : [])
                stations[format, default: []].append(try coded(source, option.name, words))
            }
        }
        _ = try coded(
            whole, "a.m3u8",
            [
                "-c:a", "aac", "-b:a", "256k", "-f", "hls", "-hls_time", "\(Self.segmentSeconds)", "-hls_list_size", "0",
                "-hls_segment_filename", folder.path("%d.ts"),
            ])
        var segments: [[UInt8]] = []
        while case let bytes = folder.read("\(segments.count).ts"), !bytes.isEmpty { segments.append(bytes) }
        self.segments = segments
        (self.files, self.stations) = (files, stations)
        try #require(segments.count >= 12)
    }

    /// The file of a row. A server that sends parts has M4A with the index at the end.
    func file(_ row: BadServerRow) -> [UInt8] {
        row.format == .m4a && row.sendsParts && row.hasLength ? lateIndex : files[row.format] ?? []
    }

    /// What each connection of a station sends.
    func live(_ format: BadServerRow.Format) -> [[UInt8]] { stations[format] ?? [] }
}
