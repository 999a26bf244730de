import Glibc
package import LinuxSystem
package import NowPlaying
import Synchronization

/// The groups of users of this machine. The system's tables may be on a server (LDAP) that does not answer, so workers look
/// into them. A connection waits for the groups of its user, and delays nobody else.
package final class UserGroups: Sendable {
    private struct Entry {
        let groups: Set<UInt32>
        let until: MonotonicTime
    }

    private struct State {
        var known: [UInt32: Entry] = [:]
        var waiting: [UInt32: [@PlayerLoop () -> Void]] = [:]
    }

    private let state = Mutex(State())
    @PlayerLoop private let workers: Workers
    private let lookUp: @Sendable (UInt32) -> Set<UInt32>

    /// Seconds for which a result is used.
    static let seconds = 30.0
    /// Maximum users whose groups are known.
    private static let maximumKnown = 256
    /// Maximum connections of one user that wait, and of all users.
    private static let (maximumOfUser, maximumWaiting) = (16, 64)

    /// Groups by the system's tables, unless another look-up is given.
    @PlayerLoop package init(
        _ loop: EventLoop, lookUp: @escaping @Sendable (UInt32) -> Set<UInt32> = LocalUsers.groups
    ) {
        workers = Workers(loop, name: "users")
        self.lookUp = lookUp
    }

    /// The groups as they were found last; empty: they are unknown.
    package func groups(of user: UInt32) -> Set<UInt32> { state.withLock { $0.known[user]?.groups ?? [] } }

    /// Calls `done` when the groups of a user are known, maybe at once. False: too many connections wait; `done` is not called.
    @PlayerLoop package func find(_ user: UInt32, at now: MonotonicTime, _ done: @escaping @PlayerLoop () -> Void)
        -> Bool
    {
        enum Step { case known, refused, waits, begins }
        let step = state.withLock { state -> Step in
            if let entry = state.known[user], now < entry.until { return .known }
            let own = state.waiting[user]?.count ?? 0
            let all = state.waiting.values.reduce(0) { $0 + $1.count }
            guard own < Self.maximumOfUser, all < Self.maximumWaiting else { return .refused }
            state.waiting[user, default: []].append(done)
            return own == 0 ? .begins : .waits
        }
        switch step {
        case .known: done()
        case .refused: return false
        case .waits: break
        case .begins:
            let lookUp = lookUp
            workers.submit({ lookUp(user) }, { [weak self] in self?.take(user, $0) })
        }
        return true
    }

    @PlayerLoop private func take(_ user: UInt32, _ groups: Set<UInt32>) {
        let until = MonotonicTime.now.advanced(bySeconds: Self.seconds)
        let done = state.withLock { state in
            if state.known.count >= Self.maximumKnown { state.known = [:] }
            state.known[user] = Entry(groups: groups, until: until)
            return state.waiting.removeValue(forKey: user) ?? []
        }
        for done in done { done() }
    }
}
