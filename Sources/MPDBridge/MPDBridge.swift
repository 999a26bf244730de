package import BridgeRuntime
import Glibc
package import LinuxSystem
import MPDProtocol

/// `nowplaying-mpd`: the daemon for clients of MPD.
@PlayerLoop package final class MPDBridge: Bridge {
    private let context: BridgeContext
    private let commands: Commands
    private let server: MPDServer
    private var listener: MPDListener?

    package init(_ context: BridgeContext, _ settings: MPDSettings) throws(BridgeFailure) {
        self.context = context
        let mirror = PlayerMirror(context.daemon)
        let commands = Commands(context.loop, mirror, SongNameTable())
        self.commands = commands
        let server = MPDServer(context.loop, context.log, commands, PeerRights(settings, owner: geteuid()))
        self.server = server
        commands.serve(server)
        mirror.onChange = { [unowned server] in server.note($0) }
        let usual: [BindAddress] = [.network(host: "localhost", port: BindAddress.usualPort), .usualLocal]
        listener = try MPDListener(
            context.loop, context.log, settings.bind.isEmpty ? usual : settings.bind, isUsual: settings.bind.isEmpty
        ) { [unowned server] descriptor, kind in server.welcome(descriptor, kind) }
    }

    package func reload(_ settings: MPDSettings) { server.set(PeerRights(settings, owner: geteuid())) }

    package func end() {
        listener?.end()
        server.end()
        context.loop.exit(0)
    }
}
