package import ControlProtocol
package import LinuxSystem

/// Roles of peers, by their credentials from the kernel.
package struct PeerRoles: Sendable {
    /// The daemon's own user.
    package let ownUID: UInt32
    /// Members may control.
    package let controlGroup: UInt32?
    /// Members may send remote commands.
    package let remoteGroup: UInt32?
    /// Members may read.
    package let readGroup: UInt32?

    /// Roles by these groups; nil: there is no such group.
    package init(ownUID: UInt32, controlGroup: UInt32? = nil, remoteGroup: UInt32? = nil, readGroup: UInt32? = nil) {
        self.ownUID = ownUID
        self.controlGroup = controlGroup
        self.remoteGroup = remoteGroup
        self.readGroup = readGroup
    }

    /// Roles by the names or numbers of these groups; nil: there is no such group.
    package init(
        ownUID: UInt32, controlGroup: String?, remoteGroup: String? = nil, readGroup: String?
    ) throws(SocketFailure) {
        func number(_ group: String?) throws(SocketFailure) -> UInt32? {
            guard let group else { return nil }
            guard let number = GroupAccess.number(of: group) else {
                throw SocketFailure("the configuration names the group “\(group)”, which does not exist")
            }
            return number
        }
        self.init(
            ownUID: ownUID, controlGroup: try number(controlGroup), remoteGroup: try number(remoteGroup),
            readGroup: try number(readGroup))
    }

    /// The groups that may connect.
    package var groups: [UInt32] { [controlGroup, remoteGroup, readGroup].compactMap { $0 } }

    /// Role of a peer; nil: no access.
    package func role(of peer: PeerCredentials) -> Role? {
        if !isForeign(peer) { return .admin }
        if let controlGroup, peer.gid == controlGroup || peer.groups.contains(controlGroup) { return .control }
        if let remoteGroup, peer.gid == remoteGroup || peer.groups.contains(remoteGroup) { return .remote }
        if let readGroup, peer.gid == readGroup || peer.groups.contains(readGroup) { return .read }
        return nil
    }

    /// True if the peer is neither the daemon's own user nor root.
    package func isForeign(_ peer: PeerCredentials) -> Bool { peer.uid != ownUID && peer.uid != 0 }
}

/// The rights of a client: its role, and the media that it may name.
package struct ClientRights: Equatable, Sendable {
    /// The most that it may do.
    package private(set) var role: Role
    /// True if its media have the rights of a user who is neither the daemon's own nor root.
    package private(set) var isForeign: Bool

    /// Rights, by their parts.
    init(role: Role, isForeign: Bool) {
        self.role = role
        self.isForeign = isForeign
    }

    /// Gives up all rights beyond this role, and the rights of the daemon's own user.
    mutating func giveUp(beyond limit: Role) {
        role = min(role, limit)
        isForeign = true
    }
}
