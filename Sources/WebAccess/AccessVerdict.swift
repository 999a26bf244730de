package import ControlProtocol

/// An admitted caller.
package struct AccessCaller: Equatable, Sendable {
    /// The evidence for its rights.
    package enum Identity: Hashable, Sendable {
        /// A paired device, by its id.
        case device(id: String)
        /// A user of this machine. The daemon's own user sees and revokes every device.
        case user(uid: UInt32, isOwner: Bool)
        case anonymous
    }

    package let identity: Identity
    /// Never more than `control`.
    package let role: Role

    /// True for the daemon's own user on this machine.
    package var isOwner: Bool {
        switch identity {
        case .user(_, let isOwner): isOwner
        case .device, .anonymous: false
        }
    }

    /// A caller, by its parts.
    init(_ identity: Identity, _ role: Role) {
        self.identity = identity
        self.role = role
    }
}

/// The answer to a request for access.
package enum AccessVerdict: Equatable, Sendable {
    case admitted(AccessCaller)
    /// The page and its files, or a pairing, for all callers.
    case open
    /// 400: `Host` is missing, repeated or invalid.
    case malformed
    /// 421: the host is not a name of this machine.
    case misdirected
    /// 403: a page of another origin.
    case foreign
    /// 401, after this many seconds; `hasCookie`: the answer removes the cookie (`AccessRequest.cookie`).
    case refused(after: Double, hasCookie: Bool)
    /// 409: the nonce of a proof is used, too old or of another process. The caller needs another one.
    case stale
    /// 429: this device has made too many proofs.
    case tooMany
}

/// The answer to a pairing code.
package enum PairingAnswer: Sendable {
    /// 200 with `{token, id, role}`; browsers get the token as a cookie too.
    case paired(DeviceToken, Device)
    /// 403, after this many seconds, with a message.
    case refused(after: Double, message: String)
}
