import CMicroHTTP
import LinuxSystem
import WebProtocol

/// The body of a lasting answer: events. A slow client gets only the newest event.
@PlayerLoop final class EventBody {
    /// Called once when the client has gone.
    var onEnd: (@PlayerLoop () -> Void)?

    private unowned let connection: HTTPConnection
    private var handle: OpaquePointer?
    private var current: [UInt8] = EventText.beginning
    private var sent = 0
    private var newest: [UInt8]?
    private var isSuspended = false
    private var hasEnded = false
    private var watch: EventSource?

    /// The body of an answer on this connection.
    init(_ connection: HTTPConnection) { self.connection = connection }

    /// Sends an event. It replaces an event that the client has not begun to read.
    func send(_ event: [UInt8]) {
        guard !hasEnded else { return }
        newest = event
        guard sent == current.count else { return }
        resume()
    }

    /// Ends the answer.
    func end() {
        hasEnded = true
        resume()
    }

    private func resume() {
        guard isSuspended, let handle else { return }
        isSuspended = false
        watch = nil
        // From now on, MHD ends the connection if the client reads nothing.
        MHD_resume_connection(handle)
        connection.kick()
    }

    /// Bytes for MHD.
    private func take(_ space: UnsafeMutableRawBufferPointer) -> Int {
        if sent == current.count, let next = newest {
            current = next
            sent = 0
            newest = nil
        }
        guard sent < current.count else {
            if hasEnded { return -1 }
            guard let handle = connection.handle else { return -2 }
            self.handle = handle
            isSuspended = true
            MHD_suspend_connection(handle)
            watchGone()
            return 0
        }
        let count = min(space.count, current.count - sent)
        current.withUnsafeBytes { space.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[sent..<sent + count])) }
        sent += count
        return count
    }

    /// Watches a suspended connection, which MHD does not watch.
    private func watchGone() {
        watch = connection.watchGone { [unowned self] in end() }
    }

    private func finish() {
        hasEnded = true
        watch = nil
        let onEnd = onEnd
        self.onEnd = nil
        onEnd?()
    }

    /// The answer for MHD.
    func response() -> OpaquePointer? {
        web_stream_response(
            4096,
            { context, _, space, count in
                let (context, space) = (UInt(bitPattern: context), UInt(bitPattern: space))
                return PlayerLoop.assumeIsolated {
                    let target = UnsafeMutableRawPointer(bitPattern: space)
                    return EventBody.at(context)
                        .take(UnsafeMutableRawBufferPointer(start: target, count: target == nil ? 0 : count))
                }
            }, Unmanaged.passRetained(self).toOpaque(),
            { context in
                let context = UInt(bitPattern: context)
                PlayerLoop.assumeIsolated {
                    EventBody.at(context).finish()
                    Unmanaged<EventBody>.fromOpaque(UnsafeRawPointer(bitPattern: context)!).release()
                }
            })
    }

    private static func at(_ context: UInt) -> EventBody {
        Unmanaged<EventBody>.fromOpaque(UnsafeRawPointer(bitPattern: context)!).takeUnretainedValue()
    }
}
