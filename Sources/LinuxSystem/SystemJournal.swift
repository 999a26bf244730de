import Glibc
import NowPlaying

/// The journal of systemd, by its native protocol (systemd.io, “Native Journal Protocol”): a datagram for each entry. Any thread.
///
/// libsystemd has a function for this, sd_journal_sendv(3), which waits while the journal is busy. A daemon that answers at once
/// must not wait for its log.
package struct SystemJournal: Sendable {
    private let descriptor: Int32
    private let address: sockaddr_un

    /// The path of the journal's socket.
    package static let usualPath = "/run/systemd/journal/socket"

    /// The journal of this machine, if standard error is connected to it; nil: it is not. Made once, and never closed.
    package static let ofStandardError: SystemJournal? = isStandardError ? SystemJournal(usualPath) : nil

    /// The journal at a socket. Nil: the path is too long, or there is no descriptor.
    package init?(_ path: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let isShort = withUnsafeMutableBytes(of: &address.sun_path) { place in
            guard bytes.count < place.count else { return false }
            place.copyBytes(from: bytes)
            return true
        }
        guard isShort else { return nil }
        self.address = address
        let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return nil }
    }

    /// True if `JOURNAL_STREAM` names standard error (systemd.exec(5)): a redirected one is not the journal.
    private static var isStandardError: Bool {
        guard let stream = getenv("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard fstat(2, &status) == 0 else { return false }
        return String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
    }

    /// Sends an entry. `priority`: a number of syslog(3). False: the journal did not accept it at once.
    package func send(_ message: String, priority: Int, program: String, _ fields: LogFields) -> Bool {
        let bytes = Self.entry(message, priority: priority, program: program, fields)
        var address = address
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
                return sendto(descriptor, bytes, bytes.count, flags, $0, size) == bytes.count
            }
        }
    }

    /// The bytes of an entry. No value has a line end, which would begin another field.
    static func entry(_ message: String, priority: Int, program: String, _ fields: LogFields) -> [UInt8] {
        let all = [("MESSAGE", message), ("PRIORITY", "\(priority)"), ("SYSLOG_IDENTIFIER", program)] + fields.fields
        return all.flatMap { name, value in Array("\(name)=\(PrintableText.escaped(value))\n".utf8) }
    }
}
