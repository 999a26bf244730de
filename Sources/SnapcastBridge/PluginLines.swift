import CLinux
import Glibc
import LinuxSystem

/// The two pipes of a control script: lines from the server, and lines to it.
@PlayerLoop final class PluginLines {
    private let loop: EventLoop
    private let input: Int32
    private let output: Int32
    private let onLine: @PlayerLoop ([UInt8]) -> Void
    private let onEnd: @PlayerLoop () -> Void
    private var reader: EventSource?
    private var writer: EventSource?
    private var received: [UInt8] = []
    /// True while the rest of a line that is too long is skipped.
    private var skips = false
    private var unsent: [UInt8] = []

    /// Maximum bytes of a line from the server.
    static let maximumLine = 64 << 10

    /// Reads from `input` and writes to `output`, which the caller closes. `onEnd` runs when the server has closed one of them.
    /// Nil: the input is not a pipe, so no server has started this program.
    init?(
        _ loop: EventLoop, input: Int32, output: Int32, onLine: @escaping @PlayerLoop ([UInt8]) -> Void,
        onEnd: @escaping @PlayerLoop () -> Void
    ) {
        self.loop = loop
        self.input = input
        self.output = output
        self.onLine = onLine
        self.onEnd = onEnd
        signal(SIGPIPE, SIG_IGN)
        _ = fcntl(output, F_SETFL, fcntl(output, F_GETFL) | O_NONBLOCK)
        reader = loop.watch(input, UInt32(EPOLLIN.rawValue)) { [unowned self] _ in read() }
        if reader == nil { return nil }
    }

    /// True while the server does not read.
    var isBlocked: Bool { !unsent.isEmpty }

    /// Called when the server reads again.
    var onDrain: (@PlayerLoop () -> Void)?

    /// Sends a line.
    func send(_ line: [UInt8]) {
        unsent += line
        unsent.append(UInt8(ascii: "\n"))
        if writer == nil { write() }
    }

    private func write() {
        while !unsent.isEmpty {
            let count = unsent.withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
            if count > 0 {
                unsent.removeFirst(count)
            } else if errno == EAGAIN {
                if writer == nil {
                    writer = loop.watch(output, UInt32(EPOLLOUT.rawValue)) { [unowned self] _ in write() }
                }
                return
            } else if errno != EINTR {
                return end()
            }
        }
        guard writer != nil else { return }
        writer = nil
        onDrain?()
    }

    private func read() {
        var bytes = [UInt8](repeating: 0, count: 16 << 10)
        let count = Glibc.read(input, &bytes, bytes.count)
        guard count > 0 else {
            if count < 0, errno == EINTR || errno == EAGAIN { return }
            return end()
        }
        received += bytes[..<count]
        while let newline = received.firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(received[..<newline])
            received.removeSubrange(...newline)
            if skips { skips = false } else if !line.isEmpty { onLine(line) }
        }
        if received.count > Self.maximumLine {
            skips = true
            received = []
        }
    }

    private func end() {
        reader = nil
        writer = nil
        unsent = []
        onEnd()
    }
}
