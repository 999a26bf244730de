import AudioCore
import AudioDecoders
import Glibc
import NowPlaying
import Synchronization
import TestSupport
import Testing

/// Radio: titles in the stream, connections that stall and end, and data of hostile stations.
@Suite(.enabled(if: DecodeProgram.path != nil, "nowplaying-decode is not built: its packages are missing"))
struct RemoteRadioTests {
    private let folder = TemporaryFolder()
    private static let head =
        "HTTP/1.0 200 OK\r\nContent-Type: audio/mpeg\r\nicy-name: Küchen\u{7}radio\r\nicy-br: 128\r\nicy-genre: Jazz\r\n"

    /// Ten seconds of MP3 with 16,000 bytes a second.
    private func music() throws -> [UInt8] {
        try coded(
            .waves(frames: 441_000), "a.mp3", ["-c:a", "libmp3lame", "-b:a", "128k", "-write_xing", "0"], in: folder)
    }

    /// Audio with a text behind each `interval` bytes; `text` gets their number.
    private func withTexts(_ audio: [UInt8], interval: Int, _ text: (Int) -> String) -> [UInt8] {
        var result: [UInt8] = []
        for (number, start) in stride(from: 0, to: audio.count, by: interval).enumerated() {
            result += audio[start..<min(audio.count, start + interval)]
            let bytes = Array(text(number).utf8)
            let length = (bytes.count + 15) / 16
            result += [UInt8(length)] + bytes + [UInt8](repeating: 0, count: length * 16 - bytes.count)
        }
        return result
    }

    /// Reads to the end. Returns the frames, the descriptions with their first frames, and the reason of the end.
    private func listen(
        to decoder: ChildDecoder
    ) -> (frames: Int, changes: [(frame: Int, metadata: MediaMetadata)], error: DecodingError?) {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
        defer { room.deallocate() }
        var frames = 0
        var changes: [(Int, MediaMetadata)] = []
        do throws(DecodingError) {
            while case let count = try decoder.read(into: room), count > 0 {
                frames += count
                if let change = decoder.takeMetadataChange() { changes.append((frames, change)) }
            }
            return (frames, changes, nil)
        } catch {
            return (frames, changes, error)
        }
    }

    @Test("titles come with the frames that they are about, and the station's name with each")
    func titles() throws {
        let stream = withTexts(try music(), interval: 4000) { number in
            [0: "StreamTitle='Some Body - It's one';", 20: "StreamTitle='Two';StreamUrl='https://x.org/a.JPG?b=1';"][
                number] ?? ""
        }
        let server = HTTPServer { _, connection in
            connection.send("\(Self.head)icy-metaint: 4000\r\n\r\n".utf8)
            connection.send(stream)
        }
        let decoder = try remote(server.url("/live"))
        #expect(decoder.isLive && !decoder.isSeekable && decoder.lengthInFrames == nil)
        #expect(decoder.metadata.isLiveStream == true)
        #expect(decoder.metadata.albumTitle?.hasPrefix("Küchen") == true)
        #expect(decoder.metadata.albumTitle?.contains("\u{7}") == false)
        #expect(decoder.mediaFormat.bitRate == 128_000)
        #expect(server.requests.first?.fields["icy-metadata"] == "1")
        let heard = listen(to: decoder)
        #expect(heard.frames > 430_000)
        #expect(heard.error?.kind == .mediaGone)
        #expect(heard.changes.map(\.metadata.title) == ["It's one", "Two"])
        #expect(heard.changes.map(\.metadata.artist) == ["Some Body", nil])
        // A link that comes with a title counts more than the station's own.
        #expect(
            heard.changes.map(\.metadata.artworkURL) == [decoder.metadata.artworkURL, "https://x.org/a.JPG?b=1"])
        #expect(heard.changes.allSatisfy { $0.metadata.albumTitle?.hasPrefix("Küchen") == true })
        // 21 times 4,000 bytes of 16,000 a second; a packet of MP3 is a whole one, and a change is one packet late at most.
        for (change, wanted) in zip(heard.changes, [11_025, 231_525]) {
            #expect(abs(change.frame - wanted) < 5 * 1152, "\(change.frame)")
        }
    }

    @Test("a station that changes its tags all the time plays, and is reported a few times")
    func flood() throws {
        let audio = try music()[..<48_000]
        let stream = withTexts(Array(audio), interval: 20) { "StreamTitle='\($0)';" }
        let server = HTTPServer { _, connection in
            connection.send("\(Self.head)icy-metaint: 20\r\n\r\n".utf8)
            connection.send(stream)
        }
        let heard = listen(to: try remote(server.url("/live")))
        #expect(heard.error?.kind == .mediaGone)
        #expect(heard.frames > 120_000)
        #expect((1...20).contains(heard.changes.count), "\(heard.changes.count)")
    }

    @Test("half a second of a stream is enough to begin; the connection ends with its decoder")
    func stall() throws {
        let audio = try music()
        let box = Ended()
        let server = HTTPServer { _, connection in
            connection.send("\(Self.head)\r\n".utf8)
            connection.send(audio[..<8000])
            connection.waitForEnd()
            box.ended.withLock { $0 = true }
        }
        do {
            let decoder = try remote(server.url("/live"))
            let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
            defer { room.deallocate() }
            var frames = 0
            while frames < 8000 { frames += try decoder.read(into: room) }
        }
        #expect(becomes { box.ended.withLock { $0 } })
    }

    private final class Ended: Sendable {
        let ended = Mutex(false)
    }

    @Test("a stream that is another container than its server says is found out")
    func otherKind() throws {
        let ogg = try coded(.waves(frames: 88_200), "a.ogg", ["-c:a", "libvorbis"], in: folder)
        let server = HTTPServer { _, connection in
            connection.send("\(Self.head)\r\n".utf8)
            connection.send(ogg)
        }
        let decoder = try remote(server.url("/live"))
        #expect(decoder.mediaFormat.codec == "Vorbis")
        #expect(decoder.isLive)
        #expect(listen(to: decoder).frames >= 88_000)
    }
}
