import CLinux
import Glibc
import NowPlayingClient

/// Standard output: whole lines, written when they are complete and the program is about to wait or has plenty of them.
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

    /// Standard output as it is now.
    init() {
        let dumb = SocketLocation.variable("TERM") == "dumb"
        hasColours = isTerminal && !dumb && (SocketLocation.variable("NO_COLOR") ?? "").isEmpty
        canRedraw = isTerminal && !dumb
        let names = ["LC_ALL", "LC_CTYPE", "LANG"]
        let locale = names.lazy.compactMap(SocketLocation.variable).first { !$0.isEmpty } ?? ""
        isUnicode = locale.uppercased().contains("UTF-8") || locale.uppercased().contains("UTF8")
    }

    /// Columns of the terminal; 80 where that is not known.
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

    /// Adds text that is not a line yet.
    func raw(_ text: String) { bytes += text.utf8 }

    /// Writes all that was added. A reader that is gone ends the program as SIGPIPE does.
    func flush() {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress! + written, $0.count - written) }
            if count > 0 {
                written += count
            } else if errno == EAGAIN {
                // Somebody made the terminal or pipe non-blocking.
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

    /// Ends quietly, as a program does whose reader has gone away.
    func endByBrokenPipe() -> Never {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        _exit(128 + SIGPIPE)
    }

    /// Text in one of the terminal's styles, where it has any.
    func styled(_ text: String, _ style: Style) -> String {
        hasColours && !text.isEmpty && style != .plain ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Numbers of ECMA-48's SGR.
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
