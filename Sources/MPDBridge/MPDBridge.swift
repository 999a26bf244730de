package import BridgeRuntime
import Glibc
package import LinuxSystem
import MPDProtocol
import NowPlayingClient

/// `nowplaying-mpd`: the daemon for clients of MPD.
@PlayerLoop package final class MPDBridge: Bridge {
    private let context: BridgeContext
    private let commands: Commands
    private let server: MPDServer
    private let listener: MPDListener
    private var status: BridgeStatus?

    package init(_ context: BridgeContext, _ settings: MPDSettings) throws(BridgeFailure) {
        self.context = context
        let mirror = PlayerMirror(context.daemon)
        let names = SongNameTable()
        let library = Library(context.loop, paths: SocketLocation.library(beside: context.daemon.paths), names)
        let commands = Commands(context.loop, mirror, names, library)
        self.commands = commands
        let server = MPDServer(context.loop, context.log, commands, PeerRights(settings, owner: geteuid()))
        self.server = server
        commands.serve(server)
        mirror.onChange = { [unowned server] in server.note($0) }
        library.onChange = { [unowned server] in server.note($0) }
        let listener = MPDListener(context.loop, context.log) { [unowned server] in server.welcome($0) }
        self.listener = listener
        try listener.set(Self.places(settings))
        status = BridgeStatus(context, program: "nowplaying-mpd") { [unowned listener] in
            BridgeStatus.Report(
                peer: "clients at " + listener.addresses.joined(separator: ", "),
                isConnected: listener.failures.isEmpty,
                problem: listener.failures.isEmpty ? nil : listener.failures.joined(separator: "; "))
        }
    }

    private static func places(_ settings: MPDSettings) -> [MPDListener.Place] {
        let usual: [BindAddress] = [.network(host: "localhost", port: BindAddress.usualPort), .usualLocal]
        let isUsual = settings.bind.isEmpty
        return (isUsual ? usual : settings.bind).map { MPDListener.Place(address: $0, isUsual: isUsual) }
    }

    package func reload(_ settings: MPDSettings) {
        server.set(PeerRights(settings, owner: geteuid()))
        do throws(BridgeFailure) { try listener.set(Self.places(settings)) } catch {
            context.log.error(error.message)
        }
    }

    package func end() {
        listener.end()
        server.end()
        context.loop.exit(0)
    }
}
