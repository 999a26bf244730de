/// Facts about a connection, fixed when it was accepted.
package struct AccessConnection: Sendable {
    /// The listening address of the connection.
    package enum Door: Sendable {
        /// An address of `bind`.
        case direct
        /// An address of `proxy-bind`.
        case proxy
    }

    package let door: Door
    /// The peer's IP address without a port; empty for a Unix socket.
    package let address: String
    /// The user of the peer (`TCPSocket.localUser`); nil: unknown. Without effect at `proxy-bind`.
    package let user: UInt32?
    package let usesTLS: Bool
    /// The address and the port of this end of the connection; nil: unknown, as for a Unix socket or a proxy.
    package let end: HostName?

    /// Facts about a connection, by their parts.
    package init(door: Door, address: String, user: UInt32?, usesTLS: Bool, end: HostName? = nil) {
        self.end = end
        self.door = door
        self.address = address
        self.user = user
        self.usesTLS = usesTLS
    }
}

/// The parts of a request on which access depends.
package struct AccessRequest: Sendable {
    /// Purpose of a request.
    package enum Purpose: Sendable {
        /// The page and its files, which reveal nothing about this machine. All callers may get them, also from a link.
        case page
        /// Pairing: all callers may try, except pages of other origins.
        case pairing
        /// Everything else.
        case call
    }

    package let connection: AccessConnection
    package let purpose: Purpose
    private let headers: [(name: String, value: String)]

    /// A request with all of its headers, in any order. Names may have any case; the values are unchanged.
    package init(_ connection: AccessConnection, _ purpose: Purpose, headers: [(name: String, value: String)]) {
        self.connection = connection
        self.purpose = purpose
        self.headers = headers.map { ($0.name.lowercased(), $0.value) }
    }

    /// The values of a header, by its name in lower case.
    func values(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }

    /// True if a proxy has passed it on.
    var isForwarded: Bool {
        headers.contains { header in
            ["forwarded", "via", "x-real-ip"].contains(header.name) || header.name.hasPrefix("x-forwarded-")
                || header.name.hasPrefix("tailscale-")
        }
    }

    /// The host of the single `Host` header; nil: the header is missing, repeated or invalid.
    package var host: HostName? {
        let values = values("host")
        return values.count == 1 ? HostName(values[0]) : nil
    }

    /// True if the caller's own connection uses TLS: with the bridge, or with the proxy by the proxy's header.
    package var isSecure: Bool {
        switch connection.door {
        case .direct: connection.usesTLS
        case .proxy: values("x-forwarded-proto") == ["https"]
        }
    }

    /// The source of guesses: a network address, or the proxy with the address that it reports.
    var source: String {
        switch connection.door {
        case .direct: return NetworkAddress.source(connection.address)
        case .proxy:
            // The proxy itself has added the last address.
            let last = values("x-forwarded-for").last?.split(separator: ",").last.map { $0.filter { $0 != " " } }
            return "proxy " + NetworkAddress.source(last.map { String($0.prefix(64)) } ?? "")
        }
    }

    // MARK: The token

    /// The source of a caller's token.
    enum Token: Equatable {
        case none
        /// From `Authorization: Bearer`.
        case bearer(String)
        /// From the cookie of this port.
        case cookie(String)
        /// From `Authorization: Proof`, in place of a token.
        case proof(ProofWords)
        /// Another scheme, or several headers.
        case unknown
    }

    /// The token of this request. A header precedes a cookie.
    var token: Token {
        let headers = values("authorization")
        if let header = headers.first {
            let parts = header.split(separator: " ", maxSplits: 1)
            guard headers.count == 1, parts.count == 2 else { return .unknown }
            let words = String(parts[1].drop { $0 == " " })
            switch parts[0].lowercased() {
            case "bearer": return .bearer(words)
            case "proof": return ProofWords(words).map(Token.proof) ?? .unknown
            case _: return .unknown
            }
        }
        guard let name = cookieName else { return .none }
        for pair in values("cookie").flatMap({ $0.split(separator: ";") }) {
            let pair = pair.drop { $0 == " " }
            if pair.hasPrefix(name + "=") { return .cookie(String(pair.dropFirst(name.utf8.count + 1))) }
        }
        return .none
    }

    /// The name of the bridge's cookie. It contains the port, as all ports of a host share their cookies. Nil: no host.
    private var cookieName: String? {
        host.map { "nowplaying-\($0.port ?? (isSecure ? WebOrigin.Scheme.https : .http).usualPort)" }
    }

    /// The value of `Set-Cookie` that stores this token in the browser for 400 days, the maximum of browsers. A nil token
    /// removes the cookie. The browser sends it to paths below `path` alone. Nil: the request has no host.
    package func cookie(_ token: String?, below path: BasePath = .root) -> String? {
        cookieName.map { name in
            "\(name)=\(token ?? ""); Path=\(path.cookiePath); Max-Age=\(token == nil ? 0 : 34_560_000); HttpOnly; SameSite=Strict"
                + (isSecure ? "; Secure" : "")
        }
    }
}
