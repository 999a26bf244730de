import CLinux
import Glibc
import NowPlayingClient

/// Standard output, which writes whole lines: before the program waits, and when the buffer is large.
final class Output {
    /// True if standard output is a terminal.
    let isTerminal = isatty(STDOUT_FILENO) == 1
    /// True if colours are allowed: in a terminal, unless NO_COLOR (no-color.org) forbids them.
    let hasColours: Bool
    /// True if a line can be redrawn in place.
    let canRedraw: Bool
    /// True if the terminal shows more than ASCII.
    let isUnicode: Bool
    private var bytes: [UInt8] = []

    /// Standard output, with the present properties of its terminal.
    init() {
        let dumb = SocketLocation.variable("TERM") == "dumb"
        hasColours = isTerminal && !dumb && (SocketLocation.variable("NO_COLOR") ?? "").isEmpty
        canRedraw = isTerminal && !dumb
        let names = ["LC_ALL", "LC_CTYPE", "LANG"]
        let locale = names.lazy.compactMap(SocketLocation.variable).first { !$0.isEmpty } ?? ""
        isUnicode = locale.uppercased().contains("UTF-8") || locale.uppercased().contains("UTF8")
    }

    /// Columns of the terminal; 80 if they are unknown.
    var columns: Int {
        var rows: UInt16 = 0
        var columns: UInt16 = 0
        return linux_window_size(STDOUT_FILENO, &rows, &columns) == 0 && columns > 0 ? Int(columns) : 80
    }

    /// Adds one line.
    func line(_ text: String) {
        bytes += text.utf8
        bytes.append(UInt8(ascii: "\n"))
        if bytes.count > 65536 { flush() }
    }

    /// Adds a part of a line.
    func raw(_ text: String) { bytes += text.utf8 }

    /// Writes the buffer. If the reader is gone, the program ends as by SIGPIPE.
    func flush() {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress! + written, $0.count - written) }
            if count > 0 {
                written += count
            } else if errno == EAGAIN {
                // Another program has made the terminal or pipe non-blocking.
                var wait = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                poll(&wait, 1, -1)
            } else if errno != EINTR {
                if errno == EPIPE { endByBrokenPipe() }
                complain("standard output: \(SystemText.error(errno))")
                exit(ExitStatus.general.rawValue)
            }
        }
        bytes.removeAll(keepingCapacity: true)
    }

    /// Ends the program without a message, as by SIGPIPE.
    func endByBrokenPipe() -> Never {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        _exit(128 + SIGPIPE)
    }

    /// Text in one of the terminal's styles, if it has styles.
    func styled(_ text: String, _ style: Style) -> String {
        hasColours && !text.isEmpty && style != .plain ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Parameters of SGR (ECMA-48).
    enum Style: String {
        case plain = ""
        case bold = "1"
        case dim = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
    }
}

/// Writes a message to standard error, at once.
func complain(_ message: String) {
    let bytes = Array(("nowplayingctl: " + message + "\n").utf8)
    var written = 0
    while written < bytes.count {
        let count = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress! + written, $0.count - written) }
        if count < 0 && errno != EINTR { return }
        if count > 0 { written += count }
    }
}
