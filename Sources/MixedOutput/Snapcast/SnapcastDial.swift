import AudioCore
import LinuxSystem
import TCPClient

/// The result of an attempt to reach a Snapcast server. Made on a worker, where it waits.
struct SnapcastDial: Sendable {
    /// The connection, which is the receiver's; nil: there is none.
    let descriptor: Int32?
    /// Reason for which there is none.
    let error: String?
    /// Seconds of the server's buffer; nil: it was not asked, or did not say.
    let buffer: Double?
    /// Reason for which it did not say.
    let refusal: String?
    /// Format of the source, as the server names it; nil: it was not asked, or did not say.
    let format: String?

    /// Connects to a source within so many seconds; `asks`: asks the server for its buffer and the format, too.
    init(_ address: SnapcastAddress, seconds: Double, asks: Bool) {
        do throws(TCPConnection.Problem) {
            descriptor = try TCPConnection.open(host: address.host, port: address.port, seconds: seconds)
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
