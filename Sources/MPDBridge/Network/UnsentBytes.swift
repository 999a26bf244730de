import Glibc
import LinuxSystem

/// Bytes of answers that a connection has not taken yet.
struct UnsentBytes {
    private var bytes: [UInt8] = []
    private var sent = 0

    /// Maximum sent bytes at the front before the unsent bytes move there.
    private static let mostSent = 64 << 10

    /// An empty buffer.
    init() {}

    /// Number of unsent bytes.
    var count: Int { bytes.count - sent }

    /// Appends bytes.
    mutating func append(_ more: [UInt8]) {
        if bytes.isEmpty { bytes = more } else { bytes += more }
    }

    /// Drops all bytes, as the client does not read them.
    mutating func removeAll() {
        bytes = []
        sent = 0
    }

    /// Sends as many bytes as the connection takes. False: the connection has ended.
    mutating func send(to descriptor: Int32) -> Bool {
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                UnixSocket.send(descriptor, UnsafeRawBufferPointer(rebasing: $0[sent...]))
            }
            if count == -Int(EAGAIN) { break }
            if count == -Int(EINTR) { continue }
            guard count > 0 else { return false }
            sent += count
        }
        if sent == bytes.count {
            removeAll()
        } else if sent > Self.mostSent {
            bytes.removeSubrange(..<sent)
            sent = 0
        }
        return true
    }
}
