/// An address at which `nowplaying-web` listens.
package enum WebAddress: Hashable, Sendable {
    /// Host `*`: every address of this machine. Port 0: a free port.
    case network(host: String, port: UInt16)
    case local(path: String)

    /// Port of the page.
    package static let usualPort: UInt16 = 8088

    /// The default of `bind`.
    package static let usual: WebAddress = .network(host: "localhost", port: usualPort)

    /// Reads `HOST:PORT`, `HOST`, `[::1]:8088`, `*:8088` and `/PATH`; nil: the text is none of these.
    package init?(_ text: String) {
        if text.hasPrefix("/") {
            guard text.utf8.count <= 107 else { return nil }
            self = .local(path: text)
            return
        }
        let (host, port): (Substring, Substring?)
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            port = rest.isEmpty ? nil : rest.dropFirst()
        } else {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2 else { return nil }
            host = parts[0]
            port = parts.count == 2 ? parts[1] : nil
        }
        guard !host.isEmpty, !host.contains(where: { $0.isWhitespace || $0 == "/" }) else { return nil }
        guard let port else {
            self = .network(host: String(host), port: Self.usualPort)
            return
        }
        guard let number = HostName.port(port, from: 0) else { return nil }
        self = .network(host: String(host), port: number)
    }

    /// The address in the configuration's notation.
    package var text: String {
        switch self {
        case .network(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .local(let path): path
        }
    }

    /// True for a Unix socket.
    package var isLocal: Bool {
        switch self {
        case .network: false
        case .local: true
        }
    }

    /// True if the system chooses the port.
    package var hasAnyPort: Bool {
        switch self {
        case .network(_, let port): port == 0
        case .local: false
        }
    }
}
