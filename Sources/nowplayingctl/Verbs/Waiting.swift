import NowPlaying
import NowPlayingClient

/// Condition that `wait` waits for.
enum Condition: String, CaseIterable {
    case play, pause, stop, track, end

    /// True if a state meets the condition. Never for `track`, which is only an event.
    func holds(_ state: StateView) -> Bool {
        switch self {
        case .play: state.state == .playing
        case .pause: state.state == .paused
        case .stop: state.state == .stopped
        case .end: state.state == .stopped && state.item == nil
        case .track: false
        }
    }

    /// True if the condition began to hold between two states.
    func came(from old: StateView, to new: StateView) -> Bool {
        switch self {
        case .track:
            guard new.item != nil else { return false }
            return new.causes.contains("track") || new.itemID != old.itemID || new.instance != old.instance
                || new.play != old.play
        case .end: return holds(new) && (!holds(old) || new.causes.contains("stop"))
        case .play, .pause, .stop: return holds(new) && (!holds(old) || new.causes.contains(rawValue))
        }
    }
}

/// `wait`.
enum Waiting {
    /// Returns when the condition holds, or held in between. Throws at the timeout.
    static func wait(_ run: Invocation) throws(Failure) {
        let word = run.words[0].text
        guard let condition = Condition(rawValue: word) else {
            throw run.wrong("wait", word, Condition.allCases.map(\.rawValue).joined(separator: ", "))
        }
        let template = try run.template()
        let seconds = try run.timeout()
        let deadline = seconds.map { MonotonicTime.now.advanced(bySeconds: $0) }
        let connection = try run.connection()
        do throws(ClientError) {
            let follower = try Follower(connection, paths: run.sockets, session: run.value("--session"))
            var last: StateView?
            while true {
                switch try follower.next(deadline: deadline) {
                case .state(let state):
                    let isSo = last.map { condition.came(from: $0, to: state) } ?? false
                    if isSo || (!run.has("--next") && condition.holds(state)) {
                        return finish(run, state, template)
                    }
                    last = state
                case .deadline: throw ClientError.timedOut(seconds ?? 0)
                case .disconnected, .readerGone: break
                }
            }
        } catch .timedOut {
            throw Failure(.timeout, "no \(word) within \(ClockText.number(seconds ?? 0)) s")
        } catch { throw run.failure(error) }
    }

    private static func finish(_ run: Invocation, _ state: StateView, _ template: Template?) {
        if run.wantsJSON {
            run.printJSON(state.json)
        } else if let template {
            run.output.line(StatusText.expand(template, state))
        }
    }
}
