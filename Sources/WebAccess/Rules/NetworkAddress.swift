import Glibc

/// IP addresses as texts.
package enum NetworkAddress {
    /// The usual form of an address of this family; nil: it is none.
    static func canonical(_ text: String, _ family: Int32) -> String? {
        bytes(text, family).flatMap { NetworkAddress.text($0, family) }
    }

    /// The address without the form of IPv4 addresses in IPv6 (`::ffff:192.0.2.1`) and without a zone. Other texts stay.
    package static func plain(_ text: String) -> String {
        let address = String(text.prefix { $0 != "%" })
        guard let bytes = bytes(address, AF_INET6) else { return text }
        guard bytes.prefix(12).elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]) else {
            return NetworkAddress.text(bytes, AF_INET6) ?? text
        }
        return NetworkAddress.text(Array(bytes[12...]), AF_INET) ?? text
    }

    /// The source of requests to count: an IPv4 address, or the network of 64 bits of an IPv6 address, since each of its
    /// machines has more addresses than can be counted.
    static func source(_ text: String) -> String {
        let address = plain(text)
        guard let bytes = bytes(address, AF_INET6) else { return address }
        return (NetworkAddress.text(bytes.prefix(8) + [UInt8](repeating: 0, count: 8), AF_INET6) ?? address) + "/64"
    }

    private static func bytes(_ text: String, _ family: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        guard inet_pton(family, text, &bytes) == 1 else { return nil }
        return family == AF_INET ? Array(bytes[..<4]) : bytes
    }

    private static func text(_ bytes: [UInt8], _ family: Int32) -> String? {
        var result = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(family, bytes, &result, socklen_t(result.count)) != nil else { return nil }
        return String(decoding: result.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
