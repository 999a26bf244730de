import AudioCore
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import TCPClient

/// Requests a Snapcast server's buffer, and the times that it gives to chunks of a source, as a client of its stream
/// protocol. The server's list of clients has an entry of ours only during the request: this deletes the entry
/// afterwards. For workers: it waits.
struct SnapcastQuestion {
    /// Answers of the server.
    struct Answer: Sendable, Equatable {
        /// Seconds of its buffer.
        var buffer: Double
        /// Chunks of the source, with their times on its clock.
        var chunks: [Chunk] = []
        /// Its clock; nil: it was not asked for it.
        var clock: ServerClock.Reading?
    }

    /// A chunk of the stream.
    struct Chunk: Sendable, Equatable {
        /// Its time: the rooms play the chunk after the buffer.
        let time: MonotonicTime
        /// Its samples as sent to the server; nil: the codec changed them.
        let samples: [UInt8]?
    }

    /// Reason for a missing answer.
    struct Refusal: Error {
        let text: String
    }

    /// Ports of the stream protocol and of the control protocol.
    private static let streamPort: UInt16 = 1704
    private static let controlPort: UInt16 = 1705
    /// Maximum seconds for each of the two.
    private static let patience = 1.0
    /// Maximum number of messages to read.
    private static let limit = 64
    /// Seconds of a step of the times in messages.
    private static let clockStep = 0.000002
    /// Number of requests for the server's clock.
    private static let clockQuestions = 5
    /// Valid buffers of a server, in seconds.
    private static let buffers = 0.05...30.0

    private let address: SnapcastAddress
    private let name = "nowplayingd-\(getpid())-\(MonotonicTime.now.nanoseconds)"
    private let connection: TCPConnection
    private let end = MonotonicTime.now.advanced(bySeconds: patience)
    private var buffer: Double?
    private var codec = ""
    private var stamps: [(time: MonotonicTime, payload: [UInt8])] = []
    /// The best reading of the server's clock.
    private var clock: ServerClock.Reading?

    /// Requests the times of a source. `chunks`: number of chunks to await.
    static func ask(_ address: SnapcastAddress, chunks: Int) throws(Refusal) -> Answer {
        var question: SnapcastQuestion
        do throws(TCPConnection.Problem) { question = try SnapcastQuestion(address) } catch {
            throw Refusal(text: "port \(streamPort): \(SystemError.words(error.code))")
        }
        let answer: Result<Answer, Refusal>
        do throws(Refusal) { answer = .success(try question.answer(chunks)) } catch { answer = .failure(error) }
        SnapcastEntries.ours.delete(question.name, at: address) { name in
            (try? control(address, "Server.DeleteClient", ["id": .string(name)])).map { $0 != .null }
        }
        return try answer.get()
    }

    /// The format of a source as the server names it, such as `48000:16:2`; nil: the server does not report it.
    static func format(of address: SnapcastAddress) -> String? {
        let streams = (try? control(address, "Server.GetStatus", nil))?["server"]?["streams"]?.arrayValue
        return streams?.first { isSource($0, address) }?["uri"]?["query"]?["sampleformat"]?.stringValue
    }

    private init(_ address: SnapcastAddress) throws(TCPConnection.Problem) {
        self.address = address
        connection = try TCPConnection(host: address.host, port: Self.streamPort, seconds: Self.patience)
    }

    private mutating func answer(_ chunks: Int) throws(Refusal) -> Answer {
        do throws(TCPConnection.Problem) {
            try greet()
            if chunks > 0 { for _ in 0..<Self.clockQuestions { try send(.time, [UInt8](repeating: 0, count: 8)) } }
            for _ in 0..<Self.limit where buffer == nil || stamps.count < chunks { try readMessage() }
        } catch {
            // A silent source sends no chunks.
            guard buffer != nil, error.code == ETIMEDOUT else {
                throw Refusal(text: "port \(Self.streamPort): \(SystemError.words(error.code))")
            }
        }
        guard let buffer, Self.buffers.contains(buffer) else { throw Refusal(text: "its settings name no buffer") }
        guard chunks > 0, !stamps.isEmpty, let clock, playsSource else { return Answer(buffer: buffer) }
        return Answer(
            buffer: buffer, chunks: stamps.map { Chunk(time: $0.time, samples: codec == "pcm" ? $0.payload : nil) },
            clock: clock)
    }

    // MARK: Stream protocol

    private func greet() throws(TCPConnection.Problem) {
        let hello: JSONValue = [
            "Arch": "", "ClientName": "nowplayingd", "HostName": "nowplayingd", "ID": .string(name), "Instance": 1,
            "MAC": "00:00:00:00:00:00", "OS": "Linux", "SnapStreamProtocolVersion": 2, "Version": "0.26.0",
        ]
        try send(.hello, SnapcastMessage.lengthFirst(JSONWriter.text(hello)))
    }

    private func send(_ kind: SnapcastMessage.Kind, _ payload: [UInt8]) throws(TCPConnection.Problem) {
        try connection.write(SnapcastMessage.bytes(kind, payload, sent: .now), until: end)
    }

    private mutating func readMessage() throws(TCPConnection.Problem) {
        guard let message = SnapcastMessage(try read(SnapcastMessage.headLength)) else {
            throw .system(EPROTO)
        }
        let payload = try read(message.length)
        let now = MonotonicTime.now
        switch SnapcastMessage.Kind(rawValue: message.kind) {
        case .serverSettings:
            let settings = SnapcastMessage.text(payload).flatMap { try? JSONReader.read($0) }
            buffer = settings?["bufferMs"]?.doubleValue.map { $0 / 1000 } ?? -1
        case .codecHeader: codec = SnapcastMessage.text(payload) ?? ""
        case .wireChunk:
            guard payload.count > 12 else { return }
            stamps.append((SnapcastMessage.time(payload[0..<8]), Array(payload[12...])))
        case .time:
            guard payload.count == 8 else { return }
            let there = Double(SnapcastMessage.time(payload[0..<8]).nanoseconds) / 1e9
            let back = now.seconds(since: message.sent)
            let error = (there + back) / 2 + Self.clockStep
            if error < clock?.error ?? .infinity {
                clock = ServerClock.Reading(time: now, lead: (there - back) / 2, error: error)
            }
        case .hello, nil: break
        }
    }

    /// Reads exactly this number of bytes.
    private func read(_ count: Int) throws(TCPConnection.Problem) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let more = try connection.read(count - bytes.count, until: end)
            guard !more.isEmpty else { throw .system(ECONNRESET) }
            bytes += more
        }
        return bytes
    }

    // MARK: Control protocol

    /// True if the chunks belong to the requested source: a server may have several.
    private var playsSource: Bool {
        guard let server = (try? Self.control(address, "Server.GetStatus", nil))?["server"] else { return false }
        let group = server["groups"]?.arrayValue?.first { group in
            group["clients"]?.arrayValue?.contains { $0["id"]?.stringValue == name } ?? false
        }
        guard let id = group?["stream_id"]?.stringValue else { return false }
        let stream = server["streams"]?.arrayValue?.first { $0["id"]?.stringValue == id }
        return stream.map { Self.isSource($0, address) } ?? false
    }

    /// True if a stream of a server is the source at this address.
    private static func isSource(_ stream: JSONValue, _ address: SnapcastAddress) -> Bool {
        stream["uri"]?["scheme"]?.stringValue == "tcp"
            && stream["uri"]?["host"]?.stringValue?.hasSuffix(":\(address.port)") ?? false
    }

    /// Result of a method of the server.
    private static func control(
        _ address: SnapcastAddress, _ method: String, _ parameters: JSONValue?
    ) throws(TCPConnection.Problem) -> JSONValue {
        let end = MonotonicTime.now.advanced(bySeconds: patience)
        var request = JSONObject([
            .init("jsonrpc", "2.0"), .init("id", 1), .init("method", .string(method)),
        ])
        if let parameters { request["params"] = parameters }
        let connection = try TCPConnection(address.host, controlPort, until: end)
        try connection.write(Array((JSONWriter.text(.object(request)) + "\r\n").utf8), until: end)
        return try answer(connection, until: end)
    }

    /// The result of the first answer. Notifications come on lines of their own.
    private static func answer(
        _ connection: TCPConnection, until end: MonotonicTime
    ) throws(TCPConnection.Problem) -> JSONValue {
        var text: [UInt8] = []
        while text.count < SnapcastMessage.longest {
            let more = try connection.read(65536, until: end)
            guard !more.isEmpty else { throw .system(ECONNRESET) }
            text += more
            while let line = text.firstIndex(of: UInt8(ascii: "\n")) {
                if let answer = try? JSONReader.read(Array(text[..<line])), answer["id"] != nil {
                    return answer["result"] ?? .null
                }
                text.removeSubrange(...line)
            }
        }
        throw .system(EMSGSIZE)
    }
}
