import Glibc
import LinuxSystem
import NowPlaying
import Synchronization
import TestSupport

/// A server that behaves as a row of the table says.
final class BadServer: Sendable {
    private let script: BadServerScript
    private let server: HTTPServer
    /// Address that a listener knows.
    let address: String

    /// A server for a row. `redirect`: makes an address of https that redirects to another one.
    init(_ row: BadServerRow, _ material: BadServerMaterial, _ redirect: (String, Int) -> String) {
        let script = BadServerScript(row, material)
        server = HTTPServer { script.answer($0, $1) }
        self.script = script
        if row.trouble == .redirects { script.redirect(to: redirect(server.url("/audio"), server.port)) }
        address = server.url("/")
    }

    /// Its progress so far.
    var progress: BadServerScript.Progress { script.progress }
}

/// The answers of a server to each request.
final class BadServerScript: Sendable {
    /// Bytes and answers of a server so far.
    struct Progress: Sendable {
        /// Bytes of bodies.
        fileprivate(set) var sent = 0
        /// Offset and bytes of each answer with audio, without those for one byte.
        fileprivate(set) var bodies: [(offset: Int, sent: Int)] = []
        /// Number after that of the last part of an HLS stream that was requested.
        fileprivate(set) var parts = 0
        /// True once its trouble has come.
        fileprivate(set) var hadTrouble = false
        fileprivate var requests = 0
        /// Time of the first answer with a growing playlist, in seconds.
        fileprivate var began: Double?
        fileprivate var redirect = ""
    }

    private let row: BadServerRow
    private let material: BadServerMaterial
    private let state = Mutex(Progress())

    /// Nothing is sent.
    init(_ row: BadServerRow, _ material: BadServerMaterial) {
        self.row = row
        self.material = material
    }

    /// Its progress so far.
    var progress: Progress { state.withLock { $0 } }

    /// Redirects the address that a listener knows.
    func redirect(to address: String) { state.withLock { $0.redirect = address } }

    /// Answers a request.
    func answer(_ request: HTTPServer.Request, _ connection: HTTPServer.Connection) {
        let (redirect, isFirst) = state.withLock { here in
            here.requests += 1
            return (here.redirect, here.requests == 1)
        }
        if request.target == "/", !redirect.isEmpty { return connection.answer("302 Found", ["Location: \(redirect)"]) }
        if row.trouble == .notFound, isFirst {
            state.withLock { $0.hadTrouble = true }
            return connection.answer("404 Not Found")
        }
        if row.format == .hls { return segments(request, connection) }
        guard row.isLive else {
            let file = material.file(row).bytes
            return send(
                file, Pace(bytesPerSecond: Self.linkSpeed, ahead: 0), troubleAt: Self.fileTrouble, request, connection)
        }
        let parts = material.station(row.format)
        let number = state.withLock { $0.bodies.count }
        let part = parts[min(number, parts.count - 1)].bytes
        send(
            row.isIcy ? Self.titled(part, "Song \(number)") : part,
            Pace(bytesPerSecond: part.count / BadServerMaterial.liveSeconds, ahead: Self.aheadSeconds),
            troubleAt: Self.liveTrouble, request, connection)
    }

    /// Bytes that the link carries in a second.
    private static let linkSpeed = 400 << 10
    /// Parts after which trouble comes: of a file, of all that a connection of a station sends, and of a part of an HLS stream.
    static let (fileTrouble, liveTrouble, partTrouble) = (0.6, 0.35, 0.4)
    /// Seconds that a station sends at once.
    private static let aheadSeconds = 1.5
    /// Bytes between two titles.
    private static let titleInterval = 8192

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

    // MARK: HLS

    private func segments(_ request: HTTPServer.Request, _ connection: HTTPServer.Connection) {
        let all = row.isLive ? material.segments[...] : material.parts(row)
        let pace = Pace(bytesPerSecond: Self.linkSpeed, ahead: 0)
        if request.target.hasSuffix(".ts"), let number = Int(request.target.dropFirst().dropLast(3)) {
            guard all.indices.contains(number) else { return connection.answer("404 Not Found") }
            state.withLock { $0.parts = max($0.parts, number + 1) }
            // Not in the first part: the trouble of the others comes at a listener who plays.
            return send(
                all[number], pace, troubleAt: number >= BadServerMaterial.shownSegments ? Self.partTrouble : nil,
                request,
                connection, type: "video/mp2t")
        }
        let now = MonotonicTime.now.seconds
        let shown = state.withLock { here -> Int in
            let began = here.began ?? now
            here.began = began
            let grown = BadServerMaterial.shownSegments + Int(now - began) / BadServerMaterial.segmentSeconds
            return row.isLive ? min(all.count, grown) : all.count
        }
        let first = row.isLive ? shown - BadServerMaterial.shownSegments : 0
        var text = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:\(BadServerMaterial.segmentSeconds)\n"
        text += "#EXT-X-MEDIA-SEQUENCE:\(first)\n"
        for number in first..<shown { text += "#EXTINF:\(BadServerMaterial.segmentSeconds),\n\(number).ts\n" }
        if !row.isLive { text += "#EXT-X-ENDLIST\n" }
        send(Array(text.utf8), pace, troubleAt: nil, request, connection)
    }

    // MARK: Bodies

    /// The speed of a body, and the seconds of it that are sent at once.
    private struct Pace {
        let bytesPerSecond: Int
        let ahead: Double
        static let piece = 8192

        /// Waits until the byte at `offset` is due.
        func wait(for offset: Int, since begin: MonotonicTime) {
            let due = Double(offset) / Double(bytesPerSecond) - ahead - MonotonicTime.now.seconds(since: begin)
            if due > 0 { usleep(UInt32(due * 1e6)) }
        }
    }

    /// Sends a body. `troubleAt`: part of the whole after which its trouble comes; nil: it has none.
    private func send(
        _ bytes: [UInt8], _ pace: Pace, troubleAt: Double?, _ request: HTTPServer.Request,
        _ connection: HTTPServer.Connection, type: String? = nil
    ) {
        let holds = row.isLive && row.format != .hls
        let range = request.fields["range"]?.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        let (first, last) = (range.flatMap { Int($0[0]) } ?? 0, range.flatMap { $0.count > 1 ? Int($0[1]) : nil })
        let isPart = range != nil && row.sendsParts && first < bytes.count
        let body = isPart ? first..<min(bytes.count, (last ?? .max - 1) + 1) : 0..<bytes.count
        var fields = ["Content-Type: \(type ?? row.format.contentType)"]
        // A station that states a length states any.
        if row.hasLength { fields.append("Content-Length: \(holds ? 1 << 30 : body.count)") }
        if row.offersParts { fields.append("Accept-Ranges: bytes") }
        if row.isIcy { fields.append("icy-name: Kitchen") }
        if row.isIcy, holds { fields.append("icy-metaint: \(Self.titleInterval)") }
        if row.isChunked { fields.append("Transfer-Encoding: chunked") }
        if isPart { fields.append("Content-Range: bytes \(first)-\(body.upperBound - 1)/\(bytes.count)") }
        let number = state.withLock { here -> Int? in
            guard last == nil, troubleAt != nil else { return nil }
            here.bodies.append((body.lowerBound, 0))
            return here.bodies.count - 1
        }
        connection.head(isPart ? "206 Partial Content" : "200 OK", fields)
        let cut = troubleAt.map { Int(Double(bytes.count) * $0) }
        let begin = MonotonicTime.now
        var offset = body.lowerBound
        while offset < body.upperBound {
            let isAtTrouble = cut.map { offset == $0 } ?? false
            if isAtTrouble, let isSilent = takeTrouble() {
                // Without an answer, the listener ends the connection.
                if isSilent { connection.waitForEnd() }
                return
            }
            var end = min(body.upperBound, offset + Pace.piece)
            if let cut, offset < cut { end = min(end, cut) }
            let head = row.isChunked ? Array("\(String(end - offset, radix: 16))\r\n".utf8) : []
            guard connection.send(head + bytes[offset..<end] + (row.isChunked ? [13, 10] : [])) else { return }
            state.withLock { here in
                here.sent += end - offset
                if let number { here.bodies[number].sent += end - offset }
            }
            offset = end
            pace.wait(for: offset - body.lowerBound, since: begin)
        }
        if holds { return connection.waitForEnd() }
        if row.isChunked { connection.send(Array("0\r\n\r\n".utf8)) }
    }

    /// The trouble in the middle of a body, once: true: silence; false: the connection ends; nil: none.
    private func takeTrouble() -> Bool? {
        let isSilent: Bool
        switch row.trouble {
        case .drop: isSilent = false
        case .silence: isSilent = true
        case .notFound, .redirects, .restart: return nil
        }
        return state.withLock { here in
            defer { here.hadTrouble = true }
            return here.hadTrouble ? nil : isSilent
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
