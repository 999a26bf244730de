import Glibc
import LinuxSystem
import MPDProtocol
import NowPlayingClient

/// Rights of connections before a password, by the user at the other end.
struct PeerRights: Sendable {
    private let settings: MPDSettings
    private let owner: UInt32

    /// All rights of the protocol except `kill`.
    private static let full: Permissions = [.read, .add, .player, .control, .admin]

    /// Rights by these settings. `owner`: the user of the daemon.
    init(_ settings: MPDSettings, owner: UInt32) {
        self.settings = settings
        self.owner = owner
    }

    /// Rights of a user of this machine; nil: the user is unknown.
    func rights(of user: UInt32?) -> Permissions {
        guard let user, user == owner else { return settings.defaultPermissions }
        return settings.localPermissions ?? Self.full
    }

    /// True for the bridge's own user.
    static func isOwn(_ user: UInt32?) -> Bool { user == geteuid() }

    /// Rights of a password; nil: the password is wrong. The time is the same for all wrong passwords of a length.
    func rights(forPassword word: [UInt8]) -> Permissions? {
        var found: Permissions?
        for password in settings.passwords where Self.isEqual(Array(password.word.utf8), word) {
            found = password.permissions
        }
        return found
    }

    private static func isEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
