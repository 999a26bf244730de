import AudioCore
import LinuxSystem
import TCPClient

/// The result of an attempt to connect to a Snapcast server. Made on a worker, because it waits.
struct SnapcastDial: Sendable {
    /// Descriptor of the connection, which the receiver closes; nil: there is none.
    let descriptor: Int32?
    /// Reason for a missing connection.
    let error: String?
    /// Seconds of the server's buffer; nil: not requested, or no answer.
    let buffer: Double?
    /// Reason for a missing answer.
    let refusal: String?
    /// Format of the source, as the server names it; nil: not requested, or no answer.
    let format: String?

    /// Ports of this end to a server on another machine. A source reads one connection until that ends, and after a power cut
    /// here nobody ends it but a later one from the same port.
    private static let ports: [UInt16] = Array(4954...4957)

    /// Lets a server on another machine end the connections that this one has forgotten. Waits.
    static func endForgotten(_ address: SnapcastAddress, seconds: Double) {
        TCPConnection.endForgotten(host: address.host, port: address.port, from: ports, seconds: seconds)
    }

    /// Connects to a source within this many seconds. `last`: port of this end in the connection before, which the server may still
    /// read: one from there ends it. `asks`: also requests the server's buffer and format.
    init(_ address: SnapcastAddress, from last: UInt16?, seconds: Double, asks: Bool) {
        do throws(TCPConnection.Problem) {
            descriptor = try TCPConnection.open(
                host: address.host, port: address.port, from: [last].compactMap(\.self) + Self.ports, seconds: seconds)
            error = nil
        } catch {
            descriptor = nil
            self.error = SystemError.words(error.code)
            buffer = nil
            refusal = nil
            format = nil
            return
        }
        guard asks else {
            buffer = nil
            refusal = nil
            format = nil
            return
        }
        format = SnapcastQuestion.format(of: address)
        do throws(SnapcastQuestion.Refusal) {
            buffer = try SnapcastQuestion.ask(address, chunks: 0).buffer
            refusal = nil
        } catch {
            buffer = nil
            refusal = error.text
        }
    }
}
