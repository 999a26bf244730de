import Glibc
import LinuxSystem

/// The user of this machine at the other end of a connection to a door.
package enum PeerUser {
    /// The user that the kernel reports; nil: it reports none, as for another machine. For TCP, call it at the start of the
    /// connection: a client that closes its socket later has no user any more.
    package static func reported(_ descriptor: Int32, isLocal: Bool) -> UInt32? {
        isLocal ? UnixSocket.peer(descriptor)?.uid : TCPSocket.localUser(descriptor)
    }

    /// True if a user has rights of its own. Root has them only if the daemon is root's: programs of root, such as docker-proxy,
    /// `tailscale serve` and socat, forward the connections of strangers, and a socket unknown to the kernel looks like
    /// root's. `owner`: the daemon's user.
    package static func counts(_ user: UInt32, owner: UInt32) -> Bool { user != 0 || owner == 0 }
}
