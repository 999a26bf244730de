import ControlProtocol
import Glibc
import NowPlaying
import NowPlayingClient
import TCPClient

/// The control protocol of a Snapcast server: JSON-RPC lines over TCP, without a password.
/// Specification: Snapcast, doc/json_rpc_api/control.md.
final class SnapcastServer {
    /// Host and port as a person writes them.
    struct Address: Equatable {
        /// A name, or an address without brackets.
        let host: String
        /// Port of the control protocol.
        let port: UInt16

        /// The usual port of the control protocol.
        static let controlPort: UInt16 = 1705
        /// The port of the stream protocol.
        static let streamPort: UInt16 = 1704

        /// Reads `HOST`, `HOST:PORT`, `[ADDRESS]:PORT` and a lone address of IPv6; nil: it is none of these.
        init?(_ text: String) {
            var rest = Substring(text)
            var port: Substring?
            if rest.hasPrefix("[") {
                guard let end = rest.firstIndex(of: "]") else { return nil }
                let after = rest[rest.index(after: end)...]
                rest = rest[rest.index(after: rest.startIndex)..<end]
                guard after.isEmpty || after.hasPrefix(":") else { return nil }
                if !after.isEmpty { port = after.dropFirst() }
            } else if rest.filter({ $0 == ":" }).count == 1, let colon = rest.firstIndex(of: ":") {
                port = rest[rest.index(after: colon)...]
                rest = rest[..<colon]
            }
            guard (1...255).contains(rest.utf8.count), rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                return nil
            }
            host = String(rest)
            guard let port else {
                self.port = Self.controlPort
                return
            }
            guard let number = ClockText.integer(port), number > 0, let small = UInt16(exactly: number) else {
                return nil
            }
            self.port = small
        }

        /// For people.
        var text: String {
            let host = self.host.contains(":") ? "[\(self.host)]" : self.host
            return port == Self.controlPort ? host : "\(host):\(port)"
        }
    }

    /// Why a server does not answer.
    enum Problem: Error, Equatable {
        case connection(TCPConnection.Problem)
        case ended, strange
        /// Words of the server.
        case refused(String)
    }

    let address: Address
    private let seconds: Double
    private let connection: TCPConnection
    private var buffer: [UInt8] = []
    private var number: Int64 = 0

    /// Most bytes of an answer.
    private static let maximumAnswer = 4 << 20

    /// Connects. `seconds`: for the connection, and for each answer.
    init(_ address: Address, seconds: Double) throws(Failure) {
        self.address = address
        self.seconds = seconds
        let end = MonotonicTime.now.advanced(bySeconds: seconds)
        do throws(TCPConnection.Problem) {
            connection = try TCPConnection(address.host, address.port, until: end)
        } catch { throw Self.failure(.connection(error), address, seconds) }
    }

    /// Result of a method.
    func call(_ method: String, _ parameters: JSONValue? = nil) throws(Failure) -> JSONValue {
        number += 1
        var request = JSONObject([
            .init("jsonrpc", "2.0"), .init("id", .integer(number)), .init("method", .string(method)),
        ])
        if let parameters { request["params"] = parameters }
        let end = MonotonicTime.now.advanced(bySeconds: seconds)
        do throws(Problem) {
            try write(Array((JSONWriter.text(.object(request)) + "\r\n").utf8), until: end)
            // Notifications come on lines of their own.
            while true {
                let answer = try line(until: end)
                guard answer["id"]?.integerValue == number else { continue }
                if let error = answer["error"] {
                    let words = error["data"]?.stringValue ?? error["message"]?.stringValue ?? "no reason given"
                    throw Problem.refused(words)
                }
                return answer["result"] ?? .null
            }
        } catch { throw Self.failure(error, address, seconds) }
    }

    private func line(until end: MonotonicTime) throws(Problem) -> JSONValue {
        while true {
            if let newline = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(buffer[..<newline])
                buffer.removeSubrange(...newline)
                guard let value = try? JSONReader.read(line) else { throw .strange }
                return value
            }
            guard buffer.count < Self.maximumAnswer else { throw .strange }
            buffer += try Self.read(65536, connection, until: end)
        }
    }

    private func write(_ bytes: [UInt8], until end: MonotonicTime) throws(Problem) {
        do throws(TCPConnection.Problem) { try connection.write(bytes, until: end) } catch { throw .connection(error) }
    }

    /// Reads some bytes of a server, at most `limit`. The end is a problem: an answer is missing.
    static func read(
        _ limit: Int, _ connection: TCPConnection, until end: MonotonicTime
    ) throws(Problem) -> [UInt8] {
        let bytes: [UInt8]
        do throws(TCPConnection.Problem) { bytes = try connection.read(limit, until: end) } catch {
            throw .connection(error)
        }
        guard !bytes.isEmpty else { throw .ended }
        return bytes
    }

    /// A fault of the connection, in words.
    static func failure(_ problem: Problem, _ address: Address, _ seconds: Double) -> Failure {
        let server = "the Snapcast server at \(TerminalText.safe(address.text))"
        switch problem {
        case .connection(.timedOut):
            return Failure(.timeout, "\(server) did not answer within \(ClockText.number(seconds)) s")
        case .connection(.unknownHost): return Failure(.general, "\(server): there is no such host")
        case .connection(.system(ECONNRESET)), .ended:
            return Failure(.general, "\(server) closed the connection before it answered")
        case .connection(.system(let code)):
            return Failure(.general, "\(server) cannot be reached: \(SystemText.error(code))")
        case .strange: return Failure(.general, "\(server) does not speak Snapcast's control protocol")
        case .refused(let words): return Failure(.general, "\(server) refuses: \(TerminalText.safe(words))")
        }
    }
}
