import LinuxSystem

/// Requests on their way to a worker thread. A user's many clients leave threads for others: so many run at once, and the rest
/// wait in their order.
@PlayerLoop final class Preparations {
    /// Threads of one user at once, of those of `Workers`.
    private static let mostOfUser = 192

    private struct User {
        var running = 0
        var waiting: [@PlayerLoop () -> Void] = []
    }

    private let workers: Workers
    private var users: [UInt32: User] = [:]

    /// Preparations on these threads.
    init(_ workers: Workers) { self.workers = workers }

    /// Does `work` of a user on another thread, and `done` with its result on the loop afterwards.
    func submit<Result: Sendable>(
        for user: UInt32, _ work: @escaping @Sendable () -> Result, _ done: @escaping @PlayerLoop (Result) -> Void
    ) {
        guard users[user, default: User()].running < Self.mostOfUser else {
            users[user, default: User()].waiting.append { [unowned self] in start(user, work, done) }
            return
        }
        start(user, work, done)
    }

    private func start<Result: Sendable>(
        _ user: UInt32, _ work: @escaping @Sendable () -> Result, _ done: @escaping @PlayerLoop (Result) -> Void
    ) {
        users[user, default: User()].running += 1
        workers.submit(work) { [self] result in
            ended(user)
            done(result)
        }
    }

    private func ended(_ user: UInt32) {
        users[user]?.running -= 1
        guard let state = users[user] else { return }
        if !state.waiting.isEmpty {
            users[user]?.waiting.removeFirst()()
        } else if state.running == 0 {
            users[user] = nil
        }
    }
}
