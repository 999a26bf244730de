import CCurl
import CFFmpeg
import ChildDecoding

/// A stream or file that comes over HTTP, without the titles that the stream contains.
final class HTTPInput: MediaInput {
    /// Pauses before a lost connection is reopened, in seconds.
    static let pauses = [0.1, 0.5, 2, 5, 10]
    /// Bytes that a jump forward reads instead of a new request.
    private static let shortJump: Int64 = 128 << 10
    /// Bytes before the position that are kept in memory.
    private static let keptBytes = 256 << 10
    /// Maximum number of titles that wait for their audio.
    private static let maximumTitles = 64

    private let connection: HTTPConnection
    /// True if a pending command interrupts a read. A part of an HLS playlist is read to its end.
    private var isInterruptible: Bool
    private var filter: IcyFilter?
    /// Audio without titles: the last bytes before `arrived`.
    private var audio: [UInt8] = []
    /// The first bytes after each jump in a file.
    private var passed = PassedBytes()
    /// Offset after the last byte taken from the connection, without titles.
    private var arrived: Int64
    /// Offset of the next byte to read.
    private var position: Int64
    private(set) var size: Int64?
    private(set) var isSeekable = false
    /// True if a jump fails because the server sends no parts.
    private(set) var sendsNoParts = false
    /// True for a file whose server offers parts: it can resume at a position, by the whole file at worst.
    private(set) var isResumable = false
    /// True if a jump got the whole file in place of the part that the server offers. Reading fails until `beginAgain`.
    private(set) var gotWhole = false
    /// Nature of the source.
    enum Nature {
        case file
        case station
        /// A stream without a length that nothing marks as a station: live until its end shows that it was a file.
        case stream
    }

    private(set) var nature = Nature.file
    /// True for a stream without beginning and end, to present knowledge.
    var isLive: Bool { nature != .file }
    /// True for a file whose end shows by nothing but the end of the connection.
    var hasUnmarkedEnd: Bool { nature == .file && size == nil && !isChunked && !isSegmented }
    /// Fingerprint of its beginning.
    private(set) var beginning = StreamBeginning()
    private var isOgg = false
    /// The first bytes of a file, and the first ones after its tag.
    private var start: [UInt8] = []
    private var frames: [UInt8] = []
    /// The last bytes of an Ogg stream, with its last page.
    private var tail: [UInt8] = []
    private var isChunked = false
    /// The server's description of it.
    private(set) var station = Station()
    /// The titles found so far, each with the offset in the audio at which it begins.
    private var titles: [(offset: Int64, text: [UInt8])] = []
    /// The failure; nil: none so far.
    private(set) var failure: WireFailure?

    /// Opens the requested address and follows redirects. Waits for the answer. Throws `WireFailure`.
    init(_ channel: DaemonChannel, _ request: OpenRequest) throws(WireFailure) {
        connection = try HTTPConnection(channel, request)
        isInterruptible = true
        arrived = 0
        position = 0
        do throws(WireFailure) {
            try begin(try connection.open(offset: 0, readsLists: true), request.beginning)
        } catch {
            guard error.kind == .lost else { throw error }
            throw WireFailure(.unreachable, error.message)
        }
    }

    /// Opens a link in `list`, a playlist of HLS, from `offset` on. Waits for the answer. Throws `WireFailure`.
    init(part link: String, of list: HTTPInput, offset: Int64) throws(WireFailure) {
        connection = try list.connection.referring(to: link)
        isInterruptible = false
        arrived = offset
        position = offset
        let transfer = try connection.open(offset: offset, readsLists: false)
        try resume(transfer, at: offset)
        size = transfer.head.wholeLength(from: arrived)
        isResumable = size != nil && (transfer.head.acceptsRanges || offset > 0)
    }

    /// The descriptors from and to the daemon.
    var channel: DaemonChannel { connection.channel }
    /// True for a playlist of HLS.
    var isSegmented: Bool { connection.isSegmented }
    /// Zone of its server.
    var zone: AddressZone { connection.zone }
    /// The farthest zone on the path to it.
    var reach: AddressZone { connection.reach }
    /// Ends the connection and all reading.
    func close() { connection.close() }
    /// The final address, without name and password.
    var address: String { connection.target.address.url }

    /// Reads the head of the answer. `earlier`: the fingerprint of a stream that broke; throws `.ended` if this one begins
    /// alike.
    private func begin(_ transfer: HTTPTransfer, _ earlier: StreamBeginning?) throws(WireFailure) {
        let head = transfer.head
        station = Station(head)
        station.name(byList: connection.listTitle)
        isChunked = head.isChunked
        if let interval = head.titleInterval { filter = IcyFilter(interval: interval) }
        size = head.contentLength
        if isSegmented { return }
        if head.isStation {
            (nature, size) = (.station, nil)
        } else if let size {
            isSeekable = head.acceptsRanges || head.saysNothingOfRanges && connection.sendsParts(of: size)
            isResumable = isSeekable
            sendsNoParts = !isSeekable
        } else if StreamKind.demuxer(peek(), station.contentType) != nil {
            nature = .stream
            if let earlier { try compare(with: earlier) }
        }
    }

    /// Waits until the stream differs from the one that broke. Throws `.ended` if it does not.
    private func compare(with earlier: StreamBeginning) throws(WireFailure) {
        while true {
            switch beginning.compared(with: earlier) {
            case .different: return
            case .same: throw WireFailure(.ended, "it has ended")
            case .open: guard try fetch() else { throw WireFailure(.ended, "it has ended") }
            }
        }
    }

    // MARK: Reading

    func read(into target: UnsafeMutableRawBufferPointer) -> Int32 {
        var attempts = 0
        while true {
            if failure != nil || gotWhole { return isLive ? ffmpeg_error_end : ffmpeg_error_io }
            var count = takeAudio(into: target)
            if count == 0 { count = passed.copy(at: position, into: target) }
            if count > 0 {
                position += Int64(count)
                return Int32(count)
            }
            if isInterruptible, connection.channel.hasCommand() { return ffmpeg_error_exit }
            if let size, position >= size { return ffmpeg_error_end }
            do throws(WireFailure) {
                if try fetch() { continue }
                return ffmpeg_error_end
            } catch {
                if error.kind != .lost && error.kind != .unreachable || !isResumable || attempts >= Self.pauses.count {
                    failure = error
                    // The end lets FFmpeg deliver the last whole frames of a stream.
                    return isLive ? ffmpeg_error_end : ffmpeg_error_io
                }
                connection.close()
                attempts += 1
                if connection.channel.awaitCommand(seconds: Self.pauses[attempts - 1]) { return ffmpeg_error_exit }
            }
        }
    }

    func seek(to offset: Int64) { position = offset }

    /// Opens a file again, whose server sends no parts: from its beginning, and without jumps. Throws what `open` throws.
    func beginAgain<Opened>(_ open: () throws(WireFailure) -> Opened) throws(WireFailure) -> Opened {
        gotWhole = false
        isSeekable = false
        passed = PassedBytes()
        position = 0
        // FFmpeg cannot continue an opening.
        isInterruptible = false
        defer { isInterruptible = true }
        return try open()
    }

    /// Takes the titles that begin at or before `offset`.
    func takeTitles(before offset: Int64) -> [[UInt8]] {
        let due = titles.prefix { $0.offset <= offset }.map(\.text)
        titles.removeFirst(due.count)
        return due
    }

    /// Waits for the first bytes and returns them; `read` returns them again.
    func peek() -> [UInt8] {
        do throws(WireFailure) {
            while audio.count < 4096, try fetch() {}
        } catch { failure = error }
        return Array(audio.prefix(4096))
    }

    /// The first bytes after a tag ID3, and their offset: the first frames of MPEG audio.
    var firstFrames: (offset: Int64, bytes: [UInt8]) { (MPEGLayout.tagBytes(start), frames) }

    /// Keeps the first bytes and the first frames of what may be a file.
    private func record(_ bytes: UnsafeRawBufferPointer) {
        if start.count < 10, arrived == Int64(start.count) { start += bytes.prefix(10 - start.count) }
        guard start.count == 10, frames.count < Self.frameBytes else { return }
        let wanted = MPEGLayout.tagBytes(start) + Int64(frames.count)
        guard wanted >= arrived, wanted - arrived < Int64(bytes.count) else { return }
        frames += bytes[Int(wanted - arrived)...].prefix(Self.frameBytes - frames.count)
    }

    /// Bytes of the first frames that are kept.
    private static let frameBytes = 16 << 10

    /// Takes the audio that has arrived for the present position.
    private func takeAudio(into target: UnsafeMutableRawBufferPointer) -> Int {
        let first = arrived - Int64(audio.count)
        guard position >= first, position < arrived else { return 0 }
        let skip = Int(position - first)
        let count = min(target.count, audio.count - skip)
        audio.withUnsafeBytes {
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[skip..<skip + count]))
        }
        if skip + count == audio.count {
            audio.removeAll(keepingCapacity: true)
        } else if skip > Self.keptBytes {
            audio.removeFirst(skip)
        }
        return count
    }

    /// Waits until more has arrived at the present position; false: the end. Throws `WireFailure`.
    private func fetch() throws(WireFailure) -> Bool {
        if connection.transfer == nil || position < arrived - Int64(audio.count)
            || position > arrived + Self.shortJump && !sendsNoParts
        {
            guard isResumable || position == 0 else { throw WireFailure(.lost, "the connection was lost") }
            audio = []
            let isJump = isSeekable && position != arrived
            let start = isJump ? PassedBytes.beginning(of: position, size: size) : position
            try resume(try connection.open(offset: start, readsLists: false), at: start)
            gotWhole = isJump && sendsNoParts
            if gotWhole { return true }
        }
        guard let transfer = connection.transfer else { return false }
        try connection.wait {
            transfer.available > 0 || transfer.result != nil || isInterruptible && connection.channel.hasCommand()
        }
        if transfer.available == 0, let code = transfer.result {
            guard code == CURLE_OK, size.map({ arrived >= $0 }) ?? true else {
                throw WireFailure(
                    .lost, code == CURLE_OK ? "the connection was closed" : transfer.failure(code).message)
            }
            switch nature {
            case .file: return false
            // A station has no end: an ended connection was lost.
            case .station: throw WireFailure(.lost, "its server ended the connection")
            case .stream:
                if isChunked || endsOgg { return false }
                throw WireFailure(.lost, "its server ended the connection")
            }
        }
        drain(transfer)
        return true
    }

    /// Continues with the answer to a request for the bytes from `start` on. Some servers offer ranges and send
    /// the whole file: then a lost connection resumes by it, and its beginning is dropped as it comes. Throws `WireFailure`.
    private func resume(_ transfer: HTTPTransfer, at start: Int64) throws(WireFailure) {
        arrived = start
        guard start > 0 else { return }
        if transfer.status == 200, size == nil || transfer.head.contentLength == size {
            sendsNoParts = true
            arrived = 0
            return
        }
        guard transfer.status == 206, transfer.head.begins(at: start) else {
            throw WireFailure(.broken, "its server sends a different part than requested")
        }
        guard let size, let whole = transfer.head.rangedLength else { return }
        guard whole == size else { throw WireFailure(.broken, "it changed during the download") }
    }

    private func drain(_ transfer: HTTPTransfer) {
        withUnsafeTemporaryAllocation(byteCount: 32 << 10, alignment: 16) { piece in
            while transfer.available > 0 {
                let count = transfer.take(into: piece)
                let bytes = UnsafeRawBufferPointer(rebasing: piece[..<count])
                if nature != .station, size == nil, !isSegmented { note(bytes) }
                if isSeekable || nature != .station, !isSegmented { record(bytes) }
                guard filter != nil else {
                    if isSeekable { passed.take(bytes, at: arrived) }
                    audio += bytes
                    arrived += Int64(count)
                    continue
                }
                filter?.take(
                    bytes,
                    audio: {
                        audio += $0
                        arrived += Int64($0.count)
                    }, changed: { keep(title: $0) })
            }
        }
        // A short jump skips these bytes.
        if position >= arrived { audio = [] }
    }

    /// Keeps what shows the nature of a stream: its first bytes, and its last page if it is Ogg.
    private func note(_ bytes: UnsafeRawBufferPointer) {
        if arrived == 0 { isOgg = bytes.starts(with: "OggS".utf8) }
        beginning.take(bytes)
        if isOgg { tail = Array((tail + bytes).suffix(Self.tailBytes)) }
    }

    /// Maximum bytes of a page of Ogg (RFC 3533 §6).
    private static let tailBytes = 65_307

    /// True if the last page of an Ogg stream is marked as its last one.
    private var endsOgg: Bool {
        let mark = Array("OggS".utf8)
        guard tail.count > 27 else { return false }
        let last = (0...(tail.count - 27)).last { tail[$0...].starts(with: mark) }
        return last.map { tail[$0 + 5] & 4 != 0 } ?? false
    }

    /// Forgets a failure: the stream has reached its stated end.
    func endHere() { failure = nil }

    private func keep(title: [UInt8]) {
        if titles.count == Self.maximumTitles { titles.removeFirst() }
        titles.append((arrived, title))
    }
}
