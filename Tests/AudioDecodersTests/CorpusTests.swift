import AudioCore
import AudioDecoders
import Foundation
import NowPlaying
import TestSupport
import Testing

/// Folder of the files, each corpus in a folder of its own; nil: the test does not run.
private let corporaFolder = ProcessInfo.processInfo.environment["NOWPLAYING_CORPORA"]

/// Files that made other programs fail, from the tests of their packages (`Scripts/corpora` fetches them). Each plays or is
/// refused with a message. It ends, and its length agrees with its header and with FFmpeg.
@Suite(
    .enabled(if: corporaFolder != nil, "part of make corpora"), .serialized)
struct CorpusTests {
    private static let report = ProcessInfo.processInfo.environment["NOWPLAYING_CORPORA_REPORT"]
    static let corpora = corporaFolder.map { names(in: $0) } ?? []

    /// Codecs that we decode: their lengths were checked. The lengths of the others are FFmpeg's, except for the lead-in
    /// of Windows Media.
    private static let own = ["FLAC", "MP3", "MP2", "MP1", "Vorbis", "Opus"]
    /// Files whose pages claim other times than their packets have sound for; all of the sound plays.
    private static let contradictory = ["broken.phobosstream.opus", "broken.testvector01.bit.opus"]

    private static func names(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    }

    private let work = TemporaryFolder()

    @Test(arguments: CorpusTests.corpora) func corpus(_ name: String) throws {
        var (played, refused, cut, unlike) = (0, 0, 0, 0)
        let root = corporaFolder! + "/" + name
        var sums: Set<Data> = []
        for file in (FileManager.default.enumerator(atPath: root)?.allObjects as? [String] ?? []).sorted() {
            let path = root + "/" + file
            guard let content = FileManager.default.contents(atPath: path), sums.insert(content).inserted else {
                continue
            }
            let begin = ContinuousClock.now
            let limit = begin + .seconds(30)
            defer { #expect(ContinuousClock.now < limit + .seconds(5), "\(file) takes too long") }
            do {
                let decoder = try DecoderRegistry.openDecoder(path: path) { ContinuousClock.now > limit }
                let (seconds, promised) = try length(of: decoder)
                played += 1
                let codec = decoder.mediaFormat.codec
                let isCut = abs(seconds - promised) >= 0.05
                if isCut { cut += 1 }
                let isTheirs = !Self.own.contains(codec) && promise(path).map { abs($0 - promised) < 4 } == true
                let isKnown = isTheirs || Self.contradictory.contains { file.hasSuffix($0) }
                #expect(!isCut || isKnown, "\(file): \(promised) s promised, \(seconds) s played, \(codec)")
                guard let theirs = reference(path) else { continue }
                if abs(theirs - seconds) > max(0.15, theirs / 100) {
                    unlike += 1
                    print("unlike: \(name)/\(file): \(seconds) s, FFmpeg \(theirs) s, \(codec)")
                }
            } catch let error as DecodingError {
                refused += 1
                #expect(!error.message.isEmpty)
                if let theirs = reference(path), theirs > 0.05 {
                    print("refused: \(name)/\(file): \(error.message); FFmpeg \(theirs) s")
                }
            }
        }
        let line = "| \(name) | \(played + refused) | \(played) | \(refused) | \(cut) | \(unlike) |\n"
        print(line, terminator: "")
        guard let report = Self.report, let handle = FileHandle(forWritingAtPath: report) else { return }
        handle.seekToEndOfFile()
        handle.write(Data(line.utf8))
    }

    /// Seconds that it plays and that it promises, after places here and there were gone to.
    private func length(of decoder: any AudioDecoder) throws -> (played: Double, promised: Double) {
        try decoder.measureLength { false }
        let promised = decoder.lengthInFrames
        var played: Int64 = 0
        var seconds = 0.0
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            while case let count = try decoder.read(into: buffer), count > 0 { played += Int64(count) }
            seconds += decoder.format.seconds(frames: played)
            guard let change = decoder.nextFormatChange else { break }
            try decoder.adoptFormat(at: change)
            seconds = change
            played = 0
        }
        if decoder.isSeekable, let promised {
            for part in [0.5, 0.99, 0.01] {
                try? decoder.seek(toFrame: Int64(Double(promised) * part))
                _ = try? decoder.read(into: buffer)
            }
        }
        return (seconds, promised.map { decoder.format.seconds(frames: $0) } ?? seconds)
    }

    /// Seconds that FFmpeg promises; nil: it does not know it.
    private func promise(_ path: String) -> Double? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffprobe", "-v", "quiet", "-show_entries", "format=duration", "-of", "csv=p=0", path]
        let pipe = Pipe()
        process.standardOutput = pipe
        guard (try? process.run()) != nil else { return nil }
        defer { process.waitUntilExit() }
        return Double(
            String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self).split(separator: "\n")
                .first ?? "")
    }

    /// Seconds of sound that FFmpeg decodes; nil: it does not know it.
    private func reference(_ path: String) -> Double? {
        let raw = work.path("a.raw")
        let words = [
            "-v", "quiet", "-y", "-t", "3600", "-i", path, "-map", "0:a:0", "-f", "u8", "-ar", "8000", "-ac", "1", raw,
        ]
        guard TestProcess(["timeout", "60", "ffmpeg"] + words).wait() == 0 else { return nil }
        let size = try? FileManager.default.attributesOfItem(atPath: raw)[.size] as? Int
        return size.flatMap { $0 }.map { Double($0) / 8000 }
    }
}
