import ControlProtocol
import Glibc
import NowPlaying
import SnapcastControl
import TCPClient

/// A probe of a Snapcast server's stream, as a client. Specification: Snapcast, doc/binary_protocol.md.
struct SnapcastProbe: Equatable {
    /// Seconds of the server's buffer.
    var buffer: Double?
    /// Seconds from the arrival of the first chunk to its playback in a room; nil: no chunk arrived.
    var ahead: Double?
    /// Id of the probe in the server's list of clients. The server lists it until a request deletes it.
    let id: String

    private static let headLength = 26
    private static let longest = 1 << 20
    private static let messages = 200
    /// Tolerated seconds between two readings of one clock.
    private static let clockError = 0.01

    private enum Kind: UInt8 {
        case wireChunk = 2
        case serverSettings = 3
        case time = 4
        case hello = 5
    }

    /// Reads until the first chunk, at most for `seconds`.
    init(_ host: String, seconds: Double) throws(SnapcastServer.Problem) {
        id = "nowplayingctl-\(getpid())"
        let end = MonotonicTime.now.advanced(bySeconds: seconds)
        let hello: JSONValue = [
            "Arch": "", "ClientName": "nowplayingctl", "HostName": "nowplayingctl", "ID": .string(id), "Instance": 1,
            "MAC": "00:00:00:00:00:00", "OS": "Linux", "SnapStreamProtocolVersion": 2, "Version": "0.26.0",
        ]
        let text = Array(JSONWriter.text(hello).utf8)
        let connection: TCPConnection
        do throws(TCPConnection.Problem) {
            connection = try TCPConnection(host, SnapcastServer.Address.streamPort, until: end)
            try connection.write(Self.message(.hello, Self.little(UInt32(text.count)) + text), until: end)
            try connection.write(Self.message(.time, [UInt8](repeating: 0, count: 8)), until: end)
        } catch { throw .connection(error) }
        var stamp: Double?
        var lead: Double?
        var arrival = 0.0
        do throws(SnapcastServer.Problem) {
            for _ in 0..<Self.messages where buffer == nil || stamp == nil || lead == nil {
                let head = try Self.read(Self.headLength, connection, end)
                let count = Int(Self.number(head[22..<26]))
                guard count <= Self.longest else { throw .strange }
                let payload = try Self.read(count, connection, end)
                let now = Self.seconds(.now)
                switch Kind(rawValue: head[0]) {
                case .serverSettings where count > 4:
                    let settings = try? JSONReader.read(Array(payload[4...]))
                    buffer = settings?["bufferMs"]?.doubleValue.map { $0 / 1000 }
                case .wireChunk where count > 12 && stamp == nil:
                    stamp = Self.time(payload[0..<8])
                    arrival = now
                case .time where count == 8:
                    // Half the difference of the two one-way times is the lead of the server's clock.
                    lead = (Self.time(payload[0..<8]) - (now - Self.time(head[6..<14]))) / 2
                case .wireChunk, .serverSettings, .time, .hello, nil: break
                }
            }
        } catch {
            // A silent source sends no chunks.
            guard error == .connection(.timedOut), buffer != nil else { throw error }
        }
        if let stamp, let buffer, let lead {
            ahead = stamp + buffer - arrival - (abs(lead) < Self.clockError ? 0 : lead)
        }
    }

    private static func message(_ kind: Kind, _ payload: [UInt8]) -> [UInt8] {
        let now = MonotonicTime.now.nanoseconds / 1000
        let times = [UInt32(truncatingIfNeeded: now / 1_000_000), UInt32(now % 1_000_000), 0, 0]
        return [kind.rawValue, 0, 0, 0, 0, 0] + times.flatMap(little) + little(UInt32(payload.count)) + payload
    }

    private static func read(
        _ count: Int, _ connection: TCPConnection, _ end: MonotonicTime
    ) throws(SnapcastServer.Problem) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count { bytes += try SnapcastServer.read(count - bytes.count, connection, until: end) }
        return bytes
    }

    private static func seconds(_ time: MonotonicTime) -> Double { Double(time.nanoseconds) / 1e9 }

    /// Seconds of two signed fields: seconds and microseconds.
    private static func time(_ bytes: ArraySlice<UInt8>) -> Double {
        Double(Int32(bitPattern: number(bytes.prefix(4)))) + Double(Int32(bitPattern: number(bytes.suffix(4)))) / 1e6
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func little(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
