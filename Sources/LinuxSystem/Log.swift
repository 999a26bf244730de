import Glibc
package import NowPlaying
import Synchronization

/// Importance of a line of the log. A level includes all more important ones.
package enum LogLevel: String, Sendable, CaseIterable {
    case error, warning, info, debug

    /// The number of syslog(3), which the journal reads from `<4>`.
    fileprivate var priority: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .info: 6
        case .debug: 7
        }
    }
}

/// The log of the process: entries of the journal if standard error is connected to it, else lines on standard error. Any
/// thread. It never blocks: a line that standard error does not accept is lost, and the next one reports the number of lost
/// lines.
package enum Log {
    private struct State {
        var level = LogLevel.info
        var program = Product.name
        var isJournal = getenv("JOURNAL_STREAM") != nil
        var lost = 0
        /// Times of the last line of each key.
        var written: [String: MonotonicTime] = [:]
    }
    private static let state = Mutex(State())

    /// Sets the level: only lines of this importance or more are written.
    package static func setLevel(_ level: LogLevel) { state.withLock { $0.level = level } }

    /// Sets the program name at the start of lines without a journal.
    package static func setProgram(_ name: String) { state.withLock { $0.program = name } }

    /// Logs a fault that ends an operation.
    package static func error(_ message: @autoclosure () -> String, _ fields: LogFields = LogFields()) {
        write(.error, message(), fields)
    }

    /// Logs a fault after which the daemon continues.
    package static func warning(_ message: @autoclosure () -> String, _ fields: LogFields = LogFields()) {
        write(.warning, message(), fields)
    }

    /// Logs a warning at most once a minute for each `key` (an item and a fault); `now` is CLOCK_MONOTONIC.
    package static func warning(
        _ message: @autoclosure () -> String, _ fields: LogFields = LogFields(), oncePerMinute key: String,
        now: MonotonicTime
    ) {
        if isDue(key, now: now) { write(.warning, message(), fields) }
    }

    /// Logs a normal event.
    package static func info(_ message: @autoclosure () -> String) { write(.info, message(), LogFields()) }

    /// Logs a detail for fault finding.
    package static func debug(_ message: @autoclosure () -> String) { write(.debug, message(), LogFields()) }

    /// Number of remembered faults.
    package static var rememberedFaults: Int { state.withLock { $0.written.count } }

    /// True if a line of this key may be written now; the call counts it as written.
    package static func isDue(_ key: String, now: MonotonicTime) -> Bool {
        state.withLock { state in
            if let last = state.written[key], now.seconds(since: last) < 60 { return false }
            if state.written.count >= 1000 {
                state.written = state.written.filter { now.seconds(since: $0.value) < 60 }
                // A flood of different faults clears the memory of faults, which stays bounded.
                if state.written.count >= 1000 { state.written = [:] }
            }
            state.written[key] = now
            return true
        }
    }

    private static func write(_ level: LogLevel, _ message: @autoclosure () -> String, _ fields: LogFields) {
        state.withLock { state in
            guard level.priority <= state.level.priority else { return }
            if state.lost > 0, put("lost \(state.lost) lines of the log", .warning, LogFields(), state) {
                state.lost = 0
            }
            if !put(message(), level, fields, state) { state.lost += 1 }
        }
    }

    private static func put(_ message: String, _ level: LogLevel, _ fields: LogFields, _ state: State) -> Bool {
        let message = PrintableText.escaped(message, limit: 800)
        let isInJournal = SystemJournal.ofStandardError?.send(
            message, priority: level.priority, program: state.program, fields)
        if isInJournal == true { return true }
        return put((state.isJournal ? "<\(level.priority)>" : "\(state.program): \(level.rawValue): ") + message + "\n")
    }

    /// Writes a text; false: standard error did not accept it. A writable pipe accepts PIPE_BUF (4,096) bytes without
    /// blocking.
    private static func put(_ text: String) -> Bool {
        var poll = pollfd(fd: 2, events: Int16(POLLOUT), revents: 0)
        guard Glibc.poll(&poll, 1, 0) == 1, poll.revents & Int16(POLLOUT) != 0 else { return false }
        var text = text
        return text.withUTF8 { Glibc.write(2, $0.baseAddress, min($0.count, 4096)) > 0 }
    }
}
