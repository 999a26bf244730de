import ControlProtocol
import ControlServer
import LinuxSystem
import NowPlaying
import PlaybackEngine

/// One of the daemon's sessions: a player with its own state and commands.
@PlayerLoop protocol PlaybackSession: AnyObject {
    var name: String { get }
    /// Its effect on the others while it plays.
    var terms: SessionTerms { get }
    /// The connection that ends this session; nil: none.
    var owner: Int? { get }
    var isExternal: Bool { get }
    /// Last published state.
    var state: NowPlayingState { get }
    /// Searches and returns its pictures; nil: it has none.
    var artwork: ArtworkKeeper? { get }
    /// True if any command is available.
    var hasCommands: Bool { get }
    /// Carries out a request for this session.
    func perform(_ request: MethodRequest, _ answer: @escaping Answer)
    /// Follows a state of this session after the board has published it.
    func follow(_ state: NowPlayingState)
    /// Publishes its whole state because it became the active one.
    func publishActivation(by: Originator?)
    /// Ducks or pauses for an audible session or announcement of the name `who`.
    func yield(to who: String, _ demand: DuckingDemand)
    /// Ends the ducking or the pause for `who`; `release`: seconds of the fade back.
    func endYielding(to who: String, release: Double)
    /// Ends the session, with one last state.
    func close(by: Originator?)
}

extension PlaybackSession {
    /// The session as `session.list` shows it.
    func description(isActive: Bool, canBecomeActive: Bool, _ policy: AnnouncementPolicy) -> JSONValue {
        [
            "name": .string(name), "active": .bool(isActive), "canBecomeActive": .bool(canBecomeActive),
            "external": .bool(isExternal), "policy": .string(policy.rawValue), "state": .string(state.state.rawValue),
        ]
    }
}

/// A session with a queue of its own, played by the daemon: `main`, and the sessions that clients create.
@PlayerLoop final class LocalSession: PlaybackSession {
    let name: String
    let terms: SessionTerms
    let owner: Int?
    /// The user without the daemon's own rights that created the session; nil: the daemon's own user did.
    let maker: SessionMaker?
    let methods: PlayerMethods
    var isExternal: Bool { false }

    /// A session that plays by these methods. `owner`: the connection that ends it; nil: it stays.
    init(name: String, terms: SessionTerms, owner: Int?, maker: SessionMaker? = nil, methods: PlayerMethods) {
        self.name = name
        self.terms = terms
        self.owner = owner
        self.maker = maker
        self.methods = methods
    }

    var state: NowPlayingState { methods.player.state }

    var artwork: ArtworkKeeper? { methods.artwork }

    var hasCommands: Bool { !methods.player.queue.isEmpty && methods.table.hasEnabledCommand }

    func perform(_ request: MethodRequest, _ answer: @escaping Answer) {
        methods.perform(request, answer)
    }

    func publishActivation(by: Originator?) { methods.player.publishActivation(by: by) }

    func yield(to who: String, _ demand: DuckingDemand) {
        Log.debug("session \(name) yields to \(who): \(demand.words)")
        let player = methods.player
        player.yield(to: who, player.yielding(to: demand.policy, decibels: demand.duckTo), over: demand.attack)
    }

    func endYielding(to who: String, release: Double) {
        Log.debug("session \(name) yields to \(who) no more, back in \(release) s")
        methods.player.yield(to: who, nil, over: release)
    }

    func follow(_ state: NowPlayingState) { methods.follow(state) }

    func close(by: Originator?) { methods.player.close(by: by) }
}
