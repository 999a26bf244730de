import Glibc

/// The host and the port of a `Host` header. Sources: RFC 9110, section 7.2; URL Standard, host parsing.
package struct HostName: Hashable, Sendable {
    /// In lower case, without brackets and without a dot at the end.
    package let host: String
    /// Nil: the default port of the scheme.
    package let port: UInt16?
    /// True for an IP address.
    package let isLiteral: Bool

    /// Reads `name`, `name:port`, `127.0.0.1:8088` and `[::1]:8088`; nil: the text is none of these.
    package init?(_ text: String) {
        guard text.utf8.count <= 300, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        let rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let inside = String(text[text.index(after: text.startIndex)..<end])
            guard let address = NetworkAddress.canonical(inside, AF_INET6) else { return nil }
            host = address
            isLiteral = true
            rest = text[text.index(after: end)...]
        } else {
            let end = text.firstIndex(of: ":") ?? text.endIndex
            var name = text[..<end].lowercased()
            if name.hasSuffix(".") { name.removeLast() }
            rest = text[end...]
            if let address = NetworkAddress.canonical(name, AF_INET) {
                (host, isLiteral) = (address, true)
            } else {
                guard Self.isName(name) else { return nil }
                (host, isLiteral) = (name, false)
            }
        }
        if rest.isEmpty {
            port = nil
        } else {
            guard rest.hasPrefix(":"), let number = Self.port(rest.dropFirst(), from: 1) else { return nil }
            port = number
        }
    }

    /// A port number of decimal digits, `least` or more; nil: the text is not a port.
    static func port(_ text: Substring, from least: UInt16) -> UInt16? {
        guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
            let number = UInt16(text), number >= least
        else { return nil }
        return number
    }

    /// The host in the form of a URL: IPv6 addresses have brackets.
    package var bracketed: String { host.contains(":") ? "[\(host)]" : host }

    /// True for the names of the own machine: localhost, 127.0.0.1 and [::1].
    package var isLoopback: Bool { ["localhost", "127.0.0.1", "::1"].contains(host) }

    /// True for a name of DNS. Browsers read a name whose last label begins with a digit as an IPv4 address.
    private static func isName(_ name: String) -> Bool {
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard name.utf8.count <= 253, let last = labels.last?.utf8.first, !(0x30...0x39).contains(last) else {
            return false
        }
        return labels.allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy { byte in
                    switch byte {
                    case 0x30...0x39, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                    case _: false
                    }
                }
        }
    }
}
