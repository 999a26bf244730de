import BridgeRuntime
import Glibc
import LinuxSystem

/// The origin of a connection. Connections of one origin share bounds.
enum PeerSource: Hashable, Sendable {
    /// The bridge's own user.
    case own
    /// Another user of this machine.
    case user(UInt32)
    /// An IP address; of version 6, its network of 64 bits.
    case address(String)
    /// The kernel reports neither.
    case unknown

    /// The origin of a connection. `user`: the user that the kernel reports.
    init(_ descriptor: Int32, user: UInt32?) {
        if let user {
            self = user == geteuid() ? .own : .user(user)
        } else {
            self = TCPSocket.peerAddress(descriptor).map { .address(Self.network($0)) } ?? .unknown
        }
    }

    /// True for the bridge's own user.
    var isOwn: Bool { self == .own }

    /// The origin in words: `user 1001`, `192.168.1.7`, `2001:db8::/64`.
    var text: String {
        switch self {
        case .own: "user \(geteuid())"
        case .user(let user): "user \(user)"
        case .address(let address): address
        case .unknown: "an unknown user"
        }
    }

    /// The address; of version 6, its network, as a machine has all addresses of it. A mapped address is one of version 4.
    static func network(_ address: String) -> String {
        let mapped = "::ffff:"
        if address.hasPrefix(mapped), address.contains(".") { return String(address.dropFirst(mapped.count)) }
        // The zone of a link-local address follows a percent sign.
        let plain = String(address.prefix { $0 != "%" })
        var bytes = in6_addr()
        guard inet_pton(AF_INET6, plain, &bytes) == 1 else { return address }
        withUnsafeMutableBytes(of: &bytes) { for index in 8..<16 { $0[index] = 0 } }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, &bytes, &text, socklen_t(text.count)) != nil else { return address }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) + "/64"
    }
}
