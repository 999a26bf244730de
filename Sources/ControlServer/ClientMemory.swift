package import LinuxSystem

/// The user to whom the memory of a client is charged.
enum MemoryHolder: Hashable {
    /// Clients with the rights of the server's own user or root.
    case owner
    /// Clients of one other user, or that act for one.
    case foreigner(UInt32)
}

/// Memory that the clients of one user hold.
@PlayerLoop final class ClientAccount {
    let holder: MemoryHolder
    /// Bytes of all of them.
    fileprivate(set) var bytes = 0
    fileprivate var clients = 0

    fileprivate init(_ holder: MemoryHolder) { self.holder = holder }
}

/// The memory that a server holds for its clients: unread answers, unfinished lines, and requests without an answer. Each user
/// has a bound, and so have all foreign users together: they cannot use the share of the owner.
@PlayerLoop package final class ClientMemory {
    /// Bytes for the clients of one foreign user.
    package nonisolated static let mostOfForeigner = 32 << 20
    /// Bytes for the clients of all foreign users.
    package nonisolated static let mostOfForeigners = 64 << 20
    /// Bytes for the clients of the owner.
    package nonisolated static let mostOfOwner = 64 << 20
    /// A client that holds less is not ended: the places bound the sum of such clients.
    nonisolated static let leastBytes = 4096
    /// Parsed requests take up to this many times the bytes of their lines.
    nonisolated static let growthOfRequests = 8

    private var accounts: [MemoryHolder: ClientAccount] = [:]
    /// Bytes of all foreign users.
    package private(set) var bytesOfForeigners = 0
    private var lastNumber = 0

    /// No client holds anything.
    init() {}

    /// Bytes of the owner's clients.
    package var bytesOfOwner: Int { accounts[.owner]?.bytes ?? 0 }

    /// Most bytes of a foreign user.
    package var bytesOfLargest: Int {
        accounts.values.lazy.filter { $0.holder != .owner }.map(\.bytes).max() ?? 0
    }

    /// The user whose clients hold more than they may; nil: there is none.
    var excessive: ClientAccount? {
        let foreigners = accounts.values.lazy.filter { $0.holder != .owner }
        if let worst = foreigners.max(by: { $0.bytes < $1.bytes }),
            worst.bytes > Self.mostOfForeigner || bytesOfForeigners > Self.mostOfForeigners
        {
            return worst
        }
        return accounts[.owner].flatMap { $0.bytes > Self.mostOfOwner ? $0 : nil }
    }

    /// The account of a user, for one client more.
    fileprivate func join(_ holder: MemoryHolder) -> ClientAccount {
        let account = accounts[holder] ?? ClientAccount(holder)
        accounts[holder] = account
        account.clients += 1
        return account
    }

    /// A client leaves its account.
    fileprivate func leave(_ account: ClientAccount) {
        account.clients -= 1
        if account.clients == 0 { accounts[account.holder] = nil }
    }

    /// Charges bytes, or releases them.
    fileprivate func charge(_ account: ClientAccount, _ bytes: Int) {
        account.bytes += bytes
        if account.holder != .owner { bytesOfForeigners += bytes }
    }

    /// A number that is greater than those before.
    fileprivate func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }
}

/// The part of one client in the memory of its user.
@PlayerLoop final class ClientHolding {
    private let memory: ClientMemory
    private(set) var account: ClientAccount
    /// Bytes that the client holds.
    private(set) var bytes = 0
    /// Order in which clients began to hold memory or read a part of it: the smallest number has read nothing for longest.
    private(set) var since = 0
    /// Bytes that the client had been sent at that time.
    private var sentBefore = 0
    /// Bytes after which a client counts as one that reads.
    private static let part = 256 << 10

    /// A client of this user that holds nothing.
    init(_ memory: ClientMemory, _ holder: MemoryHolder) {
        self.memory = memory
        account = memory.join(holder)
    }

    /// Sets the held bytes; `sent`: bytes that the client has been sent in all. True: they grew.
    func set(_ newBytes: Int, sent: Int) -> Bool {
        guard newBytes != bytes else { return false }
        memory.charge(account, newBytes - bytes)
        if bytes == 0 || sent - sentBefore >= Self.part {
            since = memory.nextNumber()
            sentBefore = sent
        }
        defer { bytes = newBytes }
        return newBytes > bytes
    }

    /// Charges another user from now on.
    func move(to holder: MemoryHolder) {
        guard holder != account.holder else { return }
        memory.charge(account, -bytes)
        memory.leave(account)
        account = memory.join(holder)
        memory.charge(account, bytes)
    }

    /// The client has gone.
    func end() {
        _ = set(0, sent: sentBefore)
        memory.leave(account)
    }
}
