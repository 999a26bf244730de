import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import Synchronization
import TestSupport

/// A subscriber that reads each state at once, on a thread of its own, and keeps the instant at which it came.
final class StateReceipts: Sendable {
    private struct Record {
        var instants: [Int64: Double] = [:]
        var isSubscribed = false
        var isOver = false
    }

    private let record = Mutex(Record())

    /// Subscribes at the daemon's socket, and returns when the daemon has answered.
    init(_ path: String) {
        let descriptor = (try? UnixSocket.connect(path)) ?? -1
        precondition(descriptor >= 0, "can't connect to \(path)")
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        let request = Array(#"{"jsonrpc":"2.0","id":1,"method":"nowPlaying.subscribe"}"#.utf8) + [10]
        precondition(write(descriptor, request, request.count) == request.count, "the daemon takes no request")
        _ = DetachedThread.start("receipts") { [self] in
            read(descriptor)
            close(descriptor)
            record.withLock { $0.isOver = true }
        }
        precondition(becomes { record.withLock { $0.isSubscribed } }, "the daemon does not answer")
    }

    private func read(_ descriptor: Int32) {
        var text: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(descriptor, &bytes, bytes.count)
            guard count > 0 else { return }
            let now = Double(MonotonicTime.now.nanoseconds) / 1e9
            text += bytes[..<count]
            while let end = text.firstIndex(of: UInt8(ascii: "\n")) {
                if let message = try? JSONReader.read(Array(text[..<end])) { take(message, at: now) }
                text.removeSubrange(...end)
            }
        }
    }

    private func take(_ message: JSONValue, at now: Double) {
        record.withLock { record in
            if message["id"] != nil { record.isSubscribed = true }
            if let state = message["params"] { record.instants[state.sequence] = now }
        }
    }

    /// Instant at which a state came, in seconds of CLOCK_MONOTONIC; nil: none with its number did.
    func instant(of state: JSONValue) -> Double? { record.withLock { $0.instants[state.sequence] } }

    /// Returns when the daemon has ended the connection.
    func end() { while !record.withLock({ $0.isOver }) { usleep(1000) } }
}
