import ControlProtocol
import Glibc
import LinuxSystem

/// Rights of a sender of calls.
struct SenderRights: Equatable, Sendable {
    /// Nil: the sender may not even read.
    var role: Role?
    /// True if the sender is neither our own user nor root: then the daemon judges its media as those of a foreign user.
    var isForeign: Bool
}

/// Judges senders by the user and groups that the bus reports. It asks once for each sender: the bus never reuses a unique
/// name.
@PlayerLoop final class SenderJudge {
    private let controlGroup: UInt32?
    private let readGroup: UInt32?
    private var known: [String: SenderRights] = [:]

    /// Maximum number of remembered senders.
    private static let limit = 256

    /// Members of `controlGroup` may control the player, and members of `readGroup` may read.
    init(controlGroup: UInt32?, readGroup: UInt32?) {
        self.controlGroup = controlGroup
        self.readGroup = readGroup
    }

    /// Forgets all senders: another bus gives the same unique names to other connections.
    func forget() { known = [:] }

    /// Calls `answer` with the rights of the sender, at once if they are known.
    func judge(
        _ message: BusMessage, _ bus: BusConnection, _ answer: @escaping @PlayerLoop (SenderRights) -> Void
    ) {
        let sender = message.sender
        if let rights = known[sender] { return answer(rights) }
        bus.ask("GetConnectionCredentials", sender) { [weak self] reply in
            guard let self else { return }
            let rights = rights(reply)
            if known.count >= Self.limit { known = [:] }
            // A sender that has left has no rights. Its unique name never returns.
            known[sender] = rights
            answer(rights)
        }
    }

    private func rights(_ reply: BusMessage?) -> SenderRights {
        guard let reply, !reply.isError, let (user, listed) = Self.credentials(reply) else {
            return SenderRights(role: nil, isForeign: true)
        }
        return rights(user: user, groups: listed ?? Self.groups(of: user))
    }

    /// Rights of a user with these groups.
    func rights(user: UInt32, groups: Set<UInt32>) -> SenderRights {
        if user == geteuid() || user == 0 { return SenderRights(role: .admin, isForeign: false) }
        if let controlGroup, groups.contains(controlGroup) { return SenderRights(role: .control, isForeign: true) }
        if let readGroup, groups.contains(readGroup) { return SenderRights(role: .read, isForeign: true) }
        return SenderRights(role: nil, isForeign: true)
    }

    /// The user and, if the bus reports them, the groups. Specification: D-Bus, GetConnectionCredentials.
    static func credentials(_ reply: BusMessage) -> (user: UInt32, groups: Set<UInt32>?)? {
        var user: UInt32?
        var groups: Set<UInt32>?
        guard reply.enter("a", "{sv}") else { return nil }
        while reply.enter("e", "sv") {
            switch reply.readText() {
            case "UnixUserID" where reply.enter("v", "u"):
                user = reply.readUInt32()
                reply.leave()
            case "UnixGroupIDs" where reply.enter("v", "au"):
                var list: Set<UInt32> = []
                if reply.enter("a", "u") {
                    while let group = reply.readUInt32() { list.insert(group) }
                    reply.leave()
                }
                groups = list
                reply.leave()
            default: break
            }
            reply.leave()
        }
        return user.map { ($0, groups) }
    }

    /// The groups of this user in the system's tables, for buses that do not report the groups of the process.
    private static func groups(of user: UInt32) -> Set<UInt32> {
        guard let entry = getpwuid(user) else { return [] }
        let primary = entry.pointee.pw_gid
        var count: Int32 = 1024
        var list = [gid_t](repeating: 0, count: Int(count))
        guard getgrouplist(entry.pointee.pw_name, primary, &list, &count) >= 0 else { return [primary] }
        return Set(list.prefix(Int(count)))
    }
}
