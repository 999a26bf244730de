import ControlProtocol
import Glibc
import TestSupport
import Testing

/// Output in a terminal, through the real program.
@Suite(.timeLimit(.minutes(8))) struct TerminalTests {
    private let folder = TemporaryFolder()

    /// A pseudoterminal, from which the test reads the output of a program.
    private final class Terminal {
        let name: String
        private let descriptor: Int32
        private(set) var text = ""
        // TIOCSPTLCK and TIOCGPTN of <asm-generic/ioctls.h>, macros that Swift can't import.
        private static let setLock: UInt = 0x4004_5431
        private static let getNumber: UInt = 0x8004_5430
        private static let setSize: UInt = 0x5414

        /// `columns`: its width; nil: the system gives it none.
        init(columns: UInt16? = nil) {
            descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
            var lock: Int32 = 0
            var number: UInt32 = 0
            precondition(ioctl(descriptor, Terminal.setLock, &lock) == 0, "no pseudoterminal")
            precondition(ioctl(descriptor, Terminal.getNumber, &number) == 0, "no pseudoterminal")
            name = "/dev/pts/\(number)"
            guard let columns else { return }
            var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
            precondition(ioctl(descriptor, Terminal.setSize, &size) == 0, "no size")
        }

        deinit { close(descriptor) }

        /// Types these keys.
        func types(_ keys: String) { _ = keys.withCString { Glibc.write(descriptor, $0, strlen($0)) } }

        /// True if typed keys appear and wait for the end of the line.
        var isUsual: Bool {
            var settings = termios()
            let flags = tcflag_t(ICANON | ECHO)
            return tcgetattr(descriptor, &settings) == 0 && settings.c_lflag & flags == flags
        }

        /// Reads until `part` has been shown. False: the other side was closed before.
        func shows(_ part: String) -> Bool {
            while !text.contains(part) {
                var buffer = [UInt8](repeating: 0, count: 4096)
                let count = Glibc.read(descriptor, &buffer, buffer.count)
                guard count > 0 else { return false }
                text += String(decoding: buffer[..<count], as: UTF8.self)
            }
            return true
        }
    }

    private func watch(
        _ socket: String, _ arguments: [String], _ environment: [String: String] = [:], columns: UInt16? = nil
    ) -> (Tool, Terminal) {
        let terminal = Terminal(columns: columns)
        let variables = ["TERM": "xterm", "NO_COLOR": "1"].merging(environment) { $1 }
        return (Tool(arguments, socket: socket, environment: variables, terminal: terminal.name), terminal)
    }

    @Test func thePositionMovesWithTheAnchorAlone() {
        let socket = folder.path("moving.sock")
        let daemon = FakeDaemon(socket) { _, _ in .result(Sample.state(elapsed: 81.9)) }
        let (tool, terminal) = watch(socket, ["watch"])
        #expect(terminal.shows("So What\r\nMiles Davis – Kind of Blue (1959)\r\n"))
        #expect(terminal.shows("\rplaying  1:21 / 3:20  ━"))
        #expect(terminal.shows("\rplaying  1:22 / 3:20  ━"))
        #expect(terminal.shows("\rplaying  1:23 / 3:20  ━"))
        #expect(daemon.requests == ["nowPlaying.subscribe"])
        daemon.publish(Sample.ended())
        #expect(terminal.shows("\rstopped\u{1B}[K\r\n"))
        #expect(tool.outcome().status == 0)
    }

    @Test func topDrawsTheScreenByTheAnchor() {
        let socket = folder.path("top.sock")
        let daemon = FakeDaemon(socket) { method, _ in
            guard method == "queue.list" else { return .result(Sample.state(elapsed: 81.9)) }
            return .result([
                "count": 5, "items": [["title": "Blue\u{1B}[2J", "duration": 61], ["uri": "/m/So%20What"]],
            ])
        }
        let (tool, terminal) = watch(socket, ["top"])
        #expect(terminal.shows("\u{1B}[?1049h\u{1B}[?25l\u{1B}[HSo What\u{1B}[K\r\nMiles Davis – Kind of Blue (1959)"))
        #expect(terminal.shows("playing  1:21 / 3:20  ━"))
        #expect(terminal.shows("  1  Blue"))
        #expect(terminal.shows("▶ 2  "))
        #expect(terminal.shows("playing  1:22 / 3:20  ━"))
        daemon.publish(Sample.state(cause: "pause", state: "paused", elapsed: 90, rate: 0))
        #expect(terminal.shows("paused  1:30 / 3:20"))
        // The queue was asked for once, the place never.
        #expect(daemon.requests.map { $0.prefix { $0 != " " } } == ["nowPlaying.subscribe", "queue.list"])
        #expect(daemon.requests.last?.contains(#""session":"main""#) == true)
        tool.signal(SIGINT)
        #expect(terminal.shows("\u{1B}[?25h\u{1B}[?1049l"))
        #expect(tool.outcome().status == 128 + SIGINT)
        #expect(!terminal.text.contains("Blue\u{1B}[2J"))
    }

    @Test(arguments: ["q", "xQ", "\u{3}"])
    func topSaysHowToLeaveIt(keys: String) {
        let socket = folder.path("keys.sock")
        let daemon = FakeDaemon(socket) { method, _ in
            .result(method == "queue.list" ? ["count": 0, "items": []] : Sample.state(elapsed: 5, rate: 0))
        }
        let terminal = Terminal()
        let tool = Tool(
            ["top"], socket: socket, environment: ["TERM": "xterm"], terminal: terminal.name, hasKeys: true)
        #expect(terminal.shows("q quits"))
        #expect(!terminal.isUsual)
        // The terminal controls no session, so a typed Ctrl-C is no signal.
        if keys == "\u{3}" { tool.signal(SIGINT) } else { terminal.types(keys) }
        #expect(terminal.shows("\u{1B}[?25h\u{1B}[?1049l"))
        #expect(tool.outcome().status == (keys == "\u{3}" ? 128 + SIGINT : 0))
        #expect(terminal.isUsual)
        #expect(!terminal.text.contains("x"))
        withExtendedLifetime(daemon) {}
    }

    @Test func topWantsATerminal() {
        let outcome = Tool.run(["top"], socket: folder.path("none.sock"))
        #expect(outcome.status == 2 && outcome.complaint.contains("use follow"))
    }

    @Test func eventsStandAboveTheMovingLine() {
        let socket = folder.path("events.sock")
        let daemon = FakeDaemon(socket) { _, _ in .result(Sample.state(state: "paused", elapsed: 5, rate: 0)) }
        let (tool, terminal) = watch(socket, ["follow", "--tick"], ["LANG": "C", "LC_ALL": ""])
        #expect(terminal.shows("snapshot    paused    0:05 / 3:20"))
        #expect(terminal.shows("\rpaused  0:05 / 3:20  =---"))
        daemon.publish(Sample.state(cause: "seek", state: "paused", elapsed: 100, rate: 0))
        #expect(terminal.shows("\r\u{1B}[Kseek        paused    1:40 / 3:20"))
        #expect(terminal.shows("50 %\u{1B}[K"))
        _ = tool
    }

    @Test(arguments: [
        (81, "C.UTF-8", "reading tags: 120 of 1200 files  ━────────────  10 %  6000 a second  0:12 left"),
        (81, "C", "reading tags: 120 of 1200 files  =------------  10 %  6000 a second  0:12 left"),
        (60, "C.UTF-8", "reading tags: 120 of 1200 files  10 %  0:12 left"),
        (40, "C.UTF-8", "reading tags: 120 of 1200 files  10 %"), (20, "C.UTF-8", "reading tags: 120 …"),
        (20, "C", "reading tags: 120 o"),
    ])
    func aScanFitsTheTerminal(columns: UInt16, language: String, line: String) {
        let library = FakeDaemon(folder.path("library.sock")) { _, _ in
            .result(["tracks": 5, "scan": ["phase": "read", "done": 120, "total": 1200, "rate": 6000, "timeLeft": 12]])
        }
        let environment = ["LANG": language, "LC_ALL": ""]
        let (tool, terminal) = watch(folder.path("control.sock"), ["library"], environment, columns: columns)
        #expect(terminal.shows("\r\(line)\u{1B}[K"), "\(terminal.text)")
        tool.signal(SIGINT)
        #expect(tool.outcome().status == 128 + SIGINT)
        withExtendedLifetime(library) {}
    }

    @Test func coloursAreForTerminalsThatWantThem() {
        let socket = folder.path("colours.sock")
        let daemon = FakeDaemon(socket) { _, _ in .result(Sample.state()) }
        let (plain, grey) = watch(socket, ["status"])
        #expect(grey.shows("next: "))
        #expect(!grey.text.contains("\u{1B}"))
        let (coloured, colours) = watch(socket, ["status"], ["NO_COLOR": ""])
        #expect(colours.shows("\u{1B}[1mSo What\u{1B}[0m"))
        let (dumb, bare) = watch(socket, ["status"], ["NO_COLOR": "", "TERM": "dumb"])
        #expect(bare.shows("next: "))
        #expect(!bare.text.contains("\u{1B}"))
        for tool in [plain, coloured, dumb] { #expect(tool.outcome().status == 0) }
        #expect(daemon.requests.count == 3)
    }
}
