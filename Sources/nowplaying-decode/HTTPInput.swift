import CCurl
import CFFmpeg
import ChildDecoding

/// A stream or file that comes over HTTP, with the titles that it carries taken out.
final class HTTPInput: MediaInput {
    /// Pauses before a connection that broke is made again, in seconds.
    static let pauses = [0.1, 0.5, 2, 5, 10]
    /// Bytes ahead that are read instead of requested again.
    private static let shortJump: Int64 = 128 << 10
    /// Bytes that were read and are kept in front of those that were not.
    private static let keptBytes = 256 << 10
    /// Titles that wait for their audio.
    private static let maximumTitles = 64

    private let connection: HTTPConnection
    /// True if a waiting command interrupts a read. A part of something larger is read to its end.
    private let isInterruptible: Bool
    private var filter: IcyFilter?
    /// Audio that was freed from titles: the last bytes before `arrived`.
    private var audio: [UInt8] = []
    /// Offset after the last byte that was taken off the connection, titles not counted.
    private var arrived: Int64
    /// Offset of the next byte to be read.
    private var position: Int64
    private(set) var size: Int64?
    private(set) var isSeekable = false
    /// True if a broken connection is resumed at its position.
    private var isResumable = false
    /// True for a stream without beginning and end.
    private(set) var isLive = false
    /// The server's description of it.
    private(set) var station = Station()
    /// Titles that were found, each with the offset in the audio from which on it holds.
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

    /// Opens a part that another one, a playlist of HLS, refers to, from `offset` on. Waits for the answer. Throws
    /// `WireFailure`.
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

    /// The ways from and to the daemon.
    var channel: DaemonChannel { connection.channel }
    /// True for a playlist of HLS.
    var isSegmented: Bool { connection.isSegmented }
    /// Zone of its server.
    var zone: AddressZone { connection.zone }
    /// The farthest zone on the way to it.
    var reach: AddressZone { connection.reach }
    /// Ends the connection: nothing more is read.
    func close() { connection.close() }
    /// The address where it was found, without name and password.
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
        if skip + count == audio.count {
            audio.removeAll(keepingCapacity: true)
        } else if skip > Self.keptBytes {
            audio.removeFirst(skip)
        }
        return count
    }

    /// Waits until more has arrived at the present position; false: that was all. Throws `WireFailure`.
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
            // A stream without end that ends was cut off.
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
        // Skipped over by a short jump.
        if position >= arrived { audio = [] }
    }

    private func keep(title: [UInt8]) {
        if titles.count == Self.maximumTitles { titles.removeFirst() }
        titles.append((arrived, title))
    }
}
