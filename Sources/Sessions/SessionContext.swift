package import ControlServer
package import DaemonConfiguration
package import LinuxSystem
package import StateKeeping

/// Parts of the daemon that its sessions work with.
@PlayerLoop package struct SessionContext {
    package let loop: EventLoop
    /// The settings, shared by all copies of this context. Read them again at each use.
    package let settings: LiveConfiguration
    /// Random identity of this run of the daemon, as in states.
    package let instance: String
    /// The folder of saved state. It exists, and no other daemon uses it.
    package let stateDirectory: String
    /// The folder of replaceable files. It may not exist. Nil: there is none.
    package let cacheDirectory: String?
    /// The folder of the control socket, which is in memory.
    package let runtimeDirectory: String
    /// Keeps the last state of each session for requests, and sends it to subscribers.
    package let board: StateBoard
    /// Sends requests to clients, and holds those of clients while sessions are restored.
    package let server: ControlServer

    /// A context, by its parts.
    package init(
        loop: EventLoop, settings: LiveConfiguration, instance: String, stateDirectory: String,
        cacheDirectory: String?, runtimeDirectory: String, board: StateBoard, server: ControlServer
    ) {
        self.loop = loop
        self.settings = settings
        self.instance = instance
        self.stateDirectory = stateDirectory
        self.cacheDirectory = cacheDirectory
        self.runtimeDirectory = runtimeDirectory
        self.board = board
        self.server = server
    }

    /// The present settings.
    package var configuration: Configuration { settings.current }
}

/// Makes the players of sessions.
@PlayerLoop package protocol PlayerMaker: AnyObject {
    /// A player with an output of its own, and the methods that act on it; its states go to `listener`. `store` saves
    /// its state for the next start; nil: its state is not saved.
    func makeMethods(
        session: String, store: StateStore?, listener: any StateListener
    ) -> PlayerMethods
}
