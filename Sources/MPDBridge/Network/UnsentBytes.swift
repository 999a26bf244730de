import Glibc
import LinuxSystem

/// Bytes of answers that a connection has not taken yet.
struct UnsentBytes {
    private var bytes: [UInt8] = []
    private var sent = 0

    /// Sent bytes that are kept at most before those that wait are moved.
    private static let mostSent = 64 << 10

    /// No bytes.
    init() {}

    /// Bytes that wait.
    var count: Int { bytes.count - sent }

    /// Adds bytes behind those that wait.
    mutating func append(_ more: [UInt8]) {
        if bytes.isEmpty { bytes = more } else { bytes += more }
    }

    /// Forgets all: nobody reads them.
    mutating func removeAll() {
        bytes = []
        sent = 0
    }

    /// Sends as much as the connection takes. False: it has ended.
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
