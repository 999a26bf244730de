import LinuxSystem

/// Connections to the daemon for clients that do not have the rights of the bridge's own user.
@PlayerLoop final class CallerLinks {
    private let loop: EventLoop
    private let paths: [String]
    private var links: [CallerLink.Caller: CallerLink] = [:]

    /// Links to a daemon at one of these paths.
    init(_ loop: EventLoop, paths: [String]) {
        self.loop = loop
        self.paths = paths
    }

    /// True if no client needed a connection of its own so far.
    var isEmpty: Bool { links.isEmpty }

    /// The daemon with the rights of a client's user; nil: the bridge's own connection has them.
    func link(for user: UInt32?) -> CallerLink? {
        let caller = CallerLink.Caller(user)
        guard caller != .own else { return nil }
        if let link = links[caller] { return link }
        let link = CallerLink(loop, .daemon, paths: paths, for: caller)
        links[caller] = link
        return link
    }

    /// Ends the connections that no client of these users needs.
    func keep(_ users: some Sequence<UInt32?>) {
        let callers = Set(users.map { CallerLink.Caller($0) })
        for caller in links.keys where !callers.contains(caller) { links.removeValue(forKey: caller)?.close() }
    }
}
