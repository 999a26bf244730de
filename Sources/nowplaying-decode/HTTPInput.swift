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
    private let isInterruptible: Bool
    private var filter: IcyFilter?
    /// Audio without titles: the last bytes before `arrived`.
    private var audio: [UInt8] = []
    /// Offset after the last byte taken from the connection, without titles.
    private var arrived: Int64
    /// Offset of the next byte to read.
    private var position: Int64
    private(set) var size: Int64?
    private(set) var isSeekable = false
    /// True if a lost connection can resume at its position.
    private var isResumable = false
    /// True for a stream without beginning and end.
    private(set) var isLive = false
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
        begin(try connection.open(offset: 0, readsLists: true))
    }

    /// Opens a link in `list`, a playlist of HLS, from `offset` on. Waits for the answer. Throws `WireFailure`.
    init(part link: String, of list: HTTPInput, offset: Int64) throws(WireFailure) {
        connection = try list.connection.referring(to: link)
        isInterruptible = false
        arrived = offset
        position = offset
        let transfer = try connection.open(offset: offset, readsLists: false)
        try check(transfer)
        size = transfer.head.wholeLength(from: offset)
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

    private func begin(_ transfer: HTTPTransfer) {
        let head = transfer.head
        size = head.contentLength
        isLive = size == nil && head.isRadio && !isSegmented
        isSeekable = size != nil && !isSegmented && head.acceptsRanges
        isResumable = isSeekable
        if let interval = head.titleInterval { filter = IcyFilter(interval: interval) }
        station = Station(head)
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
            if isInterruptible, connection.channel.hasCommand() { return ffmpeg_error_exit }
            if let size, position >= size { return ffmpeg_error_end }
            do throws(WireFailure) {
                if try fetch() { continue }
                return ffmpeg_error_end
            } catch {
                if error.kind != .lost || !isResumable || attempts >= Self.pauses.count {
                    failure = error
                    return ffmpeg_error_io
                }
                connection.close()
                attempts += 1
                if connection.channel.awaitCommand(seconds: Self.pauses[attempts - 1]) { return ffmpeg_error_exit }
            }
        }
    }

    func seek(to offset: Int64) { position = offset }

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
            || position > arrived + Self.shortJump
        {
            guard isResumable || position == 0 else { throw WireFailure(.lost, "the connection was lost") }
            audio = []
            arrived = position
            try check(try connection.open(offset: position, readsLists: false))
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
            // A live stream has no end: an ended connection was lost.
            if isLive { throw WireFailure(.lost, "its server ended the connection") }
            return false
        }
        drain(transfer)
        return true
    }

    /// Checks that an answer begins at the requested offset. Throws `WireFailure`.
    private func check(_ transfer: HTTPTransfer) throws(WireFailure) {
        guard arrived > 0 else { return }
        guard transfer.status == 206, transfer.head.begins(at: arrived) else {
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
                    }, changed: { keep(title: $0) })
            }
        }
        // A short jump skips these bytes.
        if position >= arrived { audio = [] }
    }

    private func keep(title: [UInt8]) {
        if titles.count == Self.maximumTitles { titles.removeFirst() }
        titles.append((arrived, title))
    }
}
