import AudioCore
import AudioDecoders
import Glibc
import Synchronization
import TestSupport
import Testing

/// HLS (RFC 8216): playlists of parts, whole ones and those that go on.
@Suite(.enabled(if: ForeignProgram.path != nil, "nowplaying-decode is not built: its packages are missing"))
struct RemoteSegmentTests {
    private let folder = TemporaryFolder()
    private static let frames = 441_000

    /// Makes a playlist with its parts in the folder.
    private func make(_ options: [String]) throws {
        _ = try coded(
            .waves(frames: Self.frames), "list.m3u8",
            ["-c:a", "aac", "-aac_pns", "0", "-hls_time", "2", "-hls_list_size", "0", "-f", "hls"] + options, in: folder
        )
    }

    /// A server of the folder; `list` changes the playlist, and gets how often that was asked for.
    private func server(_ list: @escaping @Sendable (String, Int) -> String? = { text, _ in text }) -> HTTPServer {
        let folder = self.folder
        let count = Count()
        return HTTPServer { request, connection in
            let name = String(request.target.dropFirst())
            let bytes = folder.read(name)
            if name.hasSuffix(".m3u8") {
                guard let text = list(String(decoding: bytes, as: UTF8.self), count.next()) else {
                    return connection.answer("404 Not Found")
                }
                connection.answer("200 OK", ["Content-Type: application/vnd.apple.mpegurl"], Array(text.utf8))
            } else if bytes.isEmpty {
                connection.answer("404 Not Found")
            } else {
                connection.file(bytes, type: "application/octet-stream", request)
            }
        }
    }

    @Test(
        "a whole one has a length and an end, its parts being files or ranges of one",
        arguments: [[], ["-hls_segment_type", "fmp4", "-hls_flags", "single_file"]] as [[String]])
    func whole(_ options: [String]) throws {
        try make(options)
        let server = server()
        let decoder = try remote(server.url("/list.m3u8"))
        #expect(!decoder.isLive && !decoder.isSeekable)
        #expect(abs((decoder.lengthInFrames ?? 0) - Int64(Self.frames)) < 5000)
        let all = try readFrames(decoder)
        let size = decoder.format.bytesPerFrame
        #expect(abs(all.count / size - Self.frames) < 5000, "\(all.count / size)")
    }

    @Test("one that goes on is live, read as it grows, and lost when it can't be had any more")
    func live() throws {
        try make([])
        let server = server { text, count in
            guard count < 3 else { return nil }
            let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#EXT-X-ENDLIST") }
            let parts = lines.indices.filter { !lines[$0].hasPrefix("#") }
            return lines[...parts[min(parts.count - 1, 2 + count)]].joined(separator: "\n") + "\n"
        }
        let decoder = try remote(server.url("/list.m3u8"))
        #expect(decoder.isLive && !decoder.isSeekable && decoder.lengthInFrames == nil)
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { room.deallocate() }
        var frames = 0
        var failure: DecodingError?
        do throws(DecodingError) {
            while case let count = try decoder.read(into: room), count > 0 { frames += count }
        } catch { failure = error }
        // Three parts at first, and one more with each time that it is read again.
        #expect(frames > 4 * 80_000, "\(frames)")
        #expect(failure?.kind == .mediaGone, "\(failure?.message ?? "ended")")
    }

    @Test("parts that are files of this machine, at nobody's address or encrypted are not had")
    func forbidden() throws {
        try make([])
        let local = folder.path("list0.ts")
        let lists: [(String, String)] = [
            ("file://\(local)", "neither http"), (local, "404"), ("http://0.0.0.0:1/list0.ts", ""),
        ]
        for (link, words) in lists {
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n\(link)\n#EXT-X-ENDLIST\n"
            let server = server { _, _ in text }
            let told = refusal(server.url("/list.m3u8"))
            #expect(told != "" && told.contains(words), "\(link): \(told)")
        }
        let server = server { text, _ in
            text.replacing("#EXTINF", with: "#EXT-X-KEY:METHOD=AES-128,URI=\"list0.ts\"\n#EXTINF", maxReplacements: 1)
        }
        #expect(refusal(server.url("/list.m3u8")).contains("encrypted"))
    }

    private final class Count: Sendable {
        private let count = Mutex(0)

        func next() -> Int {
            count.withLock { count in
                defer { count += 1 }
                return count
            }
        }
    }
}
