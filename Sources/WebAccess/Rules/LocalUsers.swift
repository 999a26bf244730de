package import BridgeRuntime
package import ControlProtocol
import Glibc
import LinuxSystem

/// Rights of users of this machine, as on the daemon's Unix socket, but never more than `control`.
package struct LocalUsers: Sendable {
    /// The daemon's own user.
    private let owner: UInt32
    private let controlGroup: UInt32?
    private let remoteGroup: UInt32?
    private let readGroup: UInt32?
    private let groups: @Sendable (UInt32) -> Set<UInt32>

    /// Rights by these numbers. `groups`: the groups of a user.
    package init(
        owner: UInt32, controlGroup: UInt32? = nil, remoteGroup: UInt32? = nil, readGroup: UInt32? = nil,
        groups: @escaping @Sendable (UInt32) -> Set<UInt32> = LocalUsers.groups
    ) {
        self.owner = owner
        self.controlGroup = controlGroup
        self.remoteGroup = remoteGroup
        self.readGroup = readGroup
        self.groups = groups
    }

    /// Rights by the settings. `owner`: the daemon's user; `groups`: the groups of a user. Throws when a group does not exist.
    package init(
        _ settings: WebSettings, owner: UInt32,
        groups: @escaping @Sendable (UInt32) -> Set<UInt32> = LocalUsers.groups
    ) throws(BridgeFailure) {
        func number(_ name: String?) throws(BridgeFailure) -> UInt32? {
            guard let name else { return nil }
            guard let number = GroupAccess.number(of: name) else {
                throw BridgeFailure(
                    "the configuration names the group “\(name)” in [access], which does not exist",
                    isOfConfiguration: true)
            }
            return number
        }
        self.init(
            owner: owner, controlGroup: try number(settings.controlGroup),
            remoteGroup: try number(settings.remoteGroup),
            readGroup: try number(settings.readGroup), groups: groups)
    }

    /// The role of a user; nil: the user has no rights of its own.
    package func role(of user: UInt32) -> Role? {
        guard PeerUser.counts(user, owner: owner) else { return nil }
        if isOwner(user) { return .control }
        let members = [controlGroup, remoteGroup, readGroup].contains { $0 != nil } ? groups(user) : []
        if let controlGroup, members.contains(controlGroup) { return .control }
        if let remoteGroup, members.contains(remoteGroup) { return .remote }
        if let readGroup, members.contains(readGroup) { return .read }
        return nil
    }

    /// True if the rights of a user depend on its groups.
    package func needsGroups(of user: UInt32) -> Bool {
        !isOwner(user) && user != 0 && [controlGroup, remoteGroup, readGroup].contains { $0 != nil }
    }

    /// True for the daemon's own user.
    package func isOwner(_ user: UInt32) -> Bool { user == owner }

    /// The groups of a user in the system's tables. It may block.
    package static func groups(of user: UInt32) -> Set<UInt32> {
        guard let entry = getpwuid(user) else { return [] }
        let primary = entry.pointee.pw_gid
        var count: Int32 = 1024
        var list = [gid_t](repeating: 0, count: Int(count))
        guard getgrouplist(entry.pointee.pw_name, primary, &list, &count) >= 0 else { return [primary] }
        return Set(list.prefix(Int(count)))
    }
}
