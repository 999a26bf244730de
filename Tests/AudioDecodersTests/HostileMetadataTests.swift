import AudioCore
import AudioDecoders
import Glibc
import NowPlaying
import TestSupport
import Testing

/// Files with far more metadata than music: unread metadata takes no memory.
@Suite struct HostileMetadataTests {
    let folder = TemporaryFolder()
    let material = AudioMaterial.noise(frames: 5000)

    /// Bytes that this thread has read from files so far.
    private func bytesRead() -> Int {
        let descriptor = open("/proc/thread-self/io", O_RDONLY)
        defer { close(descriptor) }
        var text = [UInt8](repeating: 0, count: 200)
        let count = read(descriptor, &text, text.count)
        let line = String(decoding: text[..<max(0, count)], as: UTF8.self).split(separator: "\n").first
        return line.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) } ?? 0
    }

    /// Opens the file and plays it; it is to read at most `limit` bytes besides the audio.
    private func play(_ bytes: [UInt8], limit: Int) throws -> MediaMetadata {
        let path = folder.write(bytes, "a")
        let before = bytesRead()
        let decoder = try DecoderRegistry.openDecoder(path: path)
        let read = bytesRead() - before
        #expect(read > 0 && read <= limit, "\(read) bytes read")
        try checkConformance(decoder, expected: expectedBytes(material, .int16))
        return decoder.metadata
    }

    private func file(_ blocks: [(type: UInt8, content: [UInt8])]) -> [UInt8] {
        var options = FLACOptions()
        options.blocks = blocks
        return material.flac(options)
    }

    @Test("blocks of 16 MiB: pictures, padding, seek tables, unknown ones") func largeBlocks() throws {
        let content = [UInt8](repeating: 0x5A, count: 0xFF_FFFF)
        _ = try play(file([(6, content), (3, content), (1, content), (99, content)]), limit: 200_000)
    }

    @Test("comments of 10 MB before one that counts") func largeComments() throws {
        let large = Array("COVERART=".utf8) + [UInt8](repeating: 0x41, count: 10_000_000)
        let block = AudioMaterial.vorbisComments([large, Array("TITLE=x".utf8)])
        #expect(try play(file([block, block, block]), limit: 300_000).title == "x")
    }

    @Test("a hundred thousand comments") func manyComments() throws {
        let block = AudioMaterial.vorbisComments((0..<100_000).map { Array("ARTIST=\($0)".utf8) })
        #expect(try play(file([block]), limit: 1_500_000).artists.count == 32)
    }

    @Test("a thousand large comments") func manyLargeComments() throws {
        let comment = Array("DESCRIPTION=".utf8) + [UInt8](repeating: 0x42, count: 10_000)
        let block = AudioMaterial.vorbisComments([[UInt8]](repeating: comment, count: 1000))
        #expect(try play(file([block]), limit: 4_000_000).summary?.utf8.count == 4096)
    }

    @Test("blocks without an end") func endlessBlocks() {
        let header = Array(material.flac().prefix(42))
        let endless = header[..<4] + [0] + header[5...] + [UInt8](repeating: 0, count: 200_000)
        #expect(openingError(Array(endless), folder)?.message == "its FLAC header has no end")
    }

    @Test("a wrong seek table leads nowhere wrong") func wrongSeekTable() throws {
        var table = ByteBuilder()
        for index in 0..<100 {
            table.big(index * 50, 8)
            table.big(UInt64.random(in: 0 ... .max), 8)
            table.big(4096, 2)
        }
        _ = try play(file([(3, table.bytes)]), limit: 200_000)
    }
}
