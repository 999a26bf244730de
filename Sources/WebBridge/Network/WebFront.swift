import BridgeRuntime
import Glibc
import LinuxSystem
import NowPlaying
import WebAccess

/// The addresses at which the bridge takes connections, and the servers of HTTP behind them.
@PlayerLoop final class WebFront {
    private let context: BridgeContext
    private let desk: WebDesk
    private let judge: AccessJudge
    private let groups: UserGroups
    private let listener: ConnectionListener<Door>
    /// Serves `bind`.
    private var direct: HTTPServer
    /// Serves `proxy-bind`, without TLS.
    private let proxied: HTTPServer
    /// Servers with an older certificate, for their present connections.
    private var retired: [HTTPServer] = []
    private var identity: HTTPServer.Identity?
    private let line: ConnectionLine

    /// The kind of a listening address.
    enum Door: Hashable, Sendable {
        case direct
        case proxy
    }

    /// The receiver of the listener's connections. The listener exists before the servers.
    @PlayerLoop private final class ConnectionLine {
        var take: (@PlayerLoop (ConnectionListener<Door>.Connection) -> Void)?
    }

    /// Servers without addresses. Throws if the certificate or the key is unusable.
    init(
        _ context: BridgeContext, _ desk: WebDesk, _ judge: AccessJudge, _ groups: UserGroups, _ settings: WebSettings
    ) throws(BridgeFailure) {
        self.judge = judge
        self.groups = groups
        self.context = context
        self.desk = desk
        let identity = try Self.identity(settings)
        self.identity = identity
        direct = try Self.server(context, desk, identity)
        proxied = try Self.server(context, desk, nil)
        let line = ConnectionLine()
        self.line = line
        listener = ConnectionListener(
            context.loop, context.log, remedy: "; end it, or name another address as “bind” in [web]"
        ) { line.take?($0) }
        line.take = { [unowned self] in take($0) }
    }

    private static func server(
        _ context: BridgeContext, _ desk: WebDesk, _ identity: HTTPServer.Identity?
    ) throws(BridgeFailure) -> HTTPServer {
        guard let server = HTTPServer(context.loop, desk, identity) else {
            throw BridgeFailure(
                identity == nil
                    ? "cannot serve HTTP: out of memory"
                    : "cannot use “certificate” and “key” of [web]: they do not belong together, or are no PEM",
                isOfConfiguration: identity != nil)
        }
        return server
    }

    private static func identity(_ settings: WebSettings) throws(BridgeFailure) -> HTTPServer.Identity? {
        guard let certificate = settings.certificate, let key = settings.key else { return nil }
        return HTTPServer.Identity(
            certificate: try text(certificate, "certificate"), key: try text(key, "key"))
    }

    private static func text(_ path: String, _ name: String) throws(BridgeFailure) -> String {
        guard let file = fopen(path, "re") else {
            throw BridgeFailure(
                "cannot read “\(name)” of [web]: \(SystemError("open \(path)").message)", isOfConfiguration: true)
        }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 256 << 10)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Listens at the addresses of the settings.
    func listen(_ settings: WebSettings) throws(BridgeFailure) {
        let direct = settings.listeners.map { Self.place($0, .direct, isUsual: false) }
        try listener.set(direct + settings.proxyBind.map { Self.place($0, .proxy, isUsual: false) })
    }

    private static func place(
        _ address: WebAddress, _ door: Door, isUsual: Bool
    ) -> ConnectionListener<Door>.Place {
        let target: ListenerAddress =
            switch address {
            case .network(let host, let port): .network(host: host, port: port)
            case .local(let path): .local(path: path)
            }
        return ConnectionListener.Place(address: target, kind: door, isUsual: isUsual)
    }

    /// Applies new settings. A new certificate applies to new connections.
    func reload(_ settings: WebSettings) throws(BridgeFailure) {
        let identity = try Self.identity(settings)
        if identity != self.identity {
            let server = try Self.server(context, desk, identity)
            retire(direct)
            direct = server
            self.identity = identity
        }
        try listen(settings)
    }

    /// Lets a server end with the last of its connections.
    private func retire(_ server: HTTPServer) {
        retired.append(server)
        server.retire { [unowned self, unowned server] in retired.removeAll { $0 === server } }
    }

    /// The bound addresses.
    func reach(_ settings: WebSettings) -> WebReach {
        let listeners = listener.bound(.direct).compactMap { text -> WebReach.Listener? in
            guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
                return nil
            }
            return WebReach.Listener(address: String(text[..<colon].filter { $0 != "[" && $0 != "]" }), port: port)
        }
        return WebReach(listeners, proxies: listener.bound(.proxy), settings)
    }

    /// Addresses for people.
    var addresses: [String] { listener.addresses }
    /// Addresses that do not work, each with a sentence.
    var failures: [String] { listener.failures }
    /// Open connections.
    var count: Int { retired.reduce(direct.count + proxied.count) { $0 + $1.count } }

    private func take(_ connection: ConnectionListener<Door>.Connection) {
        let descriptor = connection.descriptor
        let address = connection.isLocal ? "" : TCPSocket.peerAddress(descriptor) ?? ""
        if !connection.isLocal { TCPSocket.endWhenPeerVanishes(descriptor) }
        switch connection.kind {
        case .direct:
            // The query comes now: a client that closes its socket later has no user any more.
            let user = connection.isLocal ? nil : PeerUser.reported(descriptor, isLocal: false)
            let facts = AccessConnection(
                door: .direct, address: address, user: user, usesTLS: identity != nil,
                end: connection.isLocal ? nil : NetworkAddress.end(of: descriptor))
            guard let user, judge.needsGroups(of: user) else { return direct.take(descriptor, facts) }
            // A server of TLS may have taken the place of this one meanwhile.
            let server = direct
            let waits = groups.find(user, at: EventLoop.now) { server.take(descriptor, facts) }
            if !waits { close(descriptor) }
        case .proxy:
            proxied.take(descriptor, AccessConnection(door: .proxy, address: address, user: nil, usesTLS: false))
        }
    }

    /// Closes all connections, and stops listening.
    func end() {
        listener.end()
        for server in retired + [direct, proxied] { server.end() }
    }
}
