import AudioCore
import Glibc
import NowPlaying
import TestSupport
import Testing

@testable import AudioDecoders

/// Chapters in files that other programs wrote.
@Suite(.serialized) struct ChapterFileTests {
    private let folder = TemporaryFolder()

    private static let titles = ["First", "Zweites – über", "Last"]
    /// Whole seconds: ffmpeg 5.1 writes others wrong into Opus.
    private static let starts = [0.0, 1, 3]

    private static var texts: String {
        ";FFMETADATA1\ntitle=Whole\n"
            + zip(titles, starts).map { title, start in
                "[CHAPTER]\nTIMEBASE=1/1000\nSTART=\(Int(start * 1000))\nEND=\(Int(start * 1000) + 1000)\ntitle=\(title)\n"
            }.joined()
    }

    /// The chapters as Vorbis comments, for tools that take these.
    private static var comments: [String] {
        zip(titles, starts).enumerated().flatMap { number, chapter in
            ["CHAPTER00\(number + 1)=00:00:0\(Int(chapter.1)).000", "CHAPTER00\(number + 1)NAME=\(chapter.0)"]
        }
    }

    private func check(_ path: String) throws {
        let decoder = try DecoderRegistry.openDecoder(path: path)
        if let late = decoder as? any LateDecoder { while try !late.isOpened() { _ = late.wait(seconds: 5) } }
        let chapters = try #require(decoder.metadata.chapters)
        #expect(chapters.map(\.title) == Self.titles)
        for (chapter, start) in zip(chapters, Self.starts) { #expect(abs(chapter.start - start) < 0.001) }
    }

    @Test("Vorbis comments (CHAPTERxxx) by metaflac and vorbiscomment") func comments() throws {
        let source = folder.write(AudioMaterial.noise(frames: 4 * 44_100).wave(), "source.wav")
        let flac = folder.path("a.flac")
        try #require(AudioMaterial.run("flac", ["-s", "-f", "-o", flac, source]) == 0)
        try #require(AudioMaterial.run("metaflac", Self.comments.map { "--set-tag=" + $0 } + [flac]) == 0)
        try check(flac)
        let vorbis = folder.path("a.ogg")
        try #require(
            TestProcess(["ffmpeg", "-v", "error", "-y", "-i", source, "-c:a", "libvorbis", vorbis]).wait() == 0)
        try #require(
            AudioMaterial.run("vorbiscomment", ["-w"] + Self.comments.flatMap { ["-t", $0] } + [vorbis]) == 0)
        try check(vorbis)
    }

    @Test(
        "ID3 (CHAP), Opus, MP4 and Matroska by ffmpeg",
        arguments: [
            ("a.mp3", ["-c:a", "libmp3lame"], false), ("c.opus", ["-c:a", "libopus"], false),
            ("e.m4a", ["-c:a", "aac"], true), ("f.m4b", ["-c:a", "aac", "-f", "mp4"], true),
            ("g.mka", ["-c:a", "flac"], true),
        ] as [(String, [String], Bool)])
    func written(name: String, coder: [String], isForeign: Bool) throws {
        if isForeign, DecodeProgram.path == nil { return }
        let source = folder.write(AudioMaterial.noise(frames: 4 * 44_100).wave(), "source.wav")
        let texts = folder.write(Array(Self.texts.utf8), "texts")
        let path = folder.path(name)
        let words = ["ffmpeg", "-v", "error", "-y", "-i", source, "-i", texts, "-map", "0:a", "-map_metadata", "1"]
        try #require(TestProcess(words + ["-map_chapters", "1"] + coder + [path]).wait() == 0)
        try check(path)
    }
}
