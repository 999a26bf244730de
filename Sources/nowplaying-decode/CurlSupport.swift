import CCurl
import ChildDecoding
import Glibc

/// Stateless helpers for libcurl.
enum CurlSupport {
    /// The zone of the peer address of a connection; nil: neither IPv4 nor IPv6.
    static func zone(of address: UnsafePointer<sockaddr>) -> AddressZone? {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
                AddressZone(ipv4: withUnsafeBytes(of: pointer.pointee.sin_addr) { Array($0) })
            }
        case AF_INET6:
            address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                AddressZone(ipv6: withUnsafeBytes(of: pointer.pointee.sin6_addr) { Array($0) })
            }
        default: nil
        }
    }

    /// A parsed address; its text has no credentials.
    struct Address {
        /// The address without user, password and fragment.
        var url: String
        var user: String?
        var password: String?
        var scheme: String
        var host: String
        var port: String
        /// Scheme, host and port to which the credentials apply.
        var origin: String { "\(scheme)://\(host):\(port)" }
    }

    /// Parses an address; `base`: the address that it is relative to. Nil: it is neither http nor https.
    static func address(_ text: String, relativeTo base: String? = nil) -> Address? {
        guard text.utf8.count <= 8192, let parts = curl_url() else { return nil }
        defer { curl_url_cleanup(parts) }
        if let base { guard curl_url_set(parts, CURLUPART_URL, base, 0) == CURLUE_OK else { return nil } }
        guard curl_url_set(parts, CURLUPART_URL, text, UInt32(CURLU_URLENCODE)) == CURLUE_OK else { return nil }
        guard let scheme = part(parts, CURLUPART_SCHEME)?.lowercased(), scheme == "http" || scheme == "https",
            let host = part(parts, CURLUPART_HOST)?.lowercased(), !host.isEmpty
        else { return nil }
        let port = part(parts, CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)) ?? ""
        let user = part(parts, CURLUPART_USER, UInt32(CURLU_URLDECODE))
        let password = part(parts, CURLUPART_PASSWORD, UInt32(CURLU_URLDECODE))
        for name in [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_FRAGMENT] { curl_url_set(parts, name, nil, 0) }
        guard let url = part(parts, CURLUPART_URL) else { return nil }
        return Address(url: url, user: user, password: password, scheme: scheme, host: host, port: port)
    }

    private static func part(_ parts: OpaquePointer, _ name: CURLUPart, _ flags: UInt32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(parts, name, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }

    /// Facts about a failed transfer.
    struct Attempt {
        var host: String
        /// Error number of the last connect(2); 0: none.
        var error: Int
        /// True if the host's name was resolved.
        var isResolved: Bool
        /// Seconds of the attempt.
        var seconds: Double
        /// True if the host's certificate is valid only from a later date on.
        var isEarly: Bool
    }

    /// Failure of a transfer; the text follows an address. Waits for a name server if the name is unknown.
    static func failure(_ code: CURLcode, _ attempt: Attempt? = nil) -> WireFailure {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            if let attempt, isWithoutNames(attempt) { return noNames }
            return WireFailure(.unreachable, "unknown host: check the name and this machine's network")
        case CURLE_COULDNT_CONNECT:
            switch Int32(attempt?.error ?? 0) {
            case ENETUNREACH, ENETDOWN, EADDRNOTAVAIL:
                return WireFailure(.noNetwork, "this machine has no route to its host: check its network")
            case ECONNREFUSED: return WireFailure(.unreachable, "cannot connect to its host: it refuses connections")
            default: return WireFailure(.unreachable, "cannot connect to its host")
            }
        case CURLE_OPERATION_TIMEDOUT:
            if let attempt, !attempt.isResolved { return noNames }
            return WireFailure(.lost, "its host does not answer in time")
        case CURLE_PEER_FAILED_VERIFICATION where attempt?.isEarly == true:
            return WireFailure(
                .noNetwork,
                "its host's certificate is not valid yet: set this machine's clock, or wait until the network does")
        default: return permanent(code)
        }
    }

    private static var noNames: WireFailure {
        WireFailure(.noNetwork, "no name server answers: check this machine's network")
    }

    /// True if no name server answers. A fast failure is asked for its kind again; a slow one had no answer.
    private static func isWithoutNames(_ attempt: Attempt) -> Bool {
        guard attempt.seconds < slowName else { return true }
        var found: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(attempt.host, nil, nil, &found)
        if result == 0 { freeaddrinfo(found) }
        return result == EAI_AGAIN && resolver_answers() == 0
    }

    /// Seconds after which a name without an address had no answer.
    private static let slowName = 4.0

    private static func permanent(_ code: CURLcode) -> WireFailure {
        switch code {
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR:
            WireFailure(
                .unavailable,
                "its host's certificate is not valid (“ca-file” can name another authority)")
        case CURLE_SSL_CONNECT_ERROR: WireFailure(.unavailable, "cannot make a secure connection to its host")
        case CURLE_TOO_MANY_REDIRECTS: WireFailure(.unavailable, "too many redirects")
        default: WireFailure(.lost, String(cString: curl_easy_strerror(code)).lowercased())
        }
    }
}
