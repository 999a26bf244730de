import ControlProtocol
import LinuxSystem
import NowPlaying
import PlaybackEngine

/// One of the daemon's sessions: something that plays, with its own state and commands.
@PlayerLoop protocol PlaybackSession: AnyObject {
    var name: String { get }
    /// What it does to the others while it plays.
    var policy: AnnouncementPolicy { get }
    /// The connection that it ends with; nil: none.
    var owner: Int? { get }
    var isExternal: Bool { get }
    /// What was published last.
    var state: NowPlayingState { get }
    /// Whether there is anything that it could be told to do.
    var hasCommands: Bool { get }
    /// Carries out a request that is meant for it.
    func perform(_ request: MethodRequest, _ answer: @escaping @PlayerLoop (MethodResult) -> Void)
    /// Publishes its whole state because it became the active one.
    func tellActivation(by: Originator?)
    /// Yields to somebody who is heard over it (`policy`), or (nil) not any more.
    func yield(to who: String, _ policy: AnnouncementPolicy?, _ settings: AnnouncementSettings)
    /// Ends it, with one last state.
    func close(by: Originator?)
}

extension PlaybackSession {
    /// Whether bare commands and subscribers may follow it.
    var canBecomeActive: Bool { policy != .mix && hasCommands }
}

/// A session with a queue of its own, played by the daemon: `main`, and those that clients make.
@PlayerLoop final class LocalSession: PlaybackSession {
    let name: String
    let policy: AnnouncementPolicy
    let owner: Int?
    let methods: PlayerMethods
    var isExternal: Bool { false }
    /// Called when nothing of it is used any more.
    var onClosed: (@PlayerLoop () -> Void)?

    init(name: String, policy: AnnouncementPolicy, owner: Int?, methods: PlayerMethods) {
        self.name = name
        self.policy = policy
        self.owner = owner
        self.methods = methods
    }

    var state: NowPlayingState { methods.player.state }

    var hasCommands: Bool { !methods.player.queue.isEmpty && methods.hasEnabledCommand }

    func perform(_ request: MethodRequest, _ answer: @escaping @PlayerLoop (MethodResult) -> Void) {
        methods.perform(request, answer)
    }

    func tellActivation(by: Originator?) { methods.player.tellActivation(by: by) }

    func yield(to who: String, _ policy: AnnouncementPolicy?, _ settings: AnnouncementSettings) {
        let player = methods.player
        let yielding = policy.flatMap { player.yielding(to: $0, decibels: settings.duckTo) }
        player.makeRoom(for: who, yielding, over: yielding == nil ? settings.release : settings.attack)
    }

    func close(by: Originator?) {
        methods.player.close(by: by)
        methods.finish()
        onClosed?()
    }
}
