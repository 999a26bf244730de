import Glibc
import LinuxSystem
import NowPlaying

/// Connections that got the reason of their end. They are closed when the client has closed, too, or soon: closed at once, a
/// client that is still sending would often end with an error of its own before it reads the words.
@PlayerLoop final class Farewells {
    /// Connections at once; any more are closed at once.
    private static let maximum = 64
    /// Seconds that a client has.
    private static let seconds = 1.0

    private struct Farewell {
        let watch: EventSource
        let deadline: EventSource
    }

    private let loop: EventLoop
    private var farewells: [Int32: Farewell] = [:]

    /// Watches on this loop; nobody leaves yet.
    init(_ loop: EventLoop) { self.loop = loop }

    /// Takes over a connection whose last words were sent; what still comes from it is thrown away.
    func add(_ descriptor: Int32) {
        shutdown(descriptor, Int32(SHUT_WR))
        guard farewells.count < Self.maximum,
            let watch = loop.watch(descriptor, Events.readable, { [unowned self] _ in discard(descriptor) })
        else {
            close(descriptor)
            return
        }
        let end = EventLoop.now.advanced(bySeconds: Self.seconds)
        farewells[descriptor] = Farewell(
            watch: watch, deadline: loop.deadline(end) { [unowned self] in finish(descriptor) })
    }

    private func discard(_ descriptor: Int32) {
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { buffer in
            let got = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR) { finish(descriptor) }
        }
    }

    private func finish(_ descriptor: Int32) {
        guard let farewell = farewells.removeValue(forKey: descriptor) else { return }
        farewell.watch.release()
        farewell.deadline.release()
        close(descriptor)
    }

    /// Closes all now.
    func end() {
        for descriptor in Array(farewells.keys) { finish(descriptor) }
    }
}
