/// The address of a source of a Snapcast server.
package struct SnapcastAddress: Hashable, Sendable {
    /// Name or address of the host, without brackets.
    package let host: String
    /// Port of the source.
    package let port: UInt16

    /// Port of a server's source by default.
    package static let usualPort: UInt16 = 4953

    /// Parses `HOST`, `HOST:PORT` and `[::1]:PORT`; nil: anything else.
    package init?(_ text: some StringProtocol) {
        let (host, port): (Substring, Substring?)
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = Substring(text[text.index(after: text.startIndex)..<end])
            let rest = Substring(text[text.index(after: end)...])
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            port = rest.isEmpty ? nil : rest.dropFirst()
        } else {
            let parts = Substring(text).split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2 else { return nil }
            host = parts[0]
            port = parts.count == 2 ? parts[1] : nil
        }
        guard !host.isEmpty, host.utf8.count <= 253, host.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != 47 }) else {
            return nil
        }
        self.host = String(host)
        guard let port else {
            self.port = Self.usualPort
            return
        }
        guard !port.hasPrefix("+"), let number = UInt16(port), number > 0 else { return nil }
        self.port = number
    }

    /// The address in the form that `init(_:)` parses, with its port.
    package var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
