import LinuxSystem

/// Requests on their way to a worker thread. A user's many clients leave threads for others, and all foreign users leave
/// threads for the owner: further requests wait in their order.
@PlayerLoop final class Preparations {
    /// Threads of the owner at once, of those of `Workers`.
    private static let mostOfOwner = 128
    /// Threads of one foreign user at once, and those of all foreign users.
    private static let (mostOfForeigner, mostOfForeigners) = (64, 128)

    private struct User {
        var running = 0
        var waiting: [@PlayerLoop () -> Void] = []
    }

    private let workers: Workers
    private var users: [MemoryHolder: User] = [:]
    private var runningOfForeigners = 0
    /// Foreign users with waiting requests, in the order in which they get a free thread.
    private var queue: [MemoryHolder] = []

    /// Preparations on these threads.
    init(_ workers: Workers) { self.workers = workers }

    /// Does `work` of a user on another thread, and `done` with its result on the loop afterwards.
    func submit<Result: Sendable>(
        for user: MemoryHolder, _ work: @escaping @Sendable () -> Result, _ done: @escaping @PlayerLoop (Result) -> Void
    ) {
        guard mayStart(user), users[user]?.waiting.isEmpty ?? true else {
            users[user, default: User()].waiting.append { [unowned self] in start(user, work, done) }
            if user != .owner, !queue.contains(user) { queue.append(user) }
            return
        }
        start(user, work, done)
    }

    /// True if a thread is free for this user.
    private func mayStart(_ user: MemoryHolder) -> Bool {
        let running = users[user]?.running ?? 0
        return switch user {
        case .owner: running < Self.mostOfOwner
        case .foreigner: running < Self.mostOfForeigner && runningOfForeigners < Self.mostOfForeigners
        }
    }

    private func start<Result: Sendable>(
        _ user: MemoryHolder, _ work: @escaping @Sendable () -> Result, _ done: @escaping @PlayerLoop (Result) -> Void
    ) {
        users[user, default: User()].running += 1
        if user != .owner { runningOfForeigners += 1 }
        workers.submit(work) { [self] result in
            ended(user)
            done(result)
        }
    }

    private func ended(_ user: MemoryHolder) {
        users[user]?.running -= 1
        if user == .owner {
            startNext(user)
        } else {
            runningOfForeigners -= 1
            // The users get free threads in turn.
            if let index = queue.firstIndex(where: mayStart) {
                let next = queue.remove(at: index)
                startNext(next)
                if users[next]?.waiting.isEmpty == false { queue.append(next) }
            }
        }
        if let state = users[user], state.running == 0, state.waiting.isEmpty { users[user] = nil }
    }

    private func startNext(_ user: MemoryHolder) {
        guard users[user]?.waiting.isEmpty == false else { return }
        users[user]?.waiting.removeFirst()()
    }
}
