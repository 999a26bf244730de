import AudioCore
import AudioDecoders
import Glibc
import NowPlaying
import TestSupport
import Testing

/// Live or file: streams that say too little about themselves, or something false.
@Suite(.enabled(if: DecodeProgram.path != nil, "nowplaying-decode is not built: its packages are missing"))
struct RemoteStreamTests {
    private let folder = TemporaryFolder()

    private func coded(_ name: String, _ options: [String]) throws -> [UInt8] {
        try AudioDecodersTests.coded(.noise(frames: 220_500), name, options, in: folder)
    }

    private static func chunks(_ bytes: [UInt8], isWhole: Bool = true) -> [UInt8] {
        var result: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 5000) {
            let piece = bytes[start..<min(start + 5000, bytes.count)]
            result += Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + [13, 10]
        }
        return result + (isWhole ? Array("0\r\n\r\n".utf8) : [])
    }

    /// An open decoder for a medium, which keeps its knowledge between connections.
    private func open(_ media: RemoteMedia) throws(DecodingError) -> ChildDecoder {
        let decoder = try ChildDecoder(media, certificates: nil, userAgent: "test/1")
        try decoder.awaitOpening()
        return decoder
    }

    private func medium(_ server: HTTPServer) -> RemoteMedia {
        RemoteMedia(address: server.url("/live"), shownAddress: "shown", mayUseLoopback: true)
    }

    @Test(
        "without a length it is live until its last chunk shows that it was a file: then it has ended, without an error",
        arguments: [
            ("a.mp3", "audio/mpeg", ["-b:a", "128k", "-write_xing", "0"]), ("a.aac", "audio/aac", ["-b:a", "128k"]),
            ("a.ogg", "application/ogg", ["-c:a", "libvorbis"]), ("a.flac", "audio/flac", []),
        ] as [(String, String, [String])])
    func lastChunk(_ name: String, _ type: String, _ options: [String]) throws {
        let file = try coded(name, options)
        let server = HTTPServer { _, connection in
            connection.head("200 OK", ["Content-Type: \(type)", "Transfer-Encoding: chunked"])
            connection.send(Self.chunks(file))
        }
        let decoder = try open(medium(server))
        #expect(decoder.isLive)
        let frames = try readFrames(decoder).count / decoder.format.bytesPerFrame
        #expect(frames >= 220_500 - 4 * 1152 && frames < 230_000, "\(frames)")
        #expect(server.requests.count == 1)
    }

    @Test("a stream that states its number of frames has ended when they have come", arguments: ["a.flac", "a.mp3"])
    func stated(_ name: String) throws {
        let file = try coded(name, name == "a.mp3" ? ["-b:a", "128k"] : [])
        let server = HTTPServer { _, connection in
            connection.head("200 OK", ["Content-Type: \(name == "a.mp3" ? "audio/mpeg" : "audio/flac")"])
            connection.send(file)
        }
        let decoder = try open(medium(server))
        #expect(decoder.isLive)
        #expect(try readFrames(decoder).count / decoder.format.bytesPerFrame >= 220_500 - 1152)
    }

    @Test(
        "a stream that breaks and begins alike was a file; one that begins otherwise goes on", arguments: [true, false])
    func repeated(isFile: Bool) throws {
        let file = try coded("a.mp3", ["-b:a", "128k", "-write_xing", "0", "-id3v2_version", "0"])
        let server = HTTPServer { request, connection in
            connection.head("200 OK", ["Content-Type: audio/mpeg"])
            connection.send(isFile ? file[...] : file[(request.target.utf8.count * 417)...])
        }
        let media = medium(server)
        let first = try open(media)
        #expect(first.isLive)
        #expect(throws: DecodingError.self) { _ = try readFrames(first) }
        #expect(!media.beginning.isEmpty)
        if isFile {
            #expect(throws: DecodingError(.ended, "it has ended")) { _ = try open(media) }
        } else {
            let other = RemoteMedia(address: server.url("/live/other"), shownAddress: "shown", mayUseLoopback: true)
            other.beginning = media.beginning
            #expect(try open(other).isLive)
        }
    }

    @Test("titles in the stream mean a station, in spite of a length")
    func titles() throws {
        let file = try coded("a.mp3", ["-b:a", "128k", "-write_xing", "0"])
        let interval = 4000
        var stream: [UInt8] = []
        for start in stride(from: 0, to: file.count, by: interval) {
            stream += file[start..<min(file.count, start + interval)] + [0]
        }
        let whole = stream
        let server = HTTPServer { _, connection in
            connection.head(
                "200 OK",
                [
                    "Content-Type: audio/mpeg", "icy-metaint: \(interval)", "Accept-Ranges: bytes",
                    "Content-Length: \(whole.count)",
                ])
            connection.send(whole)
        }
        let decoder = try open(medium(server))
        #expect(decoder.isLive && decoder.lengthInFrames == nil && !decoder.isSeekable)
        let error = #expect(throws: DecodingError.self) { _ = try readFrames(decoder) }
        #expect(error?.kind == .mediaGone)
    }

    @Test("a station is shown by its name, in Latin-1 or as the playlist has it, and not by its address")
    func names() throws {
        let file = try coded("a.mp3", ["-b:a", "128k", "-write_xing", "0", "-id3v2_version", "0"])
        let server = HTTPServer { request, connection in
            if request.target == "/list.m3u" {
                return connection.answer(
                    "200 OK", ["Content-Type: audio/x-mpegurl"], Array("#EXTM3U\n#EXTINF:-1,By the list\n/live\n".utf8))
            }
            if request.target == "/named" {
                connection.send(Array("HTTP/1.0 200 OK\r\nContent-Type: audio/mpeg\r\nicy-name: K".utf8) + [0xFC])
                connection.send("che\r\n\r\n".utf8)
            } else {
                connection.head("200 OK", ["Content-Type: audio/mpeg"])
            }
            connection.send(file)
        }
        #expect(try remote(server.url("/list.m3u")).metadata.title == "By the list")
        #expect(try remote(server.url("/named")).metadata.title == "Küche")
    }
}
