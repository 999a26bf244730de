/// The address that people type to reach the page: `address` of `[web]`.
package struct PublicAddress: Hashable, Sendable {
    /// Nil: the bridge's own.
    package let scheme: WebOrigin.Scheme?
    package let host: HostName

    /// Reads `box.lan`, `box.lan:8088` and `https://music.example.org`, with or without a slash at the end; nil: the text is
    /// none of these.
    package init?(_ text: String) {
        var rest = Substring(text)
        if rest.hasSuffix("/") { rest.removeLast() }
        scheme = WebOrigin.Scheme.removed(from: &rest)
        guard !rest.contains("/"), let host = HostName(String(rest)) else { return nil }
        self.host = host
    }

    /// The address of the page, with a slash at its end. `usesTLS`: the bridge serves with TLS; `port`: the bridge's own.
    package func url(usesTLS: Bool, port: UInt16, below path: BasePath = .root) -> String {
        let scheme = scheme ?? (usesTLS ? .https : .http)
        // Without a scheme, the host names the bridge itself; with one, it may name a proxy at the usual port.
        let port = host.port ?? (self.scheme == nil ? port : scheme.usualPort)
        return "\(scheme.rawValue)://\(host.bracketed)" + (port == scheme.usualPort ? "" : ":\(port)") + path.folder
    }
}
