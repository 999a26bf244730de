import AudioCore
import AudioDecoders
import Glibc
import Synchronization
import TestSupport
import Testing

/// HLS (RFC 8216): playlists of parts, whole ones and those that go on.
@Suite(.enabled(if: DecodeProgram.path != nil, "nowplaying-decode is not built: its packages are missing"))
struct RemoteSegmentTests {
    private let folder = TemporaryFolder()
    private static let frames = 441_000
    /// Made once: that takes longer than coding it.
    private static let wave = AudioMaterial.waves(frames: frames).wave()

    /// Makes a playlist with its parts in the folder.
    private func make(_ options: [String]) throws {
        let source = folder.write(Self.wave, "source.wav")
        let coding = ["-c:a", "aac", "-aac_pns", "0", "-hls_time", "2", "-hls_list_size", "0", "-f", "hls"]
        let words = ["-v", "error", "-y", "-i", source] + coding + options + [folder.path("list.m3u8")]
        try #require(AudioMaterial.run("ffmpeg", words) == 0)
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

    private static let kinds: [[String]] = [
        [], ["-hls_segment_type", "fmp4"], ["-hls_segment_type", "fmp4", "-hls_flags", "single_file"],
    ]

    @Test(
        "a whole one has a length and an end, its parts being files or ranges of one; a seek is exact", arguments: kinds
    )
    func whole(_ options: [String]) throws {
        try make(options)
        let server = server()
        try expectExact(try remote(server.url("/list.m3u8")))
    }

    /// Reads all, and parts of it from places on: also from the very end back.
    private func expectExact(_ decoder: ChildDecoder) throws {
        #expect(!decoder.isLive && decoder.isSeekable)
        #expect(abs((decoder.lengthInFrames ?? 0) - Int64(Self.frames)) < 5000)
        let all = try readFrames(decoder)
        let size = decoder.format.bytesPerFrame
        let count = all.count / size
        #expect(abs(count - Self.frames) < 5000, "\(count)")
        // A playlist may state shorter durations than its parts have.
        let last = min(count, Int(decoder.lengthInFrames ?? 0)) - 500
        for target in [100_000, 0, 88_200, last, 1, 1024, 5000, 177_000, 300_001, 90_000] {
            try decoder.seek(toFrame: Int64(target))
            let part = try readFrames(decoder, frames: 1000)
            let wanted = all[(target * size)..<min(all.count, (target + 1000) * size)]
            let isSame = part.count == wanted.count && isNear(part, wanted)
            #expect(isSame, "after a seek to \(target)")
        }
        try decoder.seek(toFrame: Int64(Self.frames) * 2)
        #expect(try readFrames(decoder).isEmpty)
    }

    @Test("a list of qualities, lists with whole seconds, and times that restart with each part")
    func oddTimes() throws {
        try make(["-hls_flags", "round_durations"])
        let master = server { text, count in
            count > 0 ? text : "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=128000,CODECS=\"mp4a.40.2\"\n/list.m3u8\n"
        }
        try expectExact(try remote(master.url("/master.m3u8")))
        #expect(master.requests.filter { $0.target == "/list.m3u8" }.count == 1)
        try make([])
        try restartTimes()
        let server = server()
        try expectExact(try remote(server.url("/list.m3u8")))
    }

    @Test(
        "a variant that is redirected to another server and folder plays: its parts are where it was found",
        arguments: [[], ["-hls_segment_type", "fmp4"]] as [[String]])
    func redirected(_ options: [String]) throws {
        try make(options)
        let folder = self.folder
        // Only here are the parts, and only below /new/.
        let other = HTTPServer { request, connection in
            let name = request.target.hasPrefix("/new/") ? String(request.target.dropFirst(5)) : ""
            let bytes = name.isEmpty ? [] : folder.read(name)
            if bytes.isEmpty { return connection.answer("404 Not Found") }
            connection.file(
                bytes, type: name.hasSuffix("m3u8") ? "application/vnd.apple.mpegurl" : "video/mp2t", request)
        }
        let target = other.url("/new/list.m3u8")
        let first = HTTPServer { request, connection in
            switch request.target {
            case "/a/master.m3u8":
                let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=128000,CODECS=\"mp4a.40.2\"\nlow/list.m3u8\n"
                connection.answer("200 OK", ["Content-Type: application/vnd.apple.mpegurl"], Array(text.utf8))
            case "/a/low/list.m3u8": connection.answer("302 Found", ["Location: \(target)"])
            default: connection.answer("404 Not Found")
            }
        }
        try expectExact(try remote(first.url("/a/master.m3u8")))
        #expect(Set(first.requests.map(\.target)) == ["/a/master.m3u8", "/a/low/list.m3u8"])
    }

    /// Has each part's times begin at the same one.
    private func restartTimes() throws {
        for number in 0..<6 {
            let name = "list\(number).ts"
            guard !folder.read(name).isEmpty else { continue }
            try #require(
                AudioMaterial.run(
                    "ffmpeg", ["-v", "error", "-y", "-i", folder.path(name), "-c", "copy", folder.path("new.ts")]) == 0)
            _ = folder.write(folder.read("new.ts"), name)
        }
    }

    @Test("a part whose connection breaks is read on where it broke; one that is not there is no silence, but an error")
    func brokenParts() throws {
        try make([])
        let folder = self.folder
        let count = Count()
        let cutting = HTTPServer { request, connection in
            let bytes = folder.read(String(request.target.dropFirst()))
            if request.target.hasSuffix("m3u8") {
                connection.answer("200 OK", ["Content-Type: application/vnd.apple.mpegurl"], bytes)
            } else if request.target == "/list2.ts", count.next() == 0 {
                connection.head("200 OK", ["Accept-Ranges: bytes", "Content-Length: \(bytes.count)"])
                connection.send(bytes[..<(bytes.count / 2)])
            } else {
                connection.file(bytes, type: "video/mp2t", request)
            }
        }
        let cut = try readFrames(try remote(cutting.url("/list.m3u8")))
        let whole = server()
        expectSame(cut, try readFrames(try remote(whole.url("/list.m3u8"))))
        unlink(folder.path("list2.ts"))
        let decoder = try remote(whole.url("/list.m3u8"))
        let error = #expect(throws: DecodingError.self) { _ = try readFrames(decoder) }
        #expect(error?.message.contains("404") == true)
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
            let message = refusal(server.url("/list.m3u8"))
            #expect(message != "" && message.contains(words), "\(link): \(message)")
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
