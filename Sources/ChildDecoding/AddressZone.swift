/// Distance of a network address. A farther address must not redirect to a nearer one.
package enum AddressZone: Int, Comparable, Sendable {
    /// Unspecified, multicast or reserved. Never connected to.
    case unusable
    /// This host.
    case loopback
    /// The local network: private (RFC 1918, RFC 4193), shared (RFC 6598) and link-local addresses.
    case local
    /// The public internet.
    case everywhere

    package static func < (a: AddressZone, b: AddressZone) -> Bool { a.rawValue < b.rawValue }

    /// The zone of an IPv4 address (RFC 6890), in network byte order; 4 bytes.
    package init(ipv4 bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == 4 else {
            self = .unusable
            return
        }
        switch (bytes[0], bytes[1], bytes[2]) {
        case (127, _, _): self = .loopback
        case (10, _, _), (192, 168, _), (169, 254, _): self = .local
        case (172, 16...31, _), (100, 64...127, _): self = .local
        case (0, _, _), (224...255, _, _): self = .unusable
        case (192, 0, 0), (192, 0, 2), (198, 51, 100), (203, 0, 113), (198, 18...19, _): self = .unusable
        default: self = .everywhere
        }
    }

    /// The zone of an IPv6 address, in network byte order; 16 bytes. An embedded IPv4 address decides the zone.
    package init(ipv6 bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == 16 else {
            self = .unusable
            return
        }
        if bytes[..<15].allSatisfy({ $0 == 0 }), bytes[15] <= 1 {
            self = bytes[15] == 1 ? .loopback : .unusable
            return
        }
        if let embedded = Self.embeddedIPv4(bytes) {
            self.init(ipv4: embedded)
            return
        }
        switch (bytes[0], bytes[1]) {
        case (0xFC...0xFD, _), (0xFE, 0x80...0xFF): self = .local
        case (0x20...0x3F, _): self = bytes.starts(with: [0x20, 0x01, 0x0D, 0xB8]) ? .unusable : .everywhere
        default: self = .unusable
        }
    }

    /// The IPv4 address within an IPv4-mapped (RFC 4291), NAT64 (RFC 6052, RFC 8215), 6to4 (RFC 3056) or Teredo (RFC
    /// 4380) address; nil: there is none.
    private static func embeddedIPv4(_ bytes: [UInt8]) -> [UInt8]? {
        if bytes[..<10].allSatisfy({ $0 == 0 }) {
            return bytes[10...11].allSatisfy { $0 == 0xFF } || bytes[10...11].allSatisfy { $0 == 0 }
                ? Array(bytes[12...]) : nil
        }
        if bytes.starts(with: [0, 0x64, 0xFF, 0x9B]) { return Array(bytes[12...]) }
        if bytes.starts(with: [0x20, 0x02]) { return Array(bytes[2..<6]) }
        if bytes.starts(with: [0x20, 0x01, 0, 0]) { return bytes[12...].map { ~$0 } }
        return nil
    }

    /// True if a connection to this zone is allowed after a redirect from `referrer`. `referrer` nil: a client of the daemon
    /// named the address itself.
    package func isAllowed(from referrer: AddressZone?, mayUseLoopback: Bool) -> Bool {
        switch self {
        case .unusable: false
        case .loopback: mayUseLoopback && (referrer ?? .loopback) <= .loopback
        case .local: (referrer ?? .local) <= .local
        case .everywhere: true
        }
    }
}
