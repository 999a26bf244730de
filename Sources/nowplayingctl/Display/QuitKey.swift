import Glibc

/// The key q in the terminal of standard input, for `top`.
enum QuitKey {
    /// Settings of the terminal at the start; nil: standard input is no terminal.
    private static let settings: termios? = {
        var settings = termios()
        return tcgetattr(STDIN_FILENO, &settings) == 0 ? settings : nil
    }()

    /// True if the terminal passes keys to this program.
    static var isWatched: Bool { settings != nil }

    /// Reads keys without their echo, on a second thread. q leaves the view and ends the program.
    static func watch() {
        guard var silent = settings else { return }
        silent.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &silent)
        var thread = pthread_t()
        pthread_create(&thread, nil, { _ in QuitKey.read() }, nil)
    }

    /// Restores the settings of the terminal. A signal handler may call it after `watch`.
    static func restore() {
        guard var settings else { return }
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }

    /// Returns at the end of standard input.
    private static func read() -> UnsafeMutableRawPointer? {
        var key = UInt8(0)
        while Glibc.read(STDIN_FILENO, &key, 1) == 1 {
            guard key == UInt8(ascii: "q") || key == UInt8(ascii: "Q") else { continue }
            TopView.leave()
            _exit(ExitStatus.success.rawValue)
        }
        return nil
    }
}
