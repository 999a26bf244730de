import CLinux
import Glibc

/// Signals of the whole process.
package enum SignalMask {
    /// Blocks these signals for this thread and all later ones that it starts, so that `EventLoop.signal` gets them,
    /// and ignores SIGPIPE. Call it first.
    package static func block(_ signals: [Int32]) {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
    }
}

/// Threads that are not joined.
package enum DetachedThread {
    private final class Body: Sendable {
        let name: String
        let run: @Sendable () -> Void
        init(_ name: String, _ run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Starts a thread that runs `body` and ends. `name` is shown by `ps -L`, at most 15 bytes. All signals but
    /// those of faults are blocked in it. False: the system has no more threads.
    package static func start(
        _ name: String, stackBytes: Int = 256 << 10, _ body: @escaping @Sendable () -> Void
    ) -> Bool {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, stackBytes)
        defer { pthread_attr_destroy(&attributes) }
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        // A fault whose signal is blocked kills the process at once, without its handler.
        for fault in [SIGSEGV, SIGILL, SIGBUS, SIGABRT, SIGTRAP, SIGFPE] { sigdelset(&all, fault) }
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let box = Unmanaged.passRetained(Body(String(name.prefix(15)), body))
        let result = pthread_create(
            &thread, &attributes,
            { context in
                let body = Unmanaged<Body>.fromOpaque(context!).takeRetainedValue()
                linux_name_thread(body.name)
                linux_use_fault_stack()
                body.run()
                return nil
            }, box.toOpaque())
        if result != 0 {
            box.release()
            return false
        }
        return true
    }

    /// Runs `body` in a thread and waits for its end, `seconds` at most: for the last write of a process that ends.
    /// False: it has not ended, or the system has no more threads. Blocks.
    @discardableResult package static func finish(
        _ name: String, within seconds: Int32, _ body: @escaping @Sendable () -> Void
    ) -> Bool {
        let done = eventfd(0, Int32(EFD_CLOEXEC))
        let isStarted = start(name) {
            body()
            var one: UInt64 = 1
            _ = write(done, &one, 8)
        }
        var waiting = pollfd(fd: done, events: Int16(POLLIN), revents: 0)
        // Left open while the thread may still write to it.
        guard isStarted, poll(&waiting, 1, seconds * 1000) == 1 else { return false }
        close(done)
        return true
    }
}

/// Threads of this process, by the number that `current` gives. Any thread.
package enum ThreadNumber {
    /// The number of the calling thread.
    package static var current: Int32 { linux_thread_number() }

    /// True while the thread computes or waits for a processor: its state in `/proc/self/task/N/stat` is R (proc(5)). False
    /// while it waits for anything else, and once it has ended.
    package static func isRunnable(_ number: Int32) -> Bool { isRunnable(stat: "/proc/self/task/\(number)/stat") }

    /// The same for the thread that this file of proc(5) describes.
    static func isRunnable(stat path: String) -> Bool {
        let file = linux_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard file >= 0 else { return false }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = read(file, &bytes, bytes.count)
        // The state follows the name, which stands in parentheses and may hold any character.
        guard count > 0, let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")), end + 2 < count else {
            return false
        }
        return bytes[end + 2] == UInt8(ascii: "R")
    }
}
