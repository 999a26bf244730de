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

    /// Failure of a transfer; the text follows an address.
    static func failure(_ code: CURLcode) -> WireFailure {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            WireFailure(.unavailable, "unknown host: check the name and this machine's network")
        case CURLE_COULDNT_CONNECT: WireFailure(.unavailable, "cannot connect to its host")
        case CURLE_OPERATION_TIMEDOUT: WireFailure(.lost, "its host does not answer in time")
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
