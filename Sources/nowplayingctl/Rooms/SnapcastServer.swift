import ControlProtocol
import Glibc
import NowPlaying
import NowPlayingClient
import SnapcastControl
import TCPClient

/// The control protocol of a Snapcast server: JSON-RPC lines over TCP, without a password.
/// Specification: Snapcast, doc/json_rpc_api/control.md.
final class SnapcastServer {
    /// Host and port in the notation of the command line.
    typealias Address = ControlAddress

    /// A failed request to a server.
    enum Problem: Error, Equatable {
        case connection(TCPConnection.Problem)
        case ended, strange
        /// Error message of the server.
        case refused(String)
    }

    let address: Address
    private let seconds: Double
    private let connection: TCPConnection
    private var buffer: [UInt8] = []
    private var number: Int64 = 0

    /// Connects. `seconds`: time limit of the connection, and of each answer.
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
        let end = MonotonicTime.now.advanced(bySeconds: seconds)
        do throws(Problem) {
            try write(ControlLine.request(number, method, parameters) + [UInt8(ascii: "\n")], until: end)
            // Notifications come on lines of their own.
            while true {
                switch try line(until: end) {
                case .result(number, let result): return result
                case .refusal(number, let words): throw Problem.refused(words)
                case .result, .refusal, .news: continue
                }
            }
        } catch { throw Self.failure(error, address, seconds) }
    }

    private func line(until end: MonotonicTime) throws(Problem) -> ControlLine {
        while true {
            if let newline = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(buffer[..<newline])
                buffer.removeSubrange(...newline)
                guard let value = ControlLine(line) else { throw .strange }
                return value
            }
            guard buffer.count < ControlLine.maximumBytes else { throw .strange }
            buffer += try Self.read(65536, connection, until: end)
        }
    }

    private func write(_ bytes: [UInt8], until end: MonotonicTime) throws(Problem) {
        do throws(TCPConnection.Problem) { try connection.write(bytes, until: end) } catch { throw .connection(error) }
    }

    /// Reads at most `limit` bytes from a server. End of file is a problem: an answer is missing.
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

    /// A fault of the connection: a line about it, and one with the remedy.
    static func failure(_ problem: Problem, _ address: Address, _ seconds: Double) -> Failure {
        let server = "the Snapcast server at \(TerminalText.safe(address.text))"
        func failure(_ words: String, _ remedy: String, _ status: ExitStatus = .general) -> Failure {
            Failure(status, "\(server)\(words)\n\(remedy)")
        }
        let port = "The port of the control protocol is usually \(Address.controlPort): --server HOST:PORT"
        switch problem {
        case .connection(.timedOut):
            return failure(
                " did not answer within \(ClockText.number(seconds)) s",
                "Restart it, or allow its port \(address.port) in the firewall", .timeout)
        case .connection(.unknownHost): return failure(": there is no such host", "Name another one: --server HOST")
        case .connection(.system(ECONNRESET)), .ended:
            return failure(" closed the connection before it answered", port)
        case .connection(.system(let code)):
            return failure(
                " cannot be reached: \(SystemText.error(code))",
                "Start it, allow its port \(address.port) in the firewall, or name another one: --server HOST")
        case .strange: return failure(" does not speak Snapcast's control protocol", port)
        case .refused(let words):
            return failure(" refuses: \(TerminalText.safe(words))", "Its log has the reason: journalctl -u snapserver")
        }
    }
}
