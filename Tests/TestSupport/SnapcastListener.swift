import Glibc
import LinuxSystem
package import NowPlaying
import Synchronization
import TCPClient

/// A client of a Snapcast server that keeps the stream of a room: each chunk with its time.
package final class SnapcastListener: Sendable {
    /// A chunk of the stream.
    package struct Chunk: Sendable {
        /// Instant of its first frame, on our clock. A room plays it later by the server's buffer.
        package let stamp: MonotonicTime
        /// Samples of 16 bit, stereo.
        package let samples: [Int16]
    }

    private struct Record {
        var chunks: [Chunk] = []
        var settings = ""
        var isOver = false
    }

    private let record = Mutex(Record())
    private let connection: TCPConnection
    private let lead: Double

    /// Connects to the server and reads until its end, on a thread of its own. `name`: its id, and the name of its machine.
    /// `host`: address of the server. `lead`: seconds by which its clock is ahead of ours.
    package init(_ name: String = "listener", host: String = Snapserver.host, lead: Double = 0) {
        self.lead = lead
        let end = MonotonicTime.now.advanced(bySeconds: 5)
        guard let opened = try? TCPConnection(host: host, port: 1704, seconds: 5) else {
            preconditionFailure("no Snapcast server")
        }
        connection = opened
        let hello =
            #"{"Arch":"x86_64","ClientName":"listener","HostName":"\#(name)","ID":"\#(name)","Instance":1,"#
            + #""MAC":"00:00:00:00:00:01","OS":"Linux","SnapStreamProtocolVersion":2,"Version":"0.26.0"}"#
        let text = Array(hello.utf8)
        let message =
            [5, 0] + [UInt8](repeating: 0, count: 20) + Self.little(text.count + 4) + Self.little(text.count) + text
        try? connection.write(message, until: end)
        _ = DetachedThread.start("listener") { [self] in run() }
        precondition(becomes { !settings.isEmpty }, "the Snapcast server does not answer")
    }

    private static func little(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }

    private func run() {
        while let head = read(26), let payload = read(Self.number(head[22..<26])) {
            switch head[0] {
            case 2:
                let seconds = Int64(Self.number(payload[0..<4]))
                let micros = Int64(Self.number(payload[4..<8]))
                let stamp = MonotonicTime(nanoseconds: seconds * 1_000_000_000 + micros * 1000)
                let chunk = Chunk(stamp: stamp.advanced(bySeconds: -lead), samples: int16Samples(Array(payload[12...])))
                record.withLock { $0.chunks.append(chunk) }
            case 3: record.withLock { $0.settings = String(decoding: payload[4...], as: UTF8.self) }
            default: break
            }
        }
        record.withLock { $0.isOver = true }
    }

    private func read(_ count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        let end = MonotonicTime.now.advanced(bySeconds: 3600)
        while bytes.count < count {
            guard let more = try? connection.read(count - bytes.count, until: end),
                !more.isEmpty
            else { return nil }
            bytes += more
        }
        return bytes
    }

    /// All chunks so far.
    package var chunks: [Chunk] { record.withLock { $0.chunks } }

    /// The server's settings, as JSON.
    package var settings: String { record.withLock { $0.settings } }

    /// Ends the connection, and returns when it has ended.
    package func end() {
        shutdown(connection.descriptor, Int32(SHUT_RDWR))
        while !record.withLock({ $0.isOver }) { usleep(1000) }
    }
}
