import Glibc

/// IP addresses as texts.
package enum NetworkAddress {
    /// The canonical form of an address of this family; nil: the text is not one.
    static func canonical(_ text: String, _ family: Int32) -> String? {
        bytes(text, family).flatMap { NetworkAddress.text($0, family) }
    }

    /// The address without the IPv6 prefix of mapped IPv4 addresses (`::ffff:192.0.2.1`) and without a zone. Other texts stay
    /// unchanged.
    package static func plain(_ text: String) -> String {
        let address = String(text.prefix { $0 != "%" })
        guard let bytes = bytes(address, AF_INET6) else { return text }
        guard bytes.prefix(12).elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]) else {
            return NetworkAddress.text(bytes, AF_INET6) ?? text
        }
        return NetworkAddress.text(Array(bytes[12...]), AF_INET) ?? text
    }

    /// The source for counting requests: an IPv4 address, or the 64-bit network of an IPv6 address, since each of its machines
    /// has too many addresses to count.
    static func source(_ text: String) -> String {
        let address = plain(text)
        guard let bytes = bytes(address, AF_INET6) else { return address }
        return (NetworkAddress.text(bytes.prefix(8) + [UInt8](repeating: 0, count: 8), AF_INET6) ?? address) + "/64"
    }

    /// The address and the port of this end of a connection by TCP, as its peer has dialled them; nil: it has ended.
    package static func end(of descriptor: Int32) -> HostName? {
        var own = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var host = [CChar](repeating: 0, count: 64)
        var port = [CChar](repeating: 0, count: 16)
        let isKnown = withUnsafeMutablePointer(to: &own) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                getsockname(descriptor, address, &length) == 0
                    && getnameinfo(
                        address, length, &host, socklen_t(host.count), &port, socklen_t(port.count),
                        NI_NUMERICHOST | NI_NUMERICSERV) == 0
            }
        }
        guard isKnown else { return nil }
        let texts = [host, port].map {
            String(decoding: $0.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        let address = plain(texts[0])
        return HostName((address.contains(":") ? "[\(address)]" : address) + ":" + texts[1])
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
