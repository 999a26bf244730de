package import BridgeRuntime
import ControlProtocol
import Glibc
package import LinuxSystem
import NowPlaying
package import WebAccess

/// `nowplaying-web`: the page and the daemon's protocol over HTTP.
@PlayerLoop package final class WebBridge: Bridge {
    private let context: BridgeContext
    private let judge: AccessJudge
    private let groups: UserGroups
    private let desk: WebDesk
    private let services: Services
    private var settings: WebSettings
    private var front: WebFront
    private var pairing: PairingSocket?
    private let avahi: Avahi

    package init(_ context: BridgeContext, _ settings: WebSettings) throws(BridgeFailure) {
        // SIGPIPE occurs when a client closes during the transfer of a file.
        signal(SIGPIPE, SIG_IGN)
        _ = DescriptorLimit.raise(to: 8192)
        self.context = context
        self.settings = settings
        guard let store = DeviceStore(settings) else {
            throw BridgeFailure(
                "no folder for the paired devices: set “state-directory” in [web], or $HOME", isOfConfiguration: true)
        }
        let log = context.log
        let groups = UserGroups(context.loop)
        self.groups = groups
        let users = try LocalUsers(settings, owner: geteuid()) { groups.groups(of: $0) }
        let judge = try AccessJudge(settings, users, store) { line, fault in
            if let fault { log.warning(line, fault) } else { log.info(line) }
        }
        self.judge = judge
        do throws(SystemError) {
            services = try Services(context.loop, context.daemon.paths, judge, speech: settings.speech)
        } catch { throw BridgeFailure(error.message) }
        services.rooms.setConfigured(settings.snapcastServer)
        desk = WebDesk(services, judge, settings)
        avahi = Avahi(context.loop) { log.info($0) }
        front = try WebFront(context, desk, judge, groups, settings)
        try front.listen(settings)
        avahi.set(NetworkService(front.reach(settings), settings))
        services.links.urls = { [unowned self] in
            let reach = front.reach(self.settings)
            return reach.isBeyondLoopback ? reach.urls() : []
        }
        if !desk.hasPage { log.warning("the files of the page are missing; install them with “make install”") }
        if let url = front.reach(settings).localURL { log.info("the page is at \(url)") }
        do throws(BridgeFailure) {
            pairing = try PairingSocket(
                context.loop, judge, reach: { [unowned self] in front.reach(self.settings) },
                status: { [unowned self] in status })
        } catch { log.info("no pairing, and no status for nowplayingctl doctor: \(error.message)") }
    }

    private var status: JSONObject {
        var status = JSONObject([
            .init("daemon", .bool(context.daemon.isThere)),
            .init("peer", .string("browsers at " + front.addresses.joined(separator: ", "))),
            .init("connected", .bool(front.failures.isEmpty)), .init("connections", .integer(Int64(front.count))),
            .init("page", .bool(desk.hasPage)),
        ])
        if let name = avahi.announced { status["announced"] = .string(name) }
        if !front.failures.isEmpty { status["problem"] = .string(front.failures.joined(separator: "; ")) }
        return status
    }

    package func reload(_ settings: WebSettings) {
        do throws(BridgeFailure) {
            let groups = groups
            let users = try LocalUsers(settings, owner: geteuid()) { groups.groups(of: $0) }
            try front.reload(settings)
            judge.reload(settings, users)
            desk.reload(settings)
            services.speech.reload(settings.speech)
            services.rooms.setConfigured(settings.snapcastServer)
            desk.endRefused()
            self.settings = settings
            avahi.set(NetworkService(front.reach(settings), settings))
        } catch { context.log.error(error.message) }
    }

    package func end() {
        pairing?.end()
        avahi.set(nil)
        desk.end()
        front.end()
        judge.end()
        context.loop.exit(0)
    }
}
