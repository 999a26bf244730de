import CFFmpeg
import ChildDecoding
import NowPlaying

/// Parts of a playlist of HLS (RFC 8216). FFmpeg requests each part, and this class fetches it with the zone checks of
/// any other address. FFmpeg's seeks in a playlist are inexact, and fail after the last part; so each seek gives it a
/// playlist that begins at the target.
final class SegmentSource {
    /// Maximum number of parts that are open at once, and maximum number of playlists that are kept.
    private static let maximumOpen = 32
    private static let maximumLists = 64
    /// Minimum seconds to wait for a new part.
    private static let leastRest = 0.5

    private let list: HTTPInput
    /// The playlist from the farthest zone so far: its zone limits the links of all playlists.
    private var farthest: HTTPInput
    private let channel: DaemonChannel
    /// The bytes of the first playlist.
    private let first: [UInt8]
    /// Complete playlists of parts, by their addresses.
    private var lists: [String: PartList] = [:]
    private var parts: [(input: any MediaInput, io: InputContext)] = []
    /// Seconds at which reading begins; nil: at the start.
    private var wanted: Double?
    /// Seconds from the beginning of the source to the first part that is read.
    private(set) var beginning = 0.0
    /// True once FFmpeg has opened the playlist: it waits only after that.
    private var isOpen = false
    /// True if all parts are known: then none is skipped.
    private var isWhole = false
    /// The growing playlist that was read last, and the time of FFmpeg's next reading of it, in seconds.
    private var growing: (link: String, list: PartList)?
    private var nextReading = 0.0
    /// Number that is added to those of the parts, since an encoder began again with smaller ones.
    private var shift: Int64 = 0
    private var lastFailure: WireFailure?
    /// True if a command interrupted the retries for a part.
    private var isInterrupted = false
    /// Failure of the last part; nil: it was fetched.
    var failure: WireFailure? { isInterrupted ? nil : lastFailure }

    /// Reads this playlist. Throws `WireFailure` if that fails.
    init(_ list: HTTPInput) throws(WireFailure) {
        self.list = list
        farthest = list
        channel = list.channel
        first = try Self.all(of: list)
        _ = keep(first, from: list.address)
    }

    /// The first playlist; `seconds`: from the part at that time on, if the playlist itself has parts.
    func begin(at seconds: Double?) -> any MediaInput {
        wanted = seconds
        beginning = 0
        isOpen = false
        isInterrupted = false
        lastFailure = nil
        return MemoryInput(known(list.address) ?? first)
    }

    /// Records that FFmpeg has opened the playlist; `isWhole`: it does not grow.
    func isOpened(isWhole: Bool) {
        isOpen = true
        self.isWhole = isWhole
        lastFailure = nil
    }

    /// A playlist that was read before, from the part at `wanted` on.
    private func known(_ link: String) -> [UInt8]? {
        guard let wanted, let (start, bytes) = lists[link]?.beginning(at: wanted) else { return nil }
        beginning = start
        return bytes
    }

    /// Installs the callbacks of a container; it must not outlive this object.
    func attach(to container: UnsafeMutablePointer<AVFormatContext>) {
        let own = Unmanaged.passUnretained(self).toOpaque()
        container.pointee.opaque = own
        container.pointee.interrupt_callback = AVIOInterruptCB(
            callback: { own in
                guard let own else { return 0 }
                return Unmanaged<SegmentSource>.fromOpaque(own).takeUnretainedValue().rest() ? 1 : 0
            }, opaque: own)
        container.pointee.io_open = { container, target, address, flags, options in
            guard let own = container?.pointee.opaque, let target, let address, flags & AVIO_FLAG_WRITE == 0 else {
                return ffmpeg_error_io
            }
            let text = Tags.value("offset", of: options?.pointee)
            let offset = text.flatMap { Int64($0) } ?? 0
            let source = Unmanaged<SegmentSource>.fromOpaque(own).takeUnretainedValue()
            guard let io = source.open(String(cString: address), offset: max(0, offset)) else {
                return ffmpeg_error_io
            }
            target.pointee = io
            return 0
        }
        container.pointee.io_close2 = { container, io in
            guard let own = container?.pointee.opaque, let io else { return 0 }
            Unmanaged<SegmentSource>.fromOpaque(own).takeUnretainedValue().close(io)
            return 0
        }
    }

    /// True makes FFmpeg stop. FFmpeg calls this after a failed part, and ten times a second while it waits for the
    /// playlist to grow; in that case this method waits itself.
    private func rest() -> Bool {
        guard isOpen else { return false }
        // A complete playlist must play without missing parts.
        if lastFailure != nil { return isWhole }
        channel.audio?.flushIfDue()
        let seconds = max(Self.leastRest, nextReading - MonotonicTime.now.seconds)
        return channel.awaitCommand(seconds: min(seconds, channel.audio?.delay ?? .infinity))
    }

    private func open(_ link: String, offset: Int64) -> UnsafeMutablePointer<AVIOContext>? {
        do throws(WireFailure) {
            guard !link.hasPrefix("crypto") else { throw WireFailure(.unavailable, "it is encrypted") }
            guard parts.count < Self.maximumOpen else {
                throw WireFailure(.broken, "it refers to too many parts at once")
            }
            if isWhole, let lastFailure { throw lastFailure }
            let input = try opened(link, offset: offset)
            let io = try InputContext(input)
            parts.append((input, io))
            lastFailure = nil
            return io.context
        } catch {
            lastFailure = error
            return nil
        }
    }

    private func opened(_ link: String, offset: Int64) throws(WireFailure) -> any MediaInput {
        if let bytes = known(link) { return MemoryInput(bytes) }
        let part = try connected(link, offset: offset)
        guard offset == 0, PartList.isPlaylist(part.peek()) else { return part }
        // FFmpeg resolves links relative to the address that it requested, and does not know of redirects.
        let base = part.address
        let bytes = PlaylistBase.resolved(try Self.all(of: part)) { CurlSupport.address($0, relativeTo: base)?.url }
        part.close()
        if part.reach > farthest.reach { farthest = part }
        return MemoryInput(known(link) ?? keep(bytes, from: link))
    }

    /// Connects. For a complete playlist it retries, because a missing part would leave a gap.
    private func connected(_ link: String, offset: Int64) throws(WireFailure) -> HTTPInput {
        var pauses = HTTPInput.pauses[...]
        while true {
            do throws(WireFailure) {
                let input = try HTTPInput(part: link, of: farthest, offset: offset)
                _ = input.peek()
                if let failure = input.failure { throw failure }
                return input
            } catch {
                guard isWhole, error.kind == .lost || error.kind == .unreachable, let pause = pauses.popFirst() else {
                    throw error
                }
                isInterrupted = channel.awaitCommand(seconds: pause)
                if isInterrupted { throw error }
            }
        }
    }

    /// Keeps a playlist of parts, and the time of its next reading. Returns the playlist for FFmpeg.
    private func keep(_ bytes: [UInt8], from link: String) -> [UInt8] {
        guard let read = PartList(bytes) else { return bytes }
        if read.isWhole {
            if lists.count < Self.maximumLists { lists[link] = read }
            return known(link) ?? bytes
        }
        // FFmpeg waits for the number after the last one: it would wait until a new count of the encoder gets there.
        if let before = growing, before.link == link, read.beginsAgain(after: before.list) {
            shift &+= before.list.end &- read.first
        }
        // FFmpeg waits for the duration of the last part, and for half the longest one if the playlist has not changed.
        let isSame = growing?.link == link && growing?.list == read
        nextReading = MonotonicTime.now.seconds + (isSame ? read.longest / 2 : read.last)
        growing = (link, read)
        return shift == 0 ? bytes : PartList.renumbered(bytes, by: shift)
    }

    /// All bytes of a playlist. Throws `WireFailure`.
    private static func all(of input: HTTPInput) throws(WireFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        while bytes.count <= PartList.maximumBytes {
            let count = piece.withUnsafeMutableBytes { input.read(into: $0) }
            if count > 0 {
                bytes += piece[..<Int(count)]
            } else if count == ffmpeg_error_end {
                return bytes
            } else if count != ffmpeg_error_exit {
                throw input.failure ?? WireFailure(.lost, "its playlist cannot be read")
            }
        }
        throw WireFailure(.broken, "its playlist is too long")
    }

    private func close(_ io: UnsafeMutablePointer<AVIOContext>) {
        for part in parts where part.io.context == io {
            lastFailure = (part.input as? HTTPInput)?.failure ?? lastFailure
        }
        parts.removeAll { $0.io.context == io }
    }
}
