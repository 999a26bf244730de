/// The origin of a page: scheme, host and port. Source: RFC 6454.
package struct WebOrigin: Hashable, Sendable {
    /// The schemes that carry HTTP.
    package enum Scheme: String, Sendable {
        case http, https

        /// The default port.
        package var usualPort: UInt16 { self == .http ? 80 : 443 }

        /// Removes `http://` or `https://` from the start of a text; nil: there is neither.
        static func removed(from text: inout Substring) -> Scheme? {
            for scheme in [Scheme.http, .https] where text.lowercased().hasPrefix(scheme.rawValue + "://") {
                text = text.dropFirst(scheme.rawValue.count + 3)
                return scheme
            }
            return nil
        }
    }

    package let scheme: Scheme
    /// In lower case, without brackets.
    package let host: String
    /// The number of its port.
    package let port: UInt16

    /// Reads `https://home.example.org:8123`; nil: the text, such as `null`, is not an origin of HTTP.
    package init?(_ text: String) {
        var rest = Substring(text)
        guard let scheme = Scheme.removed(from: &rest), let host = HostName(String(rest)) else { return nil }
        self.init(scheme, host)
    }

    /// The origin of a page that was fetched from this host.
    package init(_ scheme: Scheme, _ host: HostName) {
        self.scheme = scheme
        self.host = host.host
        port = host.port ?? scheme.usualPort
    }
}
