import CCurl
import CFFmpeg
import ChildDecoding
import Glibc
import NowPlaying

/// One request over HTTP and its answer. It does not follow redirects: `HTTPConnection` checks each of them first.
final class HTTPTransfer {
    /// Conditions for a connection.
    struct Judgement {
        /// Zone of the referrer; nil: a client named the address.
        var referrer: AddressZone?
        var mayUseLoopback: Bool
    }

    /// Maximum bytes to keep; then reading from the network pauses.
    private static let enough = 64 << 10

    let address: CurlSupport.Address
    private let began = MonotonicTime.now.seconds
    private let handle: UnsafeMutableRawPointer
    private let multi: UnsafeMutableRawPointer
    private let judgement: Judgement
    private var fields: UnsafeMutablePointer<curl_slist>?
    /// The part of the answer's head that has come.
    private(set) var head = HTTPFields()
    /// True if an address was refused because of its zone.
    private var isRefused = false
    /// Answers of status 401 to skip: libcurl first asks for the server's method of authentication.
    private var refusalsToSkip = 0
    private var received: [UInt8] = []
    private var taken = 0
    private(set) var hasHeaders = false
    /// Result of the transfer; nil: still running.
    private(set) var result: CURLcode?
    /// Bytes of the body that have come.
    private(set) var bodyCount: Int64 = 0
    private var lowWater: Int32 = 1
    /// Sockets of the attempted connections, one of which is in use.
    private var sockets: [curl_socket_t] = []

    /// Begins a request for the bytes from `offset` on, or up to `last`; `hurries`: other addresses are left to try. Throws
    /// `WireFailure`.
    init(
        _ address: CurlSupport.Address, in multi: UnsafeMutableRawPointer, _ judgement: Judgement,
        _ request: OpenRequest,
        credentials: CurlSupport.Address?, offset: Int64, last: Int64?, hurries: Bool
    ) throws(WireFailure) {
        guard let handle = curl_easy_init() else { throw WireFailure(.broken, "no memory left") }
        self.address = address
        self.handle = handle
        self.multi = multi
        self.judgement = judgement
        let own = Unmanaged.passUnretained(self).toOpaque()
        curl_set_text(handle, CURLOPT_URL, address.url)
        curl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        curl_set_number(handle, CURLOPT_FOLLOWLOCATION, 0)
        curl_set_number(handle, CURLOPT_NOSIGNAL, 1)
        // Every request makes a new connection, whose zone is checked: an old connection may have had another referrer.
        curl_set_number(handle, CURLOPT_FRESH_CONNECT, 1)
        curl_set_number(handle, CURLOPT_FORBID_REUSE, 1)
        curl_set_text(handle, CURLOPT_PROXY, "")
        curl_set_number(handle, CURLOPT_CONNECTTIMEOUT, hurries ? 4 : 10)
        curl_set_number(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        curl_set_number(handle, CURLOPT_BUFFERSIZE, 16 << 10)
        curl_set_text(handle, CURLOPT_USERAGENT, request.userAgent)
        if !request.certificates.isEmpty { curl_set_text(handle, CURLOPT_CAINFO, request.certificates) }
        if let user = credentials?.user {
            refusalsToSkip = 1
            curl_set_number(handle, CURLOPT_HTTPAUTH, curl_password_methods)
            curl_set_text(handle, CURLOPT_USERNAME, user)
            curl_set_text(handle, CURLOPT_PASSWORD, credentials?.password ?? "")
        }
        // Status line of SHOUTcast version 1.
        aliases = curl_slist_append(nil, "ICY 200 OK")
        curl_set_list(handle, CURLOPT_HTTP200ALIASES, aliases)
        fields = curl_slist_append(nil, "Icy-MetaData: 1")
        fields = curl_slist_append(fields, "Accept: */*")
        if offset > 0 { fields = curl_slist_append(fields, "Range: bytes=\(offset)-\(last.map(String.init) ?? "")") }
        curl_set_list(handle, CURLOPT_HTTPHEADER, fields)
        let found = LocalName.addresses(of: address.host)
        if !found.isEmpty {
            known = curl_slist_append(nil, "\(address.host):\(address.port):\(found.joined(separator: ","))")
            curl_set_list(handle, CURLOPT_RESOLVE, known)
        }
        curl_set_context(handle, CURLOPT_WRITEDATA, own)
        curl_set_context(handle, CURLOPT_HEADERDATA, own)
        curl_set_context(handle, CURLOPT_OPENSOCKETDATA, own)
        curl_set_data_function(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, own in
            guard let own, let bytes else { return 0 }
            let body = UnsafeRawBufferPointer(start: bytes, count: size * count)
            Unmanaged<HTTPTransfer>.fromOpaque(own).takeUnretainedValue().take(body)
            return size * count
        }
        curl_set_data_function(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, own in
            guard let own, let bytes else { return 0 }
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return Unmanaged<HTTPTransfer>.fromOpaque(own).takeUnretainedValue().takeHeader(line) ? size * count : 0
        }
        curl_set_socket_function(handle, CURLOPT_OPENSOCKETFUNCTION) { own, _, address in
            guard let own, let address else { return -1 }
            return Unmanaged<HTTPTransfer>.fromOpaque(own).takeUnretainedValue().openSocket(address)
        }
        curl_multi_add_handle(multi, handle)
    }

    private var aliases: UnsafeMutablePointer<curl_slist>?
    /// Addresses of the host that `LocalName` found; nil: libcurl resolves the name.
    private var known: UnsafeMutablePointer<curl_slist>?

    deinit {
        curl_multi_remove_handle(multi, handle)
        curl_easy_cleanup(handle)
        curl_slist_free_all(fields)
        curl_slist_free_all(aliases)
        curl_slist_free_all(known)
    }

    // MARK: The answer

    /// Status of the answer.
    var status: Int {
        var code = 0
        curl_get_number(handle, CURLINFO_RESPONSE_CODE, &code)
        return code
    }

    /// Zone of the answer's server.
    var zone: AddressZone {
        var text: UnsafePointer<CChar>?
        guard curl_get_text(handle, CURLINFO_PRIMARY_IP, &text) == CURLE_OK, let text else { return .unusable }
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 { return AddressZone(ipv4: withUnsafeBytes(of: four) { Array($0) }) }
        var six = in6_addr()
        // A scope may follow the address.
        let bare = String(cString: text).prefix { $0 != "%" }
        if inet_pton(AF_INET6, String(bare), &six) == 1 {
            return AddressZone(ipv6: withUnsafeBytes(of: six) { Array($0) })
        }
        return .unusable
    }

    /// Bytes of the body that have arrived and are unread.
    var available: Int { received.count - taken }

    /// Takes as many bytes as have come and fit; returns the count.
    func take(into target: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(available, target.count)
        received.withUnsafeBytes {
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[taken..<taken + count]))
        }
        taken += count
        if taken == received.count {
            received.removeAll(keepingCapacity: true)
            taken = 0
        } else if taken > Self.enough {
            received.removeFirst(taken)
            taken = 0
        }
        return count
    }

    /// The first bytes of the body, without taking them.
    func peek(_ count: Int) -> [UInt8] { Array(received[taken...].prefix(count)) }

    /// Ends the transfer with this result.
    func end(_ code: CURLcode) {
        result = code
        if code == CURLE_OK { hasHeaders = true }
    }

    /// Stops or continues to receive the body; bytes wait in the buffer of the socket.
    func rest(_ isResting: Bool) { curl_easy_pause(handle, isResting ? CURLPAUSE_RECV : CURLPAUSE_RECV_CONT) }

    /// True if the handle belongs to this transfer.
    func isOf(_ other: UnsafeMutableRawPointer?) -> Bool { other == handle }

    /// The failure of the transfer, with its reason.
    func failure(_ code: CURLcode) -> WireFailure {
        guard isRefused, code == CURLE_COULDNT_CONNECT || code == CURLE_ABORTED_BY_CALLBACK else {
            return CurlSupport.failure(code, attempt)
        }
        return WireFailure(
            .unavailable,
            judgement.referrer == nil
                ? "its host is this machine, which only the daemon's own user can name, or not a host address"
                : "it redirects to a nearer network (this machine or the LAN), which is not allowed"
        )
    }

    private var attempt: CurlSupport.Attempt {
        var (error, verification) = (0, 0)
        var resolving = 0.0
        curl_get_number(handle, CURLINFO_OS_ERRNO, &error)
        curl_get_number(handle, CURLINFO_SSL_VERIFYRESULT, &verification)
        curl_get_seconds(handle, CURLINFO_NAMELOOKUP_TIME, &resolving)
        return CurlSupport.Attempt(
            host: address.host, error: error, isResolved: resolving > 0, seconds: MonotonicTime.now.seconds - began,
            isEarly: verification == curl_certificate_not_yet_valid)
    }

    // MARK: Batching

    /// Lets the kernel wake the process only when about the bytes of the next piece of audio have come. Returns the
    /// maximum seconds to wait before a check of the bytes that have come.
    func restForPiece(_ audio: AudioSender?) -> Double {
        guard let audio else { return .infinity }
        let delay = audio.delay ?? .infinity
        let patience = audio.patience
        guard patience >= Self.leastRest, audio.taken > 0 else { return delay }
        setLowWater(Int32(clamping: Int(clamping: patience / audio.taken * Double(bodyCount))))
        return min(delay, 1.25 * patience)
    }

    /// Minimum seconds of waiting that are worth the system call.
    private static let leastRest = 0.05

    /// Sets the bytes that must have come before the connection becomes readable (SO_RCVLOWAT).
    func setLowWater(_ bytes: Int32) {
        guard bytes != lowWater else { return }
        var value = max(1, bytes)
        // libcurl tries two connections at a time, and closes the slower one.
        for socket in sockets {
            setsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &value, socklen_t(MemoryLayout<Int32>.size))
        }
        lowWater = bytes
    }

    // MARK: Called by libcurl

    private func take(_ body: UnsafeRawBufferPointer) {
        hasHeaders = true
        bodyCount += Int64(body.count)
        received.append(contentsOf: body)
    }

    private func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let kind = head.take(line) else { return false }
        if kind == .end {
            if status == 401, refusalsToSkip > 0 {
                refusalsToSkip -= 1
            } else {
                hasHeaders = status >= 200
            }
        }
        return true
    }

    private func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        // The address can be longer than the field `addr`.
        let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0
        let zone = CurlSupport.zone(of: (UnsafeRawPointer(address) + offset).assumingMemoryBound(to: sockaddr.self))
        guard let zone, zone.isAllowed(from: judgement.referrer, mayUseLoopback: judgement.mayUseLoopback) else {
            isRefused = true
            return -1
        }
        let made = socket(
            address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), address.pointee.protocol)
        if made >= 0 { sockets.append(made) }
        return made
    }
}
