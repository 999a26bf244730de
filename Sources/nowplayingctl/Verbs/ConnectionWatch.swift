import CLinux
import Glibc
import NowPlayingClient

/// Watches a connection on a second thread, while the first one sleeps where the end of the daemon does not wake it.
final class ConnectionWatch: Sendable {
    private let descriptor: Int32
    private let endsLine: Bool

    private init(_ descriptor: Int32, endsLine: Bool) { (self.descriptor, self.endsLine) = (descriptor, endsLine) }

    /// Ends the program with a message when the daemon closes the connection, which must stay open on our side. `endsLine`:
    /// the cursor stands in a drawn line. False, with `errno`: there is no thread.
    static func endProgram(after connection: Connection, endsLine: Bool) -> Bool {
        let watch = Unmanaged.passRetained(ConnectionWatch(connection.descriptor, endsLine: endsLine))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<ConnectionWatch>.fromOpaque(context).takeRetainedValue().run()
            }, watch.toOpaque())
        guard code == 0 else {
            watch.release()
            errno = code
            return false
        }
        return true
    }

    private func run() -> Never {
        var state = pollfd(fd: descriptor, events: Int16(EPOLLRDHUP.rawValue), revents: 0)
        while poll(&state, 1, -1) != 1 {}
        if endsLine { _ = write(STDOUT_FILENO, "\n", 1) }
        complain("the daemon has ended")
        _exit(ExitStatus.noDaemon.rawValue)
    }
}
