import Glibc
import LinuxSystem
import NowPlaying
import Synchronization
import TestSupport

/// A server that behaves as a row of the table says.
final class BadServer: Sendable {
    private let script: Script
    private let server: HTTPServer
    /// Address that a listener knows.
    let address: String

    /// A server for a row. `redirector`: makes an address of https that redirects to another one.
    init(_ row: BadServerRow, _ material: BadServerMaterial, _ redirector: @Sendable (String, Int) -> String) {
        let script = Script(row, material)
        server = HTTPServer { script.answer($0, $1) }
        self.script = script
        if row.trouble == .redirects { script.redirect(to: redirector(server.url("/audio"), server.port)) }
        address = server.url("/")
    }

    /// Bytes of bodies that were sent so far.
    var sent: Int { script.progress.withLock { $0.sent } }
    /// Answers with audio so far, without those for one byte.
    var bodies: Int { script.progress.withLock { $0.bodies } }
    /// True if a connection of a station has sent all that it has, and stays open.
    var isIdle: Bool { script.progress.withLock { $0.holding > 0 } }
    /// Number after that of the last part of an HLS stream that was requested.
    var parts: Int { script.progress.withLock { $0.parts } }

    private struct Progress {
        var sent = 0
        var bodies = 0
        var parts = 0
        /// Connections that stay open at their end.
        var holding = 0
        var refusals = 0
        var hadTrouble = false
        /// Time of the first answer with a growing playlist, in seconds.
        var began: Double?
        var redirect = ""
    }

    private final class Script: Sendable {
        let row: BadServerRow
        let material: BadServerMaterial
        let progress = Mutex(Progress())

        init(_ row: BadServerRow, _ material: BadServerMaterial) {
            self.row = row
            self.material = material
        }

        func redirect(to address: String) { progress.withLock { $0.redirect = address } }

        func answer(_ request: HTTPServer.Request, _ connection: HTTPServer.Connection) {
            let redirect = progress.withLock { $0.redirect }
            if request.target == "/", !redirect.isEmpty {
                return connection.answer("302 Found", ["Location: \(redirect)"])
            }
            let isRefused = progress.withLock { now in
                defer { now.refusals += 1 }
                return row.trouble == .notFound && now.refusals == 0
            }
            if isRefused { return connection.answer("404 Not Found") }
            if row.format == .hls { return segments(request, connection) }
            if row.isLive { return live(request, connection) }
            send(material.file(row), request, connection, holds: false)
        }

        private func live(_ request: HTTPServer.Request, _ connection: HTTPServer.Connection) {
            let parts = material.live(row.format)
            let number = progress.withLock { $0.bodies }
            var bytes = parts[min(number, parts.count - 1)]
            if row.isIcy { bytes = Self.titled(bytes, "Song \(number)") }
            send(bytes, request, connection, holds: true)
        }

        /// The bytes with titles between them.
        private static func titled(_ bytes: [UInt8], _ title: String) -> [UInt8] {
            var result: [UInt8] = []
            for start in stride(from: 0, to: bytes.count, by: titleInterval) {
                result += bytes[start..<min(bytes.count, start + titleInterval)]
                guard start + titleInterval <= bytes.count else { break }
                var text = start == 0 ? Array("StreamTitle='Cook - \(title)';".utf8) : []
                while text.count % 16 != 0 { text.append(0) }
                result += [UInt8(text.count / 16)] + text
            }
            return result
        }

        private static let titleInterval = 8192

        // MARK: HLS

        private func segments(_ request: HTTPServer.Request, _ connection: HTTPServer.Connection) {
            let all = material.segments
            if let number = Int(request.target.dropFirst().prefix { $0 != "." }) {
                guard all.indices.contains(number) else { return connection.answer("404 Not Found") }
                progress.withLock { $0.parts = max($0.parts, number + 1) }
                return send(
                    all[number], request, connection, holds: false, type: "video/mp2t",
                    mayFail: number == BadServerMaterial.troubledSegment)
            }
            let now = MonotonicTime.now.seconds
            let shown = progress.withLock { here -> Int in
                let began = here.began ?? now
                here.began = began
                return row.isLive ? min(all.count, 3 + Int((now - began) / BadServerMaterial.segmentSeconds)) : all.count
            }
            let first = row.isLive ? shown - 3 : 0
            var text = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:\(Int(BadServerMaterial.segmentSeconds))\n"
            text += "#EXT-X-MEDIA-SEQUENCE:\(first)\n"
            for number in first..<shown { text += "#EXTINF:\(BadServerMaterial.segmentSeconds),\n\(number).ts\n" }
            if !row.isLive { text += "#EXT-X-ENDLIST\n" }
            send(Array(text.utf8), request, connection, holds: false, mayFail: false)
        }

        // MARK: Bodies

        /// Sends a body. `holds`: the connection stays open at its end. `mayFail`: it is the one of the trouble.
        private func send(
            _ bytes: [UInt8], _ request: HTTPServer.Request, _ connection: HTTPServer.Connection, holds: Bool,
            type: String? = nil, mayFail: Bool = true
        ) {
            let range = request.fields["range"]?.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
            let (first, last) = (range.flatMap { Int($0[0]) } ?? 0, range.flatMap { $0.count > 1 ? Int($0[1]) : nil })
            let isPart = range != nil && row.sendsParts && first < bytes.count
            let body = isPart ? first..<min(bytes.count, (last ?? .max - 1) + 1) : 0..<bytes.count
            var fields = ["Content-Type: \(type ?? row.format.contentType)"]
            // A station that states a length states any.
            if row.hasLength { fields.append("Content-Length: \(holds ? 1 << 30 : body.count)") }
            if row.offersParts { fields.append("Accept-Ranges: bytes") }
            if row.isIcy { fields.append("icy-name: Kitchen") }
            if row.isIcy, row.isLive, row.format != .hls { fields.append("icy-metaint: \(Self.titleInterval)") }
            if row.isChunked { fields.append("Transfer-Encoding: chunked") }
            if isPart { fields.append("Content-Range: bytes \(first)-\(body.upperBound - 1)/\(bytes.count)") }
            let isProbe = last != nil
            let isTroubled = progress.withLock { here in
                if !isProbe { here.bodies += 1 }
                guard !isProbe, mayFail, row.trouble.isInBody, !here.hadTrouble else { return false }
                here.hadTrouble = true
                return true
            }
            connection.head(isPart ? "206 Partial Content" : "200 OK", fields)
            let end = isTroubled ? body.lowerBound + body.count * (holds ? 85 : 40) / 100 : body.upperBound
            for start in stride(from: body.lowerBound, to: end, by: 8192) {
                let piece = bytes[start..<min(end, start + 8192)]
                let head = row.isChunked ? Array("\(String(piece.count, radix: 16))\r\n".utf8) : []
                guard connection.send(head + piece + (row.isChunked ? [13, 10] : [])) else { return }
                progress.withLock { $0.sent += piece.count }
                usleep(1000)
            }
            if isTroubled, row.trouble == .drop { return }
            if isTroubled, row.trouble == .silence { return connection.waitForEnd() }
            if holds || isTroubled {
                progress.withLock { $0.holding += 1 }
                connection.waitForEnd()
                return progress.withLock { $0.holding -= 1 }
            }
            if row.isChunked { connection.send(Array("0\r\n\r\n".utf8)) }
        }
    }
}

extension BadServerRow.Trouble {
    /// True if it comes in the middle of a body.
    fileprivate var isInBody: Bool {
        switch self {
        case .drop, .silence, .restart: true
        case .notFound, .redirects: false
        }
    }
}

extension BadServerRow.Format {
    fileprivate var contentType: String {
        switch self {
        case .mp3: "audio/mpeg"
        case .aac: "audio/aac"
        case .ogg: "application/ogg"
        case .flac: "audio/flac"
        case .m4a: "audio/mp4"
        case .hls: "application/vnd.apple.mpegurl"
        }
    }
}
