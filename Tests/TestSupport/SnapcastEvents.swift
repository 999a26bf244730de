package import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import Synchronization
import TCPClient

/// A client of a Snapcast server's control protocol that keeps the notifications that it gets, with their instants.
package final class SnapcastEvents: Sendable {
    /// A notification.
    package struct Event: Sendable {
        /// `Stream.OnProperties`, …
        package let method: String
        package let parameters: JSONValue
        /// Seconds of CLOCK_MONOTONIC at its arrival.
        package let time: Double
    }

    private let events = Mutex<[Event]>([])
    private let isOver = Mutex(false)
    private let connection: TCPConnection

    /// Connects to the server and reads until its end, on a thread of its own.
    package init() {
        guard let opened = try? TCPConnection(host: Snapserver.host, port: 1705, seconds: 5) else {
            preconditionFailure("no Snapcast server")
        }
        connection = opened
        _ = DetachedThread.start("events") { [self] in run() }
    }

    private func run() {
        var text: [UInt8] = []
        let end = MonotonicTime.now.advanced(bySeconds: 3600)
        while let more = try? connection.read(65536, until: end), !more.isEmpty {
            let now = Double(MonotonicTime.now.nanoseconds) / 1e9
            text += more
            while let newline = text.firstIndex(of: UInt8(ascii: "\n")) {
                let message = try? JSONReader.read(Array(text[..<newline]))
                text.removeSubrange(...newline)
                guard let method = message?["method"]?.stringValue else { continue }
                let event = Event(method: method, parameters: message?["params"] ?? .null, time: now)
                events.withLock { $0.append(event) }
            }
        }
        isOver.withLock { $0 = true }
    }

    /// All notifications of a method so far.
    package func all(_ method: String) -> [Event] { events.withLock { $0 }.filter { $0.method == method } }

    /// The first notification of a method for which a condition holds; nil: none came within 20 s.
    package func first(_ method: String, _ holds: (JSONValue) -> Bool) -> Event? {
        var found: Event?
        _ = becomes {
            found = all(method).first { holds($0.parameters) }
            return found != nil
        }
        return found
    }

    /// Forgets all notifications so far.
    package func forget() { events.withLock { $0 = [] } }

    /// Ends the connection, and returns when it has ended.
    package func end() {
        shutdown(connection.descriptor, Int32(SHUT_RDWR))
        while !isOver.withLock({ $0 }) { usleep(1000) }
    }
}
