import AudioCore
import AudioDecoders
import Glibc
import Synchronization
import TestSupport
import Testing

/// Seeks in MP3 files by HTTP: exact, and without the bytes before the target.
@Suite(.enabled(if: DecodeProgram.path != nil, "nowplaying-decode is not built: its packages are missing"))
struct RemoteSeekTests {
    private let folder = TemporaryFolder()

    /// A server of one file that counts the bytes that it sends.
    private final class Counter: Sendable {
        let sent = Mutex(0)
    }

    private static func server(_ file: [UInt8], saysSo: Bool = true, _ counter: Counter) -> HTTPServer {
        HTTPServer { request, connection in
            let range = request.fields["range"]?.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
            let start = range.flatMap { Int($0[0]) } ?? 0
            let end = range.flatMap { $0.count > 1 ? Int($0[1]).map { $0 + 1 } : nil } ?? file.count
            var fields = ["Content-Type: audio/mpeg", "Content-Length: \(end - start)"]
            if saysSo { fields.append("Accept-Ranges: bytes") }
            if range != nil { fields.append("Content-Range: bytes \(start)-\(end - 1)/\(file.count)") }
            connection.head(range == nil ? "200 OK" : "206 Partial Content", fields)
            for piece in stride(from: start, to: end, by: 8192) {
                guard connection.send(file[piece..<min(end, piece + 8192)]) else { return }
                counter.sent.withLock { $0 += min(end, piece + 8192) - piece }
                connection.pace(8192, bytesPerSecond: 400_000)
            }
        }
    }

    private func mp3(seconds: Int, _ options: [String]) throws -> [UInt8] {
        try coded(.noise(frames: 44_100 * seconds), "a.mp3", ["-c:a", "libmp3lame"] + options, in: folder)
    }

    private static let constant = ["-b:a", "128k"]
    private static let bare = ["-b:a", "128k", "-write_xing", "0", "-id3v2_version", "0"]

    @Test("a seek in a file of a constant bit rate is exact to the sample", arguments: [Self.constant, Self.bare])
    func exact(_ options: [String]) throws {
        let file = try mp3(seconds: 30, options)
        let server = HTTPServer { request, connection in connection.file(file, type: "audio/mpeg", request) }
        let whole = try readFrames(remote(server.url("/a.mp3")))
        let decoder = try remote(server.url("/a.mp3"))
        let frameBytes = decoder.format.bytesPerFrame
        for target in [700_000, 1_200_000, 100_000, 1_000_001, 0] {
            try decoder.seek(toFrame: Int64(target))
            let found = try readFrames(decoder, frames: 5000)
            expectSame(found, whole[(target * frameBytes)..<((target + 5000) * frameBytes)])
        }
    }

    @Test(
        "a seek loads 256 KiB at most before its sound, whatever the place, also from a server that does not mention ranges",
        arguments: [Self.constant, Self.bare, ["-q:a", "4"]], [true, false])
    func cheap(_ options: [String], _ saysSo: Bool) throws {
        let file = try mp3(seconds: 120, options)
        for target in [30, 60, 110] {
            let counter = Counter()
            let server = Self.server(file, saysSo: saysSo, counter)
            let decoder = try remote(server.url("/a.mp3"))
            #expect(decoder.isSeekable && !decoder.isLive)
            try decoder.seek(toFrame: Int64(target) * 44_100)
            _ = try readFrames(decoder, frames: 44_100)
            let sent = counter.sent.withLock { $0 }
            #expect(sent <= 256 << 10, "\(options) at \(target) s: \(sent) bytes")
        }
    }

    @Test(
        "a server that sends the whole file in place of a part cannot seek, and says why an index at the end is of no use"
    )
    func noParts() throws {
        let material = AudioMaterial.waves(frames: 88_200)
        let file = try coded(material, "a.m4a", ["-c:a", "aac"], in: folder)
        let server = HTTPServer { _, connection in connection.answer("200 OK", ["Content-Type: audio/mp4"], file) }
        #expect(refusal(server.url("/a.m4a")).contains("range requests"))
        let mp3 = try mp3(seconds: 3, Self.constant)
        let other = HTTPServer { _, connection in connection.answer("200 OK", ["Content-Type: audio/mpeg"], mp3) }
        #expect(try !remote(other.url("/a.mp3")).isSeekable)
        let quick = HTTPServer { request, connection in
            guard let offset = request.offset else {
                return connection.answer("200 OK", ["Content-Type: audio/mp4"], file)
            }
            let range = "Content-Range: bytes \(offset)-\(file.count - 1)/\(file.count)"
            connection.answer("206 Partial Content", [range], Array(file[offset...]))
        }
        #expect(try remote(quick.url("/a.m4a")).isSeekable)
    }
}
