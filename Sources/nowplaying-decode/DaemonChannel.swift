import ChildDecoding
import Glibc
import NowPlaying

/// The descriptors from and to the daemon. When the daemon closes them, the process ends at once.
final class DaemonChannel {
    /// Number of the descriptor of the daemon's socket, on which orders come.
    private static let descriptor: Int32 = 3
    /// Number of the descriptor for answers: a pipe, or the socket.
    private static let answers: Int32 = 4
    /// Number of the descriptor of the file in the profile *file*.
    static let fileDescriptor: Int32 = 5

    private var received: [UInt8] = []
    /// The request of the first message.
    enum Order {
        case audio
        case pictures(PictureRequest.Task)
        case loudness
    }

    private var request: OpenRequest?
    /// Audio until the first message says otherwise.
    private(set) var order = Order.audio
    /// Newest requested seek that was not taken yet.
    private var seek: WireSeek?
    /// Collector of audio to send; nil before the source is open.
    private(set) weak var audio: AudioSender?

    /// Sends audio that is due from this collector from now on, while it waits for commands.
    func collect(from audio: AudioSender) { self.audio = audio }

    /// Seconds without a message after which bytes that come are reported: fewer than the daemon's patience.
    private static let progressSeconds = 8.0
    /// Time of the last message, in seconds.
    private var sentAt = MonotonicTime.now.seconds

    /// Reports that bytes come, if no other message was sent for long.
    func showProgress(at now: Double) {
        if case .pictures = order { return }
        if now - sentAt >= Self.progressSeconds { send(.progress, []) }
    }

    /// Sends a message. Waits until the daemon has room for it.
    func send(_ kind: WireMessage, _ body: [UInt8]) {
        body.withUnsafeBytes { send(kind, $0) }
    }

    /// Sends a message without a copy of its body.
    func send(_ kind: WireMessage, _ body: UnsafeRawBufferPointer) {
        sentAt = MonotonicTime.now.seconds
        kind.header(count: body.count).withUnsafeBytes { header in
            var rest = [iovec(header), iovec(body)]
            while true {
                // SIGPIPE is ignored: writing to a pipe without a reader fails.
                var count = writev(Self.answers, rest, Int32(rest.count))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { leave(0) }
                while let part = rest.first, count >= part.iov_len {
                    count -= part.iov_len
                    rest.removeFirst()
                }
                if rest.isEmpty { return }
                rest[0].iov_base = rest[0].iov_base.map { $0 + count }
                rest[0].iov_len -= count
            }
        }
    }

    /// Waits for the first message.
    func awaitRequest() -> OpenRequest {
        while request == nil { receive() }
        return request ?? OpenRequest()
    }

    /// True if a seek is pending. Does not block.
    func hasCommand() -> Bool {
        var polled = pollfd(fd: Self.descriptor, events: Int16(POLLIN), revents: 0)
        if poll(&polled, 1, 0) > 0 { receive() }
        return seek != nil
    }

    /// Waits for a command, for at most `seconds`; true: one is pending.
    func awaitCommand(seconds: Double) -> Bool {
        if hasCommand() { return true }
        var polled = pollfd(fd: Self.descriptor, events: Int16(POLLIN), revents: 0)
        if poll(&polled, 1, Int32(clamping: seconds * 1000)) > 0 { receive() }
        return seek != nil
    }

    /// Descriptor that becomes readable when a command may be pending.
    var pollDescriptor: Int32 { Self.descriptor }

    /// Takes the pending seek.
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
            order = .pictures(look.task)
            request = look.source
        case .measure:
            order = .loudness
            request = try OpenRequest(body)
        case .seek: seek = try WireSeek(body)
        case .opened, .audio, .metadata, .seeked, .end, .failed, .progress, .beginning, .picture, .piece, .measured:
            throw WireError("an unexpected message")
        }
        received.removeFirst(end)
        return true
    }
}

extension iovec {
    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
        self.init(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    }
}
