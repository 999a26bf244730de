import ForeignMedia
import Glibc

/// The socket to the daemon. When the daemon closes it, the process ends at once.
final class DaemonChannel {
    /// Number under which the daemon hands it over.
    private static let descriptor: Int32 = 3
    /// The same for the file of the profile *file*.
    static let fileDescriptor: Int32 = 4

    private var received: [UInt8] = []
    private var request: OpenRequest?
    /// What pictures are wanted; nil: audio is.
    private(set) var task: PictureRequest.Task?
    /// The newest seek that was asked for and not taken yet.
    private var seek: WireSeek?

    /// Sends a message; waits as long as the daemon has no room for it.
    func send(_ kind: WireMessage, _ body: [UInt8]) {
        body.withUnsafeBytes { send(kind, $0) }
    }

    /// The same without a copy.
    func send(_ kind: WireMessage, _ body: UnsafeRawBufferPointer) {
        kind.header(count: body.count).withUnsafeBytes { sendAll($0, more: !body.isEmpty) }
        sendAll(body, more: false)
    }

    private func sendAll(_ bytes: UnsafeRawBufferPointer, more: Bool) {
        var rest = bytes[...]
        let flags = Int32(MSG_NOSIGNAL) | (more ? Int32(MSG_MORE) : 0)
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = Glibc.send(Self.descriptor, part.baseAddress, part.count, flags)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { leave(0) }
            rest = rest.dropFirst(count)
        }
    }

    /// The first message.
    func awaitRequest() -> OpenRequest {
        while request == nil { receive() }
        return request ?? OpenRequest()
    }

    /// Whether a seek waits. Does not block.
    func hasCommand() -> Bool {
        var polled = pollfd(fd: Self.descriptor, events: Int16(POLLIN), revents: 0)
        if poll(&polled, 1, 0) > 0 { receive() }
        return seek != nil
    }

    /// Waits for a command, for `seconds` at most; whether one waits.
    func awaitCommand(seconds: Double) -> Bool {
        if hasCommand() { return true }
        var polled = pollfd(fd: Self.descriptor, events: Int16(POLLIN), revents: 0)
        if poll(&polled, 1, Int32(seconds * 1000)) > 0 { receive() }
        return seek != nil
    }

    /// The descriptor that is readable when a command may wait.
    var pollDescriptor: Int32 { Self.descriptor }

    /// The seek that waits.
    func takeSeek() -> WireSeek? {
        defer { seek = nil }
        return seek
    }

    /// Waits for the next seek.
    func awaitSeek() -> WireSeek {
        while true {
            if let seek = takeSeek() { return seek }
            receive()
        }
    }

    /// Waits until the daemon closes.
    func awaitEnd() -> Never { while true { receive() } }

    private func receive() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(Self.descriptor, &bytes, bytes.count, 0)
        if count < 0, errno == EINTR { return }
        guard count > 0 else { leave(0) }
        received += bytes[..<count]
        do throws(WireError) { while try takeMessage() {} } catch { leave(65) }
    }

    private func takeMessage() throws(WireError) -> Bool {
        guard received.count >= WireMessage.headerBytes else { return false }
        let (kind, count) = try WireMessage.header(received[..<WireMessage.headerBytes])
        let end = WireMessage.headerBytes + count
        guard received.count >= end else { return false }
        let body = received[WireMessage.headerBytes..<end]
        switch kind {
        case .open: request = try OpenRequest(body)
        case .look:
            let look = try PictureRequest(body)
            task = look.task
            request = look.source
        case .seek: seek = try WireSeek(body)
        default: throw WireError("a message that is none for the child")
        }
        received.removeFirst(end)
        return true
    }
}
