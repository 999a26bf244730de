import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import PlaybackEngine

/// Counts of all local sessions since the start, for `figures.get`. It counts published states, which exist at key events alone.
@PlayerLoop final class SessionFigures {
    private var tally = EventTally()
    /// Underruns of sessions that were closed.
    private var underrunsOfClosed = 0

    /// Takes a published state of a session.
    func take(_ state: NowPlayingState, of session: any PlaybackSession) {
        if !session.isExternal { tally.take(state) }
    }

    /// A session is about to be closed.
    func end(_ session: any PlaybackSession) {
        tally.forget(session.name)
        if let player = (session as? LocalSession)?.methods.player { underrunsOfClosed += player.underruns }
    }

    /// The members of the answer that depend on sessions. `shown`: the session whose clock is shown.
    func answer(_ sessions: some Collection<any PlaybackSession>, of shown: any PlaybackSession) -> JSONValue {
        let players = sessions.compactMap { ($0 as? LocalSession)?.methods.player }
        let states = PlaybackState.allCases.map { state in
            JSONObject.Member(state.rawValue, .integer(Int64(sessions.count { $0.state.state == state })))
        }
        return .object(
            JSONObject([
                .init("plays", .integer(Int64(tally.plays))), .init("stalls", .integer(Int64(tally.stalls))),
                .init("drifts", .integer(Int64(tally.drifts))),
                .init(
                    "underruns", .integer(Int64(players.reduce(underrunsOfClosed) { $0 + $1.underruns }))),
                .init("wakeups", .integer(Self.wakeups)), .init("sessions", .object(JSONObject(states))),
                .init("queue", .integer(Int64(players.reduce(0) { $0 + $1.queue.count }))),
                .init("clock", .object(Self.clock(shown))),
            ]))
    }

    private static func clock(_ session: any PlaybackSession) -> JSONObject {
        var clock = JSONObject()
        if let error = (session as? LocalSession)?.methods.player.clockError {
            clock["error"] = .number((error * 1e6).rounded() / 1e6)
        }
        let state = session.state
        if state.anchor.skew != 0 { clock["skew"] = .number((state.anchor.skew * 1e9).rounded() / 1e9) }
        if let uncertainty = state.output?.uncertainty { clock["uncertainty"] = .number(uncertainty) }
        return clock
    }

    /// Voluntary context switches of all threads of this process.
    private static var wakeups: Int64 {
        var usage = rusage()
        return getrusage(Int32(RUSAGE_SELF.rawValue), &usage) == 0 ? Int64(usage.ru_nvcsw) : 0
    }
}

/// Counts of the events that published states are. A pure value.
struct EventTally: Equatable {
    /// Items that began to play.
    private(set) var plays = 0
    /// States in which playback began to wait for its source or its device.
    private(set) var stalls = 0
    /// Corrections of a published position.
    private(set) var drifts = 0
    /// The play of each session that was counted, until the session stops.
    private var counted: [String: Play] = [:]

    /// One of the times that an item plays.
    private struct Play: Equatable {
        let item: ItemID
        let number: Int
    }

    /// Takes a published state.
    mutating func take(_ state: NowPlayingState) {
        switch state.cause {
        case .stall: stalls += 1
        case .drift: drifts += 1
        case .snapshot, .play, .pause, .stop, .seek, .rate, .track, .metadata, .feedback, .chapter, .adBegan, .adEnded,
            .unstall, .interruptionBegan, .interruptionEnded, .route, .outputs, .volume, .mode, .queue, .commands,
            .session, .sleep, .error, .clockStep, .pending:
            break
        }
        switch state.state {
        case .stopped: counted[state.session] = nil
        case .playing:
            let play = state.item.map { Play(item: $0.id, number: $0.play) }
            guard let play, counted[state.session] != play else { return }
            counted[state.session] = play
            plays += 1
        case .paused, .interrupted, .stalled: break
        }
    }

    /// A session is closed.
    mutating func forget(_ session: String) { counted[session] = nil }
}
