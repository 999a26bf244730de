import CLinux
import Glibc
import LinuxSystem

/// One connection to a source of a Snapcast server.
@PlayerLoop final class SnapcastLink {
    private let loop: EventLoop
    private let descriptor: Int32
    private let bytesPerFrame: Int
    private var source: EventSource?
    /// Counter of the bytes that the server has not read; nil: it is on another machine.
    private let queue: PeerQueue?
    private var lost: @PlayerLoop (_ isForeign: Bool) -> Void = { _ in }
    private var room: @PlayerLoop () -> Void = {}
    /// The rest of a frame that the kernel took in part.
    private var fraction: [UInt8] = []

    /// Takes over a connected descriptor. `room`: size of the send buffer in bytes.
    init(_ loop: EventLoop, _ descriptor: Int32, bytesPerFrame: Int, room: Int) {
        self.loop = loop
        self.descriptor = descriptor
        self.bytesPerFrame = bytesPerFrame
        queue = PeerQueue(descriptor)
        TCPSocket.sendAtOnce(descriptor)
        TCPSocket.endWhenPeerVanishes(descriptor)
        // A small buffer, because a large one would delay the detection of a hanging server.
        var size = Int32(clamping: room)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    isolated deinit {
        source?.release()
        close(descriptor)
    }

    /// True if the server is on this machine, and so has our clock.
    var isLocal: Bool { queue != nil }

    /// Port of this end.
    var port: UInt16? { PeerQueue.ownPort(of: descriptor) }

    /// Bytes of whole frames that the server has not read; nil: unknown.
    var unread: Int? { queue?.unread.map { $0 + fraction.count } }

    private static let listening = EPOLLIN.rawValue | EPOLLRDHUP.rawValue

    /// Sets the handlers of the connection. `lost`: it has ended, or the other end has sent bytes. `room`: more can be
    /// sent.
    func listen(
        lost: @escaping @PlayerLoop (_ isForeign: Bool) -> Void, room: @escaping @PlayerLoop () -> Void
    ) {
        self.lost = lost
        self.room = room
        guard source == nil else { return }
        source = loop.watch(descriptor, Self.listening) { [unowned self] events in changed(events) }
    }

    private func changed(_ events: UInt32) {
        let over = EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue
        guard events & over != 0 else {
            source?.setEvents(Self.listening)
            // The owner may drop this object during the call.
            let room = room
            return room()
        }
        var byte: UInt8 = 0
        let isForeign = recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) == 1
        source?.release()
        source = nil
        let lost = lost
        lost(isForeign)
    }

    /// Sends whole frames as far as the kernel takes them. Returns the bytes of those frames; `room` follows if fewer
    /// than all were taken.
    func send(_ frames: UnsafeRawBufferPointer) -> Int {
        if !fraction.isEmpty {
            let count = fraction.withUnsafeBytes { write($0) }
            fraction.removeFirst(count)
        }
        var taken = 0
        if fraction.isEmpty {
            let count = write(frames)
            // A frame that was sent in part counts as sent.
            taken = min(frames.count, (count + bytesPerFrame - 1) / bytesPerFrame * bytesPerFrame)
            fraction = Array(frames[count..<taken])
        }
        if taken < frames.count || !fraction.isEmpty { source?.setEvents(Self.listening | EPOLLOUT.rawValue) }
        return taken
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        var done = 0
        while done < bytes.count {
            let count = Glibc.send(
                descriptor, bytes.baseAddress! + done, bytes.count - done, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            if count > 0 {
                done += count
            } else if errno != EINTR {
                // The buffer is full, or the connection has ended, which the loop reports.
                break
            }
        }
        return done
    }
}
