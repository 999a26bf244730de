import ControlProtocol
import LinuxSystem

/// Connections to one server for the clients of the bridge, by the rights of these clients.
///
/// A server prepares the requests of a connection one at a time. So each client with a request gets a connection that no
/// other client uses, and returns it with its last answer. At rest, each kind of client keeps one connection.
@PlayerLoop final class LinkPool {
    /// A connection, and the clients that use it.
    private struct Entry {
        let link: CallerLink
        var borrowers: Int
    }

    /// True while a client of this kind is connected.
    var hasClients: @PlayerLoop (CallerLink.Caller) -> Bool = { _ in true }

    private let loop: EventLoop
    private let server: CallerLink.Server
    private let paths: [String]
    private var entries: [CallerLink.Caller: [Entry]] = [:]

    /// Maximum connections for one kind of client; further clients share them. Each costs the server a thread while it works.
    private static let most = 64

    /// An empty pool of connections to a server at one of these paths.
    init(_ loop: EventLoop, _ server: CallerLink.Server, paths: [String]) {
        self.loop = loop
        self.server = server
        self.paths = paths
    }

    /// The server with the rights of a client's user. It uses no connection before the first call.
    func link(for user: UInt32?) -> ClientLink { ClientLink(self, CallerLink.Caller(user)) }

    /// Number of present connections.
    var count: Int { entries.values.reduce(0) { $0 + $1.count } }

    /// Lends the connection with the fewest clients.
    func take(_ caller: CallerLink.Caller) -> CallerLink {
        var all = entries[caller] ?? []
        let least = all.indices.min { all[$0].borrowers < all[$1].borrowers }
        if let least, all[least].borrowers == 0 || all.count >= Self.most {
            all[least].borrowers += 1
            entries[caller] = all
            return all[least].link
        }
        let link = CallerLink(loop, server, paths: paths, for: caller)
        entries[caller] = all + [Entry(link: link, borrowers: 1)]
        return link
    }

    /// Takes back a lent connection. It ends if another one is free, or if no client is left that could need it.
    func giveBack(_ link: CallerLink, _ caller: CallerLink.Caller) {
        guard let index = entries[caller]?.firstIndex(where: { $0.link === link }) else { return }
        entries[caller]?[index].borrowers -= 1
        let free = entries[caller]?.count { $0.borrowers == 0 } ?? 0
        guard entries[caller]?[index].borrowers == 0, free > 1 || !hasClients(caller) else { return }
        entries[caller]?.remove(at: index)
        link.close()
    }

    /// Ends, after the end of a client, the unused connections that no client is left to need.
    func clientGone() {
        for caller in entries.keys where !hasClients(caller) {
            let unused = entries[caller]?.filter { $0.borrowers == 0 } ?? []
            entries[caller]?.removeAll { $0.borrowers == 0 }
            if entries[caller]?.isEmpty == true { entries[caller] = nil }
            for entry in unused { entry.link.close() }
        }
    }
}

/// A server with the rights of one client: a connection of the pool from the first call to the last answer. It lives as
/// long as its calls, even if its client has gone.
@PlayerLoop final class ClientLink {
    private let pool: LinkPool
    private let caller: CallerLink.Caller
    private var lent: CallerLink?
    private var outstanding = 0

    /// A client's link.
    init(_ pool: LinkPool, _ caller: CallerLink.Caller) {
        self.pool = pool
        self.caller = caller
    }

    /// Calls a method. The failure has the words of MPD.
    func call(_ method: String, _ parameters: JSONObject = JSONObject(), _ answer: @escaping CallerLink.Answer) {
        let link = lent ?? pool.take(caller)
        lent = link
        outstanding += 1
        link.call(method, parameters) { [self] result in
            // A call from the handler of the answer uses the same connection.
            answer(result)
            outstanding -= 1
            guard outstanding == 0 else { return }
            lent = nil
            pool.giveBack(link, caller)
        }
    }
}
