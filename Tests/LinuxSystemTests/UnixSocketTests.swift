import Glibc
import LinuxSystem
import NowPlaying
import Testing

/// Connections to a local socket whose queue is full.
@Suite struct UnixSocketTests {
    /// A listener whose queue has room for one connection, and that connection.
    private final class FullListener: Sendable {
        let path: String
        let listener: Int32
        let waiting: Int32

        init() throws {
            path = "/tmp/nowplaying-queue-\(getpid())-\(UInt32.random(in: 0 ... .max))"
            listener = try UnixSocket.listen(path)
            try #require(listen(listener, 0) == 0)
            waiting = try UnixSocket.connect(path)
        }

        deinit {
            for descriptor in [listener, waiting] { close(descriptor) }
            unlink(path)
        }
    }

    @Test("a connect waits for room in the queue, and the socket does not block afterwards") func waits() throws {
        for _ in 0..<50 {
            let full = try FullListener()
            // Room comes while the connect waits, or just before it.
            let hasStarted = DetachedThread.start("accepts") {
                if let accepted = try? UnixSocket.accept(full.listener) { close(accepted) }
            }
            try #require(hasStarted)
            let connected = try UnixSocket.connect(full.path)
            defer { close(connected) }
            #expect(fcntl(connected, F_GETFL) & O_NONBLOCK != 0)
        }
    }

    @Test("a connect to a queue that stays full fails within a second") func fails() throws {
        let full = try FullListener()
        let begin = EventLoop.now
        let error = #expect(throws: SystemError.self) { try UnixSocket.connect(full.path) }
        #expect(error?.code == EAGAIN)
        #expect(EventLoop.now.seconds(since: begin) < 1)
    }
}
