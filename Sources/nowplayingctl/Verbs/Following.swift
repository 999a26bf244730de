import Glibc
import NowPlaying
import NowPlayingClient

/// `follow` and `watch`: lines for key events, and in a terminal a line that moves. Wakes for events, and with `--tick` when
/// the shown second changes.
final class Following {
    private let run: Invocation
    private let follower: Follower
    private let template: Template?
    /// True for `watch`, which ends with the queue and shows titles, not events.
    private let isWatching: Bool
    /// True if the position is shown each second, in place or as further lines.
    private let isMoving: Bool
    private var last: StateView?
    /// The text that is drawn in the last line of the terminal.
    private var drawn = ""
    private var shownItem = ""
    private var hasPlayed = false

    /// Subscribes. Throws if no daemon answers or the format is wrong.
    init(_ run: Invocation, isWatching: Bool) throws(Failure) {
        self.run = run
        self.isWatching = isWatching
        template = try run.template()
        isMoving =
            !run.wantsJSON && (run.has("--tick") || isWatching) && (run.output.canRedraw || template != nil)
        let connection = try run.connection()
        do {
            follower = try Follower(
                connection, paths: run.sockets, session: run.value("--session"),
                languages: ReaderLanguages.parameter(SocketLocation.variable))
        } catch {
            throw run.failure(error)
        }
    }

    // MARK: Loops

    /// Prints events until an interrupt.
    func follow() throws(Failure) {
        while true {
            switch try next() {
            case .state(let state): show(state)
            case .deadline: tick()
            case .disconnected:
                last = nil
                erase()
                run.output.flush()
                complain("the daemon has ended; waiting for a new one")
            case .readerGone: run.output.endByBrokenPipe()
            }
        }
    }

    /// Shows the playing items until playback has stopped. Throws if nothing could be played, with the reason.
    func watch() throws(Failure) {
        while true {
            switch try next() {
            case .state(let state):
                show(state)
                if state.state == .playing { hasPlayed = true }
                if state.state == .stopped { return try end(state) }
            case .deadline: tick()
            case .disconnected:
                erase()
                run.output.flush()
                throw Failure(.noDaemon, "the daemon ended during playback")
            case .readerGone: run.output.endByBrokenPipe()
            }
        }
    }

    private func next() throws(Failure) -> Follower.Event {
        run.output.flush()
        let deadline = isMoving ? last?.nextSecond(after: MonotonicTime.now) : nil
        do { return try follower.next(deadline: deadline, reader: STDOUT_FILENO) } catch { throw run.failure(error) }
    }

    private func end(_ state: StateView) throws(Failure) {
        if !drawn.isEmpty { run.output.raw("\n") }
        run.output.flush()
        guard let error = StatusText.error(state) else { return }
        if !hasPlayed { throw Failure(.general, "no item could be played: \(error)") }
    }

    // MARK: Showing

    private func show(_ state: StateView) {
        last = state
        if run.wantsJSON { return run.printJSON(state.json) }
        if template != nil, isMoving, run.output.canRedraw { return draw() }
        erase()
        if let template {
            run.output.line(StatusText.expand(template, state))
        } else if isWatching, run.output.canRedraw {
            showTitle(state)
        } else {
            run.output.line(EventLine.text(state, run.output))
        }
        draw()
    }

    /// For `watch` on a terminal: shows a title at the start of an item, and faults at once.
    private func showTitle(_ state: StateView) {
        let item = "\(state.itemID ?? 0) \(state.play ?? 0)"
        if item != shownItem, let title = state.title {
            run.output.line(run.output.styled(title, .bold))
            if let origin = StatusText.origin(state) { run.output.line(origin) }
            shownItem = item
        }
        if state.cause == "error", let error = StatusText.error(state) {
            run.output.line(run.output.styled(error, .red))
        }
    }

    /// Shows the position after a change of the second.
    private func tick() {
        guard let last else { return }
        if run.output.canRedraw { return draw() }
        if let template { run.output.line(StatusText.expand(template, last)) }
    }

    private func draw() {
        guard isMoving, run.output.canRedraw, let last else { return }
        let columns = run.output.columns - 1
        let text =
            if let template {
                TerminalText.fitted(StatusText.expand(template, last), columns: columns)
            } else {
                MovingLine.text(
                    last, at: MonotonicTime.now, columns: columns, isUnicode: run.output.isUnicode)
            }
        guard text != drawn else { return }
        run.output.raw("\r\(text)\u{1B}[K")
        drawn = text
    }

    private func erase() {
        guard !drawn.isEmpty else { return }
        run.output.raw("\r\u{1B}[K")
        drawn = ""
    }
}
