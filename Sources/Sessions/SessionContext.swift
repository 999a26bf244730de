package import ControlServer
package import DaemonConfiguration
package import LinuxSystem
package import StateKeeping

/// Parts of the daemon that its sessions work with.
@PlayerLoop package struct SessionContext {
    package let loop: EventLoop
    /// Holds the settings for all copies of this context: asked anew wherever one is used.
    package let settings: LiveConfiguration
    /// This run of the daemon: random, as states carry it.
    package let instance: String
    /// The folder of what the daemon keeps; it exists and is this daemon's alone.
    package let stateDirectory: String
    /// The folder of what can be had again; it need not exist. Nil: there is none.
    package let cacheDirectory: String?
    /// Keeps the last state of each session for those who ask, and sends it to those who subscribed.
    package let board: StateBoard
    /// Sends requests to clients, and holds those of clients while sessions are restored.
    package let server: ControlServer

    /// A context, by its parts.
    package init(
        loop: EventLoop, settings: LiveConfiguration, instance: String, stateDirectory: String,
        cacheDirectory: String?, board: StateBoard, server: ControlServer
    ) {
        self.loop = loop
        self.settings = settings
        self.instance = instance
        self.stateDirectory = stateDirectory
        self.cacheDirectory = cacheDirectory
        self.board = board
        self.server = server
    }

    /// The settings that hold now.
    package var configuration: Configuration { settings.current }
}

/// Makes the players of sessions.
@PlayerLoop package protocol PlayerMaker: AnyObject {
    /// A player with an output of its own, and the methods that act on it; its states go to `listener`. `store` keeps it
    /// over restarts; nil: nothing does.
    func makeMethods(
        session: String, store: StateStore?, listener: any StateListener
    ) -> PlayerMethods
}
