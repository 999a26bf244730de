package import BridgeRuntime
package import MPDProtocol

/// The section `[mpd]`.
package struct MPDSettings: BridgeSettings {
    package static let section = "mpd"

    /// A password and its rights.
    package struct Password: Equatable, Sendable {
        /// The word.
        package let word: String
        /// Rights of a connection that sends the password.
        package let permissions: Permissions

        /// Reads `WORD@read,add`; nil: the text is invalid.
        package init?(_ text: String) {
            guard let at = text.lastIndex(of: "@"), at > text.startIndex,
                let permissions = Permissions(String(text[text.index(after: at)...])), !permissions.isEmpty
            else { return nil }
            word = String(text[..<at])
            self.permissions = permissions
        }
    }

    /// Addresses; empty: localhost and the default local socket.
    package var bind: [BindAddress] = []
    /// Addresses at which each item is an announcement.
    package var announceBind: [BindAddress] = []
    package var passwords: [Password] = []
    /// Rights of the daemon's own user on this machine, before a password; nil: `PeerRights.full`.
    package var localPermissions: Permissions?
    /// Rights of all other clients before a password.
    package var defaultPermissions: Permissions = []

    /// The defaults.
    package init() {}

    package var contradiction: String? {
        let doubled = announceBind.first { bind.contains($0) }
        return doubled.map { "“bind” and “announce-bind” have the same address \($0.text)" }
    }

    private static let rights = "read, add, player, control and admin with commas between them, or none"

    package static let all: [BridgeSetting<MPDSettings>] = [
        BridgeSetting(
            "bind", takes: "addresses such as localhost:6600, *:6600 or /run/mpd/socket, one per line",
            clear: { $0.bind = [] },
            apply: { settings, text in
                guard let address = BindAddress(text) else { return false }
                settings.bind.append(address)
                return true
            }),
        BridgeSetting(
            "announce-bind", takes: "addresses such as localhost:6601, one per line",
            clear: { $0.announceBind = [] },
            apply: { settings, text in
                guard let address = BindAddress(text) else { return false }
                settings.announceBind.append(address)
                return true
            }),
        BridgeSetting(
            "password", takes: "WORD@ and rights, as in secret@read,add,player, one per line",
            clear: { $0.passwords = [] },
            apply: { settings, text in
                guard let password = Password(text) else { return false }
                settings.passwords.append(password)
                return true
            }),
        BridgeSetting("local-permissions", takes: rights) { settings, text in
            settings.localPermissions = Permissions(text)
            return settings.localPermissions != nil
        },
        BridgeSetting("default-permissions", takes: rights) { settings, text in
            guard let permissions = Permissions(text) else { return false }
            settings.defaultPermissions = permissions
            return true
        },
    ]
}
