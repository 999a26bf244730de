import CCurl
import ChildDecoding
import NowPlaying

/// Access to one source over HTTP: one connection after the other. The referrer's zone limits each connection.
final class HTTPConnection {
    /// An address and its zone.
    struct Target {
        var address: CurlSupport.Address
        /// The farthest zone on the path to the address; nil: a client of the daemon named it.
        var referrer: AddressZone?
    }

    /// Maximum number of redirects.
    private static let maximumReferrals = 10
    /// Seconds without a byte after which a connection fails.
    private static let patience = 15.0
    /// The same if another address is left to try.
    private static let shortPatience = 5.0

    let channel: DaemonChannel
    let request: OpenRequest
    /// Name and password, and the address that they are for.
    private let credentials: CurlSupport.Address
    private let multi: UnsafeMutableRawPointer
    private(set) var transfer: HTTPTransfer?
    /// The transfer of the source during a probe; nil: none.
    private var held: HTTPTransfer?
    /// Final address, or the first one to try.
    private(set) var target: Target
    /// Zone of the last answer's server.
    private(set) var zone = AddressZone.unusable
    /// The farthest zone on the path to the last answer.
    var reach: AddressZone { max(target.referrer ?? zone, zone) }
    /// True if the last answer is a playlist of HLS.
    private(set) var isSegmented = false
    /// Title of the station in the playlist that led to it; nil: none.
    private(set) var listTitle: String?

    /// Prepares a connection to the address that the daemon requested. Throws `WireFailure` if the address is invalid.
    convenience init(_ channel: DaemonChannel, _ request: OpenRequest) throws(WireFailure) {
        guard let address = CurlSupport.address(request.address) else {
            throw WireFailure(.unavailable, "its address is invalid")
        }
        try self.init(
            channel, request, Target(address: address, referrer: request.wasPublic ? .everywhere : nil), address)
    }

    /// Prepares a connection to a link in an answer of this one. Throws `WireFailure` if the link is not an address.
    func referring(to link: String) throws(WireFailure) -> HTTPConnection {
        guard let address = CurlSupport.address(link, relativeTo: target.address.url) else { throw Self.leadsNowhere }
        return try HTTPConnection(
            channel, request, Target(address: address, referrer: reach), credentials)
    }

    private init(
        _ channel: DaemonChannel, _ request: OpenRequest, _ target: Target, _ credentials: CurlSupport.Address
    ) throws(WireFailure) {
        guard let multi = curl_multi_init() else { throw WireFailure(.broken, "no memory left") }
        self.channel = channel
        self.request = request
        self.target = target
        self.credentials = credentials
        self.multi = multi
    }

    deinit {
        transfer = nil
        curl_multi_cleanup(multi)
    }

    /// Ends the connection.
    func close() { transfer = nil }

    /// Connects and follows redirects; returns the answer, whose bytes begin at `offset`. `readsLists`: also follows
    /// playlists of links. Waits. Throws `WireFailure`.
    func open(offset: Int64, readsLists: Bool) throws(WireFailure) -> HTTPTransfer {
        var others: [Target] = []
        for _ in 0...Self.maximumReferrals {
            do throws(WireFailure) {
                let transfer = try connect(offset, hurries: !others.isEmpty)
                let status = transfer.status
                zone = transfer.zone
                let links: [String]
                if (300..<400).contains(status), let location = transfer.head["location"] {
                    links = [location]
                } else if !(200..<300).contains(status) {
                    throw Self.refusal(status)
                } else if readsLists, let found = try playlist(transfer) {
                    links = found
                } else {
                    return transfer
                }
                let referrer = reach
                let targets = links.compactMap { link in
                    CurlSupport.address(link, relativeTo: target.address.url)
                        .map { Target(address: $0, referrer: referrer) }
                }
                guard let first = targets.first else { throw Self.leadsNowhere }
                target = first
                others = targets.dropFirst() + others
            } catch {
                // The playlist may have other addresses of the same station.
                guard !others.isEmpty else { throw error }
                target = others.removeFirst()
            }
        }
        throw CurlSupport.failure(CURLE_TOO_MANY_REDIRECTS)
    }

    /// True if the server sends a part of the file of this size, although it does not say so. Ends the connection before.
    func sendsParts(of size: Int64) -> Bool {
        guard size > 1 else { return false }
        held = transfer
        held?.rest(true)
        defer {
            (transfer, held) = (held, nil)
            transfer?.rest(false)
        }
        do throws(WireFailure) {
            let probe = try connect(size - 1, last: size - 1, hurries: true)
            return probe.status == 206 && probe.head.begins(at: size - 1) && probe.head.rangedLength == size
        } catch { return false }
    }

    private static var leadsNowhere: WireFailure {
        WireFailure(.unavailable, "it redirects to an address that is neither http:// nor https://")
    }

    private static func refusal(_ status: Int) -> WireFailure {
        switch status {
        case 401, 407: WireFailure(.unavailable, "its server requires a user name and a password (\(status))")
        case 403: WireFailure(.unavailable, "its server denies access (403)")
        case 404: WireFailure(.unreachable, "its server has no such stream or file (404)")
        case 410: WireFailure(.unavailable, "its server has no such stream or file any more (410)")
        case 408, 425, 429: WireFailure(.unreachable, "its server is busy (\(status))")
        case 500...599: WireFailure(.lost, "its server reports an error (\(status))")
        default: WireFailure(.unavailable, "its server answers with status \(status)")
        }
    }

    /// Makes a connection and waits for the head of its answer. `hurries`: other addresses are left to try.
    private func connect(
        _ offset: Int64, last: Int64? = nil, hurries: Bool
    ) throws(WireFailure) -> HTTPTransfer {
        transfer = nil
        let address = target.address
        let own = address.user != nil ? address : address.origin == credentials.origin ? credentials : nil
        let transfer = try HTTPTransfer(
            address, in: multi,
            HTTPTransfer.Judgement(referrer: target.referrer, mayUseLoopback: request.mayUseLoopback), request,
            credentials: own, offset: offset, last: last, hurries: hurries)
        self.transfer = transfer
        try wait(for: hurries ? Self.shortPatience : Self.patience) { transfer.hasHeaders || transfer.result != nil }
        if let code = transfer.result, !transfer.hasHeaders { throw transfer.failure(code) }
        return transfer
    }

    /// The links of a playlist; nil: it is not one. Reads the whole playlist.
    private func playlist(_ transfer: HTTPTransfer) throws(WireFailure) -> [String]? {
        let type = transfer.head["content-type"]?.lowercased() ?? ""
        let isAnnounced = PlaylistLinks.isAnnounced(by: type)
        // The content type of a stream is reliable; a body of type text may be a playlist.
        guard isAnnounced || PlaylistLinks.isPossible(for: type) else { return nil }
        try wait {
            transfer.result != nil || transfer.available >= (isAnnounced ? PlaylistLinks.maximumBytes : 512)
        }
        func read() -> PlaylistLinks? {
            PlaylistLinks(
                transfer.peek(PlaylistLinks.maximumBytes), isAnnounced: isAnnounced, mayBeBare: true)
        }
        guard read() != nil else {
            if isAnnounced { throw WireFailure(.notRecognised, "its server announces a playlist, but it is not one") }
            return nil
        }
        try wait { transfer.result != nil || transfer.available >= PlaylistLinks.maximumBytes }
        switch read() {
        case .links(let links):
            listTitle = listTitle ?? PlaylistLinks.title(transfer.peek(PlaylistLinks.maximumBytes))
            return links
        case .segments, nil:
            isSegmented = true
            return nil
        }
    }

    /// Runs the transfer until `isDone`. Throws `WireFailure` if no data comes for too long.
    func wait(_ isDone: () -> Bool) throws(WireFailure) { try wait(for: Self.patience, isDone) }

    private func wait(for patience: Double, _ isDone: () -> Bool) throws(WireFailure) {
        var deadline = MonotonicTime.now.seconds + patience
        var before = transfer?.bodyCount ?? 0
        while true {
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            var left: Int32 = 0
            while let message = curl_multi_info_read(multi, &left) {
                guard message.pointee.msg == CURLMSG_DONE else { continue }
                for one in [transfer, held] where one?.isOf(message.pointee.easy_handle) == true {
                    one?.end(message.pointee.data.result)
                }
            }
            if isDone() { return }
            let now = MonotonicTime.now.seconds
            if let count = transfer?.bodyCount, count != before {
                before = count
                deadline = now + patience
                channel.showProgress(at: now)
            }
            guard now < deadline else {
                throw WireFailure(.lost, "no data for \(Int(clamping: patience)) seconds")
            }
            channel.audio?.flushIfDue()
            let seconds = min(deadline - now, transfer?.restForPiece(channel.audio) ?? .infinity)
            var command = curl_waitfd(fd: channel.pollDescriptor, events: Int16(CURL_WAIT_POLLIN), revents: 0)
            curl_multi_poll(multi, &command, 1, Int32(clamping: seconds * 1000 + 1), nil)
            transfer?.setLowWater(1)
            // The caller of `wait` handles a command; if the daemon is gone, this call ends the process.
            if command.revents != 0 { _ = channel.hasCommand() }
        }
    }
}
