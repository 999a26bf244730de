import CLinux
import ControlProtocol
import Glibc
import NowPlaying
import NowPlayingClient

extension ClockLines {
    /// The position for lights and programs.
    static let verbs = [
        Verb(
            name: "clock", summary: "print the audible position, or draw it as a moving line",
            details: """
                The line has position, duration and state; - is an unknown duration. With --map the program maps the daemon's
                clock page, nowplayingd-clock(7). It sends no requests, and sleeps while the position stands. In a terminal
                it draws a line of light.
                """,
            options: [
                Option("--map", "follow the position until interrupted or until the session is closed"),
                Option("--rate", value: "HZ", "lines a second while the position moves, 1 to 1000; default: 100"),
            ],
            examples: [
                ("clock", "the position now"), ("clock --map", "a line of light"),
                ("clock --map --rate 25 | led-strip", "for a program"),
            ], run: ClockLines.run)
    ]
}

/// `clock`.
final class ClockLines {
    private static let rates = 1...1000
    private static let usualRate = 100
    private let run: Invocation
    private let page: MappedClock
    private let period: Int64

    /// Prints the position once, or follows it.
    static func run(_ run: Invocation) throws(Failure) {
        let rate = try rate(run)
        guard run.has("--map") else {
            guard run.value("--rate") == nil else {
                throw .usage("--rate needs --map", verb: run.verb.name)
            }
            let state = try run.state()
            return print(run, Moment(state.position(at: .now) ?? 0, state.duration, state.stateName))
        }
        try ClockLines(run, rate).follow()
    }

    private static func rate(_ run: Invocation) throws(Failure) -> Int {
        guard let text = run.value("--rate") else { return usualRate }
        guard let rate = ClockText.integer(text), rates.contains(rate) else {
            throw run.wrong("--rate", text, "lines a second, 1 to 1000")
        }
        return rate
    }

    /// Maps the page. Throws if no daemon answers, or if the daemon has no page.
    private init(_ run: Invocation, _ rate: Int) throws(Failure) {
        self.run = run
        period = 1_000_000_000 / Int64(rate)
        let answer = try run.call("nowPlaying.map")
        guard answer["layout"]?.integerValue == Int64(NOWPLAYINGD_CLOCK_LAYOUT),
            let file = try run.connection().takeDescriptor()
        else {
            throw Failure(.general, "the daemon has a clock page of another layout: update nowplayingctl")
        }
        defer { close(file) }
        guard let page = MappedClock(file) else {
            throw Failure(.general, "cannot map the clock page: \(SystemText.error(errno))")
        }
        self.page = page
    }

    private func follow() throws(Failure) {
        // A killed daemon wakes no sleeper, and may leave a page that nobody can read.
        let connection = try run.connection()
        guard ConnectionWatch.endProgram(after: connection, endsLine: isDrawing) else {
            throw Failure(.general, "cannot start a thread: \(SystemText.error(errno))")
        }
        while true {
            guard let clock = page.read() else { continue }
            let now = MonotonicTime.now.nanoseconds
            show(clock, now)
            if clock.state == NOWPLAYINGD_CLOCK_ENDED.rawValue {
                if isDrawing { run.output.raw("\n") }
                return
            }
            page.sleep(after: clock, clock.rate != 0 ? period - now % period : Int64.max)
        }
    }

    // MARK: Showing

    /// True if a line in the terminal moves; false: each moment is a line of its own.
    private var isDrawing: Bool { run.output.canRedraw && !run.wantsJSON }

    private func show(_ clock: nowplayingd_clock, _ now: Int64) {
        let moment = Moment(
            MappedClock.position(clock, at: now), clock.duration < 0 ? nil : Double(clock.duration) / 1e9,
            Self.name(of: clock.state))
        guard isDrawing else {
            Self.print(run, moment)
            return run.output.flush()
        }
        let columns = run.output.columns - 1
        var text = TerminalText.fitted(moment.text, columns: columns)
        let width = columns - text.count - 2
        if let duration = moment.duration, duration > 0, width >= 8 {
            text += "  " + MovingLine.bar(moment.elapsed / duration, width: width, isUnicode: run.output.isUnicode)
        }
        run.output.raw("\r" + text + "\u{1B}[K")
        run.output.flush()
    }

    private static func name(of state: UInt32) -> String {
        switch nowplayingd_clock_state(rawValue: state) {
        case NOWPLAYINGD_CLOCK_STOPPED: "stopped"
        case NOWPLAYINGD_CLOCK_PLAYING: "playing"
        case NOWPLAYINGD_CLOCK_PAUSED: "paused"
        case NOWPLAYINGD_CLOCK_INTERRUPTED: "interrupted"
        case NOWPLAYINGD_CLOCK_STALLED: "stalled"
        case NOWPLAYINGD_CLOCK_ENDED: "ended"
        case _: "unknown"
        }
    }

    private static func print(_ run: Invocation, _ moment: Moment) {
        if run.wantsJSON { run.printJSON(moment.json) } else { run.output.line(moment.text) }
    }

    /// One line.
    private struct Moment {
        /// Seconds.
        let elapsed: Double
        /// Seconds; nil: unknown or without end.
        let duration: Double?
        let state: String

        init(_ elapsed: Double, _ duration: Double?, _ state: String) {
            (self.elapsed, self.duration, self.state) = (elapsed, duration, state)
        }

        var text: String {
            "\(ClockText.number(elapsed, places: 3)) \(duration.map { ClockText.number($0, places: 3) } ?? "-") \(state)"
        }

        var json: JSONValue {
            ["elapsed": .number(elapsed), "duration": duration.map { .number($0) } ?? .null, "state": .string(state)]
        }
    }
}
