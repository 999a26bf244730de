import Glibc

/// The addresses at which the bridge listens, and the addresses for people to type.
package struct WebReach: Sendable {
    /// A bound address of `bind`.
    package struct Listener: Equatable, Sendable {
        /// An IP address without a zone and brackets; `0.0.0.0` and `::` mean all addresses.
        package let address: String
        /// The number of its port.
        package let port: UInt16

        /// An address, by its parts.
        package init(address: String, port: UInt16) {
            self.address = NetworkAddress.plain(address)
            self.port = port
        }

        /// True for an address of this machine that other machines cannot reach.
        package var isLoopback: Bool { address == "::1" || address.hasPrefix("127.") }
        /// True for all addresses of a family.
        var isEvery: Bool { address == "0.0.0.0" || address == "::" }
        /// The host in the form of a URL.
        var host: String { address.contains(":") ? "[\(address)]" : address }
    }

    package let listeners: [Listener]
    /// The addresses of `proxy-bind`, for people.
    package let proxies: [String]
    private let settings: WebSettings

    /// A reach of these bound listeners, and of the settings for them.
    package init(_ listeners: [Listener], proxies: [String], _ settings: WebSettings) {
        self.listeners = listeners
        self.proxies = proxies
        self.settings = settings
    }

    /// True if other machines can reach the bridge, directly or by a proxy.
    package var isBeyondLoopback: Bool { !proxies.isEmpty || listeners.contains { !$0.isLoopback } }

    /// The addresses for other machines, the best first; empty: there is none. `own`: the addresses of this machine.
    package func urls(own: [String] = MachineAddresses.all) -> [String] {
        if let address = settings.address {
            let port = listeners.first?.port ?? WebAddress.usualPort
            return [address.url(usesTLS: settings.usesTLS, port: port, below: settings.basePath)]
        }
        var result: [String] = []
        for listener in listeners where !listener.isLoopback {
            let isSixth = listener.address.contains(":")
            let hosts = listener.isEvery ? own.filter { $0.contains(":") == isSixth } : [listener.address]
            for host in hosts {
                let url = url(host: Listener(address: host, port: listener.port).host, listener.port)
                if !result.contains(url) { result.append(url) }
            }
        }
        return result
    }

    /// The address of the page for a browser on this machine.
    package var localURL: String? {
        let listener = listeners.first { $0.isLoopback || $0.isEvery } ?? listeners.first
        return listener.map { listener in
            let isHere = listener.isLoopback || listener.isEvery
            return url(host: isHere ? "localhost" : listener.host, listener.port)
        }
    }

    private func url(host: String, _ port: UInt16) -> String {
        let scheme: WebOrigin.Scheme = settings.usesTLS ? .https : .http
        return "\(scheme.rawValue)://\(host)" + (port == scheme.usualPort ? "" : ":\(port)") + settings.basePath.folder
    }
}

/// The IP addresses of this machine.
package enum MachineAddresses {
    /// All addresses except loopback and link-local ones, as texts: first addresses with a route to other networks, IPv4
    /// before IPv6.
    package static var all: [String] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: [String] = []
        var next = list
        while let entry = next {
            next = entry.pointee.ifa_next
            let flags = Int32(bitPattern: entry.pointee.ifa_flags)
            guard flags & Int32(IFF_UP) != 0, flags & Int32(IFF_LOOPBACK) == 0,
                let address = entry.pointee.ifa_addr, let text = text(address), !text.hasPrefix("fe80:"),
                !text.hasPrefix("169.254."), !found.contains(text)
            else { continue }
            found.append(text)
        }
        let usual = outward
        func rank(_ text: String) -> Int { text == usual ? 0 : text.contains(":") ? 2 : 1 }
        return found.enumerated().sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.map(
            \.element)
    }

    /// The IPv4 address that the system would use for other networks. The function sends nothing.
    private static var outward: String? {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // An address for documentation (RFC 5737), which no machine has.
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = UInt16(9).bigEndian
        inet_pton(AF_INET, "192.0.2.1", &target.sin_addr)
        var own = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let size = length
        let isConnected = withUnsafePointer(to: &target) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) == 0 }
        }
        guard isConnected else { return nil }
        return withUnsafeMutablePointer(to: &own) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &length) == 0 ? text($0) : nil
            }
        }
    }

    private static func text(_ address: UnsafePointer<sockaddr>) -> String? {
        let family = Int32(address.pointee.sa_family)
        guard family == AF_INET || family == AF_INET6 else { return nil }
        let length = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
        var host = [CChar](repeating: 0, count: 64)
        guard getnameinfo(address, socklen_t(length), &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0 else {
            return nil
        }
        let text = String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return NetworkAddress.plain(text.hasPrefix("fe80:") ? String(text.prefix { $0 != "%" }) : text)
    }
}
