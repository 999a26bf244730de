package import BridgeRuntime
import Glibc
package import LinuxSystem
import MPDProtocol
import NowPlayingClient

/// `nowplaying-mpd`: the daemon for clients of MPD.
@PlayerLoop package final class MPDBridge: Bridge {
    private let context: BridgeContext
    private let partitions: Partitions
    private let server: MPDServer
    private let listener: MPDListener
    private var status: BridgeStatus?

    package init(_ context: BridgeContext, _ settings: MPDSettings) throws(BridgeFailure) {
        self.context = context
        let server = MPDServer(context.loop, context.log, PeerRights(settings, owner: geteuid()))
        self.server = server
        let names = SongNameTable()
        let outputs = OutputTable()
        let library = Library(context.loop, paths: SocketLocation.library(beside: context.daemon.paths), names)
        library.onChange = { [unowned server] in server.note($0) }
        let callers = LinkPool(context.loop, .daemon, paths: context.daemon.paths)
        for pool in [callers, library.links] { pool.hasClients = { [unowned server] in server.hasClients(of: $0) } }
        server.onGone = {
            callers.clientGone()
            library.links.clientGone()
        }
        let shared = Commands.Shared(
            names: names, outputs: outputs, library: library, callers: callers, work: FilterWork(context.loop),
            stickers: StickerThread(context.loop))
        let partitions = Partitions(context, server) { partitions, mirror, name in
            Commands(mirror, partition: name, shared, server, partitions)
        }
        self.partitions = partitions
        partitions.begin()
        let feedback = FeedbackWatch(context.loop, paths: context.daemon.paths) { [unowned server] in
            server.note(.sticker)
        }
        partitions.usual.mirror.onReturn = { feedback.begin() }
        let listener = MPDListener(context.loop, context.log, remedy: Self.remedy) {
            [unowned server, unowned partitions] connection in
            guard let arrival = server.admit(connection.descriptor, isLocal: connection.isLocal) else { return }
            guard connection.kind == .announcements else { return server.welcome(arrival, partitions.usual) }
            partitions.enter(Partitions.announcing) { result in
                switch result {
                case .success(let commands): server.welcome(arrival, commands)
                case .failure(let failure):
                    context.log.warning("refused a client of announce-bind: \(failure.message)")
                    server.dismiss(arrival)
                }
            }
        }
        self.listener = listener
        try listener.set(Self.places(settings))
        status = BridgeStatus(context, program: "nowplaying-mpd") { [unowned listener] in
            BridgeStatus.Report(
                peer: "clients at " + listener.addresses.joined(separator: ", "),
                isConnected: listener.failures.isEmpty,
                problem: listener.failures.isEmpty ? nil : listener.failures.joined(separator: "; "))
        }
    }

    private static let remedy = ", such as mpd; end it, or name another address as “bind” in [mpd]"

    private static func places(_ settings: MPDSettings) -> [MPDListener.Place] {
        let usual: [BindAddress] = [.network(host: "localhost", port: BindAddress.usualPort), .usualLocal]
        let isUsual = settings.bind.isEmpty
        return (isUsual ? usual : settings.bind).map {
            MPDListener.Place(address: $0.listener, kind: .playback, isUsual: isUsual)
        }
            + settings.announceBind.map {
                MPDListener.Place(address: $0.listener, kind: .announcements, isUsual: false)
            }
    }

    package func reload(_ settings: MPDSettings) {
        server.set(PeerRights(settings, owner: geteuid()))
        do throws(BridgeFailure) { try listener.set(Self.places(settings)) } catch {
            context.log.error(error.message)
        }
    }

    package func end() {
        listener.end()
        partitions.end()
        server.end()
        context.loop.exit(0)
    }
}
