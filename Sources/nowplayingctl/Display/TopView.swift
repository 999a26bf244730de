import ControlProtocol
import Glibc
import NowPlaying
import NowPlayingClient

/// `top`: the item, its position and the queue on a whole screen. Wakes for key events, for a new size of the terminal, and
/// when the shown second changes; the position is computed from the anchor.
final class TopView {
    private let run: Invocation
    private let follower: Follower
    private var last: StateView?
    /// Items of this version of the queue from `offset` on, as lines.
    private var entries: [String] = []
    private var offset = 0
    private var listed = ""

    /// Lines above the queue.
    private static let headLines = 7
    /// The control sequence at the end of the view: it restores the cursor and the earlier screen.
    private static let farewell = "\u{1B}[?25h\u{1B}[?1049l"

    /// Subscribes. Throws if no daemon answers, or if standard output is not a terminal.
    init(_ run: Invocation) throws(Failure) {
        self.run = run
        guard run.output.canRedraw else {
            throw .usage("top needs a terminal; use follow for lines of text", verb: "top")
        }
        let connection = try run.connection()
        do { follower = try Follower(connection, paths: run.sockets, session: run.value("--session")) } catch {
            throw run.failure(error)
        }
    }

    /// Draws until an interrupt.
    func show() throws(Failure) {
        WindowSize.watch()
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { number in
                TopView.leave()
                signal(number, SIG_DFL)
                raise(number)
            }
        }
        QuitKey.watch()
        run.output.raw("\u{1B}[?1049h\u{1B}[?25l")
        do throws(Failure) { try follow() } catch {
            run.output.flush()
            TopView.leave()
            throw error
        }
    }

    /// Restores the terminal. A signal handler may call it.
    static func leave() {
        _ = farewell.withCString { write(STDOUT_FILENO, $0, strlen($0)) }
        QuitKey.restore()
    }

    private func follow() throws(Failure) {
        while true {
            run.output.flush()
            let deadline = last?.nextSecond(after: MonotonicTime.now)
            let event: Follower.Event
            do { event = try follower.next(deadline: deadline, reader: WindowSize.descriptor) } catch {
                throw run.failure(error)
            }
            switch event {
            case .state(let state):
                last = state
                list(state)
            case .deadline: break
            case .readerGone:
                WindowSize.watch()
                listed = ""
                if let last { list(last) }
            case .disconnected:
                last = nil
                entries = []
                listed = ""
            }
            draw()
        }
    }

    /// Requests the part of the queue that fits the screen, if the known part differs.
    private func list(_ state: StateView) {
        let rows = max(1, WindowSize.rows - TopView.headLines - 1)
        let index = Int(state.queueIndex ?? 0)
        let first = max(0, min(index - rows / 3, Int(state.queueCount) - rows))
        let version = state.json["queue"]?["revision"]?.integerValue ?? 0
        let wanted = "\(state.instance) \(state.json["session"]?.stringValue ?? "") \(version) \(first) \(rows)"
        guard wanted != listed else { return }
        // A session that another program publishes has no queue, and would refuse to list one.
        guard state.queueCount > 0 else {
            (listed, offset, entries) = (wanted, 0, [])
            return
        }
        // The request has a connection of its own: the other connection carries events.
        var parameters = JSONObject([
            .init("offset", .integer(Int64(first))), .init("limit", .integer(Int64(min(rows, 1000)))),
        ])
        parameters["session"] = state.json["session"]
        guard let connection = try? Connection(firstOf: run.sockets),
            let answer = try? connection.call("queue.list", .object(parameters), within: 2)
        else { return }
        (listed, offset) = (wanted, first)
        entries = (answer["items"]?.arrayValue ?? []).map { item in
            let title = item["title"]?.stringValue ?? StateView.name(ofURI: item["uri"]?.stringValue ?? "")
            let name = (item["artist"]?.stringValue.map { $0 + " – " } ?? "") + title
            return TerminalText.safe(name) + (item["duration"]?.doubleValue.map { "  " + ClockText.clock($0) } ?? "")
        }
    }

    private func draw() {
        let columns = max(10, run.output.columns - 1)
        var lines: [String] = []
        if let state = last {
            lines = head(state, columns)
            lines += Array(repeating: "", count: max(0, TopView.headLines - lines.count))
            let current = state.queueIndex.map { Int($0) - offset }
            for (index, entry) in entries.enumerated() {
                let mark = index == current ? (run.output.isUnicode ? "▶ " : "> ") : "  "
                let text = TerminalText.fitted(mark + "\(offset + index + 1)  " + entry, columns: columns)
                lines.append(index == current ? run.output.styled(text, .bold) : text)
            }
        } else {
            lines = ["the daemon has ended; waiting for a new one"]
        }
        run.output.raw("\u{1B}[H")
        run.output.raw(lines.prefix(max(1, WindowSize.rows - 1)).map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J")
    }

    private func head(_ state: StateView, _ columns: Int) -> [String] {
        func fitted(_ text: String, _ style: Output.Style = .plain) -> String {
            run.output.styled(TerminalText.fitted(text, columns: columns), style)
        }
        let now = MonotonicTime.now
        var lines = [fitted(state.title ?? "no current item", .bold), fitted(StatusText.origin(state) ?? "")]
        lines.append(fitted(MovingLine.text(state, at: now, columns: columns, isUnicode: run.output.isUnicode)))
        var sound = "volume " + StatusText.volume(state)
        if let name = state.text("output", "description") ?? state.text("output", "name") {
            sound += "   output " + name
        }
        lines.append(fitted(sound, .dim))
        let trouble =
            state.state == .stalled
            ? StatusText.stall(state.stallReason) : StatusText.interruption(state) ?? StatusText.error(state)
        lines.append(fitted(trouble ?? "", .yellow))
        let count = state.queueCount == 1 ? "1 item" : "\(state.queueCount) items"
        lines.append(fitted(count + (QuitKey.isWatched ? "   q quits" : "   Ctrl-C quits"), .dim))
        return lines
    }
}
