import ChildDecoding
import Glibc
import LinuxSystem
import NowPlaying

/// Reads the messages of a child from its pipe or socket. Keeps 64 KiB, and one body that is not audio.
final class ChildMessages {
    /// A message, or the part of it that has come.
    enum Message {
        /// Audio that `takeAudio` can take.
        case audio
        /// A whole message that is not audio, with its body.
        case body(WireMessage, [UInt8])
    }

    /// Bytes of a frame, once the format is known: `takeAudio` takes whole frames.
    private(set) var frameBytes = 1
    /// True if the other side has closed.
    private(set) var isClosed = false
    private let descriptor: Int32
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    private var start = 0
    private var end = 0
    /// Kind of the present message, and the bytes of its body that are still to be taken.
    private var kind: WireMessage?
    private var left = 0
    private var body: [UInt8] = []

    /// Reads messages from `descriptor`, and makes it non-blocking.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit { buffer.deallocate() }

    /// Takes frames of this many bytes, at least 1, from now on.
    func expectFrames(ofBytes count: Int) { frameBytes = count }

    /// The next message, or the part of its audio that has come; nil: nothing yet. Throws `WireError`, also if the
    /// other side has closed.
    func next() throws(WireError) -> Message? {
        while true {
            if kind == nil, end - start >= WireMessage.headerBytes {
                let (kind, count) = try WireMessage.header(buffer[start..<start + WireMessage.headerBytes])
                start += WireMessage.headerBytes
                guard kind != .audio || (count > 0 && count % frameBytes == 0) else {
                    throw WireError("audio that is not whole frames")
                }
                self.kind = kind
                left = count
                body = []
            }
            if let kind {
                if kind == .audio {
                    if min(left, end - start) >= frameBytes { return .audio }
                } else {
                    let part = min(left, end - start)
                    body += buffer[start..<start + part]
                    start += part
                    left -= part
                    if left == 0 {
                        self.kind = nil
                        return .body(kind, body)
                    }
                }
            }
            guard try receive() else { return nil }
        }
    }

    /// Takes whole frames of the audio that has come; returns the bytes taken. `discarding` drops them.
    func takeAudio(into target: UnsafeMutableRawBufferPointer, discarding: Bool) -> Int {
        var count = min(left, end - start)
        if !discarding { count = min(count, target.count) }
        count -= count % frameBytes
        if !discarding { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[start..<start + count])) }
        start += count
        left -= count
        if left == 0 { kind = nil }
        return count
    }

    /// Waits until bytes have come or the other side has closed; false: the deadline passed.
    func wait(until deadline: MonotonicTime) -> Bool {
        while true {
            let left = deadline.seconds(since: EventLoop.now)
            guard left > 0 else { return false }
            var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = poll(&polled, 1, Int32(left * 1000) + 1)
            if count > 0 { return true }
            if count < 0, errno != EINTR { return false }
        }
    }

    /// Receives the bytes that are available; false: none are.
    private func receive() throws(WireError) -> Bool {
        if start > 0 {
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[start..<end]))
            end -= start
            start = 0
        }
        while true {
            let count = Glibc.read(descriptor, buffer.baseAddress! + end, buffer.count - end)
            if count > 0 {
                end += count
                return true
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return false }
            isClosed = true
            throw WireError("nothing more")
        }
    }
}
