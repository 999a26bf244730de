import ChildDecoding
import Glibc
import LinuxSystem
import NowPlaying

@testable import AudioDecoders

/// Input of the confined child from servers, and our input from a compromised child.
extension FuzzTarget {
    /// The head of an answer over HTTP; after a first byte of 1 a title of a station.
    static let httpHead = FuzzTarget(
        name: "http-head",
        seeds: {
            [
                "\u{0}HTTP/1.1 206 Partial Content\r\nContent-Length: 900\r\nContent-Range: bytes 100-999/1000\r\nAccept-Ranges: bytes\r\n\r\n",
                "\u{0}ICY 200 OK\r\nicy-name: Radio\r\nicy-br:128,128\r\nicy-metaint:8192\r\ncontent-type: Audio/MPEG; x\r\n\r\n",
                "\u{0}HTTP/1.0 200 OK\nServer: Icecast\nContent-Length: 9223372036854775807\nicy-metaint: -1\n\n",
                "\u{1}StreamTitle='A - B';StreamUrl='http://h/a.jpg?x';", "\u{1}StreamTitle='It's - ';",
            ].map { Array($0.utf8) }
        },
        run: { bytes in
            let rest = bytes.dropFirst()
            if bytes.first == 1 {
                return check(Station.tags(title: Array(rest)))
            }
            var head = HTTPFields()
            var start = rest.startIndex
            while start < rest.endIndex {
                let end = rest[start...].firstIndex(of: 0x0A).map { $0 + 1 } ?? rest.endIndex
                guard head.take(rest[start..<end]) != nil else { break }
                start = end
            }
            precondition((head.contentLength ?? 0) >= 0)
            if let whole = head.wholeLength(from: 1 << 62) { precondition(whole >= 1 << 62) }
            precondition(!head.begins(at: 100) || !head.begins(at: 200))
            _ = head.rangedLength
            if let interval = head.titleInterval, IcyFilter(interval: interval) != nil { precondition(interval > 0) }
            let station = Station(head)
            precondition((0...100_000_000).contains(station.bitRate))
            check(station.tags)
        })

    /// Any tags can be sent.
    private static func check(_ tags: [WireTag]) {
        guard let read = try? WireTag.tags(WireTag.bytes(tags)) else { preconditionFailure("tags that can't be read") }
        precondition(read.map(\.name) == tags.map(\.name))
    }

    /// All that a child sends, as the daemon takes it off the socket; the first byte is the length of a frame.
    static let childStream = FuzzTarget(
        name: "child-stream",
        seeds: {
            let format = WireFormat(sample: .int16, sampleRate: 48000, positions: [1, 2])
            var opened = OpenedMedia(format: format, codec: "AAC", sourceSampleRate: 48000)
            opened.tags = [WireTag("TITLE", "T".utf8), WireTag("STATION", "S".utf8)]
            opened.chapters = [WireChapter(start: 9, title: Array("C".utf8))]
            func message(_ kind: WireMessage, _ body: [UInt8]) -> [UInt8] { kind.header(count: body.count) + body }
            let audio = message(.audio, [UInt8](repeating: 7, count: 16))
            return [
                [4] + message(.opened, opened.bytes) + audio + audio,
                [4] + audio + message(.failed, WireFailure(.lost, "gone").bytes),
                [8] + message(.metadata, WireTag.bytes(opened.tags)) + audio,
            ]
        },
        run: { bytes in
            guard let first = bytes.first else { return }
            var ends: [Int32] = [-1, -1]
            precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            let rest = bytes.dropFirst().prefix(32 << 10)
            _ = rest.withUnsafeBytes { write(ends[1], $0.baseAddress, $0.count) }
            close(ends[1])
            defer { close(ends[0]) }
            let messages = ChildMessages(ends[0])
            messages.expectFrames(ofBytes: 1 + Int(first % 32))
            var audio = 0
            withUnsafeTemporaryAllocation(byteCount: 1000, alignment: 16) { room in
                while let message = try? messages.next() {
                    switch message {
                    case .audio:
                        let count = messages.takeAudio(into: room, discarding: audio % 3 == 2)
                        precondition(count > 0 && count % messages.frameBytes == 0)
                        audio += count
                    case .body(let kind, let body): take(kind, body)
                    }
                }
            }
            precondition(messages.isClosed || audio <= rest.count)
        })

    private static func take(_ kind: WireMessage, _ body: [UInt8]) {
        switch kind {
        case .opened:
            guard let media = try? OpenedMedia(body) else { return }
            precondition(media.format.bytesPerFrame > 0)
            let metadata = ChildTags.metadata(media.tags, isLive: media.isLive)
            precondition((metadata.title ?? "").utf8.count <= 4096)
            let chapters = ChildTags.chapters(media.chapters)
            precondition(zip(chapters, chapters.dropFirst()).allSatisfy { $0.start <= $1.start })
        case .failed: _ = try? WireFailure(body)
        default:
            if let tags = try? WireTag.tags(body) { _ = ChildTags.metadata(tags, isLive: true) }
        }
    }
}
