import CCurl
import CFFmpeg
import ForeignMedia
import Glibc

/// A stream or file that comes over HTTP, with the titles that it carries taken out.
final class HTTPInput: MediaInput {
    /// How often one address may lead to another.
    private static let maximumReferrals = 10
    /// Seconds without a byte after which a connection is given up.
    private static let patience = 15.0
    /// Pauses before a connection that broke in the middle of a file is made again, in seconds.
    private static let pauses = [0.1, 0.5, 2, 5, 10]
    /// Bytes ahead that are rather read than asked for anew.
    private static let shortJump: Int64 = 128 << 10

    private let channel: DaemonChannel
    private let request: OpenRequest
    private let multi: UnsafeMutableRawPointer
    private let credentials: CurlSupport.Address
    private var transfer: HTTPTransfer?
    private var filter: IcyFilter?
    /// Audio that was freed from titles, and not read yet.
    private var audio: [UInt8] = []
    /// Offset behind the last byte that was taken off the connection, titles not counted.
    private var arrived: Int64 = 0
    /// Offset of the next byte to be read.
    private var position: Int64 = 0
    private(set) var size: Int64?
    private(set) var isSeekable = false
    /// Whether it has neither beginning nor end.
    private(set) var isLive = false
    /// Whether it is a playlist of HLS.
    private(set) var isSegmented = false
    /// Where it was found in the end.
    private(set) var zone = AddressZone.unusable
    /// What the server says about it.
    private(set) var station = Station()
    /// Titles that were found, each with the offset in the audio from which on it holds.
    private(set) var titles: [(offset: Int64, text: [UInt8])] = []
    /// What went wrong; nil while nothing did.
    private(set) var failure: WireFailure?

    /// Opens an address, following where it leads. Waits for the answer. Throws `WireFailure`.
    init(_ channel: DaemonChannel, _ request: OpenRequest) throws(WireFailure) {
        guard let address = CurlSupport.address(request.address) else {
            throw WireFailure(.unavailable, "its address is not understood")
        }
        guard let multi = curl_multi_init() else { throw WireFailure(.broken, "there is no memory left") }
        self.channel = channel
        self.request = request
        self.multi = multi
        credentials = address
        try follow(address)
    }

    deinit {
        transfer = nil
        curl_multi_cleanup(multi)
    }

    // MARK: Opening

    private func follow(_ start: CurlSupport.Address) throws(WireFailure) {
        var address = start
        var referrer: AddressZone? = request.wasPublic ? .everywhere : nil
        for _ in 0...Self.maximumReferrals {
            let transfer = try connect(address, referrer, offset: 0)
            let status = transfer.status
            zone = transfer.zone
            if (300..<400).contains(status), let location = transfer.header("location") {
                guard let next = CurlSupport.address(location, relativeTo: address.url) else { throw leadsNowhere }
                address = next
            } else if !(200..<300).contains(status) {
                throw Self.refusal(status)
            } else if let links = try playlist(transfer) {
                guard let next = links.lazy.compactMap({ CurlSupport.address($0, relativeTo: address.url) }).first
                else {
                    throw leadsNowhere
                }
                address = next
            } else {
                return begin(transfer)
            }
            referrer = max(referrer ?? zone, zone)
        }
        throw CurlSupport.failure(CURLE_TOO_MANY_REDIRECTS)
    }

    private var leadsNowhere: WireFailure {
        WireFailure(.unavailable, "it leads to something that is neither http:// nor https://")
    }

    private static func refusal(_ status: Int) -> WireFailure {
        switch status {
        case 401, 407: WireFailure(.unavailable, "its server wants a name and a password (\(status))")
        case 403: WireFailure(.unavailable, "its server forbids it (403)")
        case 404, 410: WireFailure(.unavailable, "its server knows no such stream or file (\(status))")
        case 500...599: WireFailure(.lost, "its server is in trouble (\(status))")
        default: WireFailure(.unavailable, "its server answers with status \(status)")
        }
    }

    /// Makes a connection and waits for the head of its answer.
    private func connect(
        _ address: CurlSupport.Address, _ referrer: AddressZone?, offset: Int64
    ) throws(WireFailure) -> HTTPTransfer {
        transfer = nil
        let own = address.user != nil ? address : address.origin == credentials.origin ? credentials : nil
        let transfer = try HTTPTransfer(
            address, in: multi, HTTPTransfer.Judgement(referrer: referrer, mayUseLoopback: request.mayUseLoopback),
            request, credentials: own, offset: offset)
        self.transfer = transfer
        try wait { transfer.hasHeaders || transfer.result != nil }
        if let code = transfer.result, !transfer.hasHeaders { throw transfer.failure(code) }
        return transfer
    }

    /// The links of a playlist; nil: it is none. Reads it whole.
    private func playlist(_ transfer: HTTPTransfer) throws(WireFailure) -> [String]? {
        let type = transfer.header("content-type") ?? ""
        let isAnnounced = PlaylistLinks.isAnnounced(by: type)
        if !isAnnounced {
            // A stream says what it is; what calls itself text may be a list.
            guard
                type.isEmpty || type.lowercased().hasPrefix("text/") || type.lowercased().hasPrefix("application/octet")
            else { return nil }
        }
        try wait {
            transfer.result != nil || transfer.available >= (isAnnounced ? PlaylistLinks.maximumBytes : 512)
        }
        let isList = PlaylistLinks(transfer.peek(PlaylistLinks.maximumBytes), isAnnounced: isAnnounced)
        guard isList != nil else {
            if isAnnounced { throw WireFailure(.notRecognised, "its server calls it a playlist, and it is none") }
            return nil
        }
        try wait { transfer.result != nil || transfer.available >= PlaylistLinks.maximumBytes }
        switch PlaylistLinks(transfer.peek(PlaylistLinks.maximumBytes), isAnnounced: isAnnounced) {
        case .links(let links): return links
        case .segments, nil:
            isSegmented = true
            return nil
        }
    }

    private func begin(_ transfer: HTTPTransfer) {
        let length = transfer.header("content-length").flatMap { Int64($0) }
        let server = transfer.header("server")?.lowercased() ?? ""
        let isRadio =
            transfer.hasHeader(beginning: "icy-") || server.hasPrefix("icecast") || server.contains("shoutcast")
        isLive = length == nil && isRadio && !isSegmented
        size = length.flatMap { $0 >= 0 ? $0 : nil }
        isSeekable = size != nil && transfer.header("accept-ranges")?.lowercased().contains("bytes") == true
        if let interval = transfer.header("icy-metaint").flatMap({ Int($0) }) { filter = IcyFilter(interval: interval) }
        station = Station(transfer)
    }

    // MARK: Reading

    func read(into target: UnsafeMutableRawBufferPointer) -> Int32 {
        var attempts = 0
        while true {
            if failure != nil { return ffmpeg_error_io }
            let count = takeAudio(into: target)
            if count > 0 {
                position += Int64(count)
                return Int32(count)
            }
            if channel.hasCommand() { return ffmpeg_error_exit }
            if let size, position >= size { return ffmpeg_error_end }
            do throws(WireFailure) {
                if try fetch() { continue }
                return ffmpeg_error_end
            } catch {
                if error.kind != .lost || !isSeekable || attempts >= Self.pauses.count {
                    failure = error
                    return ffmpeg_error_io
                }
                transfer = nil
                attempts += 1
                if channel.awaitCommand(seconds: Self.pauses[attempts - 1]) { return ffmpeg_error_exit }
            }
        }
    }

    func seek(to offset: Int64) { position = offset }

    /// The titles that hold from before `offset`.
    func takeTitles(before offset: Int64) -> [[UInt8]] {
        let due = titles.prefix { $0.offset <= offset }.map(\.text)
        titles.removeFirst(due.count)
        return due
    }

    /// The first bytes, waiting for some; they are read again.
    func peek() -> [UInt8] {
        do throws(WireFailure) {
            while audio.count < 4096, try fetch() {}
        } catch { failure = error }
        return Array(audio.prefix(4096))
    }

    /// Takes what has arrived for the present position.
    private func takeAudio(into target: UnsafeMutableRawBufferPointer) -> Int {
        let first = arrived - Int64(audio.count)
        guard position >= first, position < arrived else { return 0 }
        let skip = Int(position - first)
        let count = min(target.count, audio.count - skip)
        audio.withUnsafeBytes {
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[skip..<skip + count]))
        }
        audio.removeFirst(skip + count)
        return count
    }

    /// Waits until more has arrived at the present position; false: that was all. Throws `WireFailure`.
    private func fetch() throws(WireFailure) -> Bool {
        if transfer == nil || position < arrived - Int64(audio.count) || position > arrived + Self.shortJump {
            guard isSeekable || position == 0 else { throw WireFailure(.lost, "the connection was lost") }
            try connectAgain()
        }
        guard let transfer else { return false }
        try wait { transfer.available > 0 || transfer.result != nil || channel.hasCommand() }
        if transfer.available == 0, let code = transfer.result {
            guard code == CURLE_OK, size.map({ arrived >= $0 }) ?? true else {
                throw WireFailure(
                    .lost, code == CURLE_OK ? "the connection was closed" : transfer.failure(code).message)
            }
            // A stream without end that ends was cut off.
            if isLive { throw WireFailure(.lost, "its server ended the connection") }
            return false
        }
        drain(transfer)
        return true
    }

    private func drain(_ transfer: HTTPTransfer) {
        withUnsafeTemporaryAllocation(byteCount: 32 << 10, alignment: 16) { piece in
            while transfer.available > 0 {
                let count = transfer.take(into: piece)
                let bytes = UnsafeRawBufferPointer(rebasing: piece[..<count])
                guard filter != nil else {
                    audio += bytes
                    arrived += Int64(count)
                    continue
                }
                filter?.take(
                    bytes,
                    audio: {
                        audio += $0
                        arrived += Int64($0.count)
                    }, changed: { if titles.count < 64 { titles.append((arrived, $0)) } })
            }
        }
        // Skipped over by a short jump.
        if position >= arrived { audio = [] }
    }

    private func connectAgain() throws(WireFailure) {
        audio = []
        arrived = position
        var address = transfer?.address ?? credentials
        for _ in 0...Self.maximumReferrals {
            // What was found in the internet may not be found anywhere else now.
            let transfer = try connect(address, zone == .everywhere ? zone : nil, offset: position)
            if (300..<400).contains(transfer.status), let location = transfer.header("location"),
                let next = CurlSupport.address(location, relativeTo: address.url)
            {
                zone = max(zone, transfer.zone)
                address = next
                continue
            }
            guard transfer.status == (position > 0 ? 206 : 200) else { throw Self.refusal(transfer.status) }
            guard position == 0 || transfer.header("content-range")?.hasPrefix("bytes \(position)-") == true else {
                throw WireFailure(.broken, "its server sends another part than it was asked for")
            }
            return
        }
        throw CurlSupport.failure(CURLE_TOO_MANY_REDIRECTS)
    }

    /// Lets the network work until `isDone`. Throws `WireFailure` when nothing has come for too long.
    private func wait(_ isDone: () -> Bool) throws(WireFailure) {
        var deadline = Clock.seconds + Self.patience
        var before = transfer?.bodyCount ?? 0
        while true {
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            var left: Int32 = 0
            while let message = curl_multi_info_read(multi, &left) {
                guard message.pointee.msg == CURLMSG_DONE, let transfer, transfer.isOf(message.pointee.easy_handle)
                else { continue }
                transfer.end(message.pointee.data.result)
            }
            if isDone() { return }
            let now = Clock.seconds
            if let count = transfer?.bodyCount, count != before {
                before = count
                deadline = now + Self.patience
            }
            guard now < deadline else { throw WireFailure(.lost, "nothing came for \(Int(Self.patience)) seconds") }
            var command = curl_waitfd(fd: channel.pollDescriptor, events: Int16(CURL_WAIT_POLLIN), revents: 0)
            curl_multi_poll(multi, &command, 1, Int32((deadline - now) * 1000) + 1, nil)
            // A command is looked at by who waits for it; a daemon that is gone ends us.
            if command.revents != 0 { _ = channel.hasCommand() }
        }
    }
}

/// The time that passes, whatever the wall clock does.
enum Clock {
    /// Seconds since some beginning.
    static var seconds: Double {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
}
