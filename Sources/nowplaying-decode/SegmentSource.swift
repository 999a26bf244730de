import CFFmpeg
import ChildDecoding
import NowPlaying

/// Parts of a playlist of HLS (RFC 8216): FFmpeg requests each part, and we fetch it, judged as any other address.
/// FFmpeg seeks in it inexactly, and not at all after the last part; so for each seek it gets a playlist that begins
/// there.
final class SegmentSource {
    /// Parts that are open at once at most, and playlists that are kept.
    private static let maximumOpen = 32
    private static let maximumLists = 64
    /// Seconds that are waited at least for a new part.
    private static let leastRest = 0.5

    private let list: HTTPInput
    /// The playlist that was found farthest from this machine: what any of them names is judged by that one's zone.
    private var farthest: HTTPInput
    private let channel: DaemonChannel
    /// The playlist that it all begins with.
    private let first: [UInt8]
    /// Playlists of parts that are whole, by their addresses.
    private var lists: [String: PartList] = [:]
    private var parts: [(input: any MediaInput, io: InputContext)] = []
    /// Seconds from which on it is read.
    private var wanted: Double?
    /// Seconds from the beginning of the whole to that of the first part that is read.
    private(set) var beginning = 0.0
    /// True once FFmpeg has opened the playlist: only then it waits.
    private var isOpen = false
    /// True if all parts are known: none is left out then.
    private var isWhole = false
    /// The playlist that was read last, and when FFmpeg wants to read it again, as it grows.
    private var growing: (link: String, list: PartList)?
    private var nextReading = 0.0
    private var lastFailure: WireFailure?
    /// True if a command interrupted it.
    private var isInterrupted = false
    /// Why the last part could not be had; nil: it could.
    var failure: WireFailure? { isInterrupted ? nil : lastFailure }

    /// Reads this playlist. Throws `WireFailure` if that fails.
    init(_ list: HTTPInput) throws(WireFailure) {
        self.list = list
        farthest = list
        channel = list.channel
        first = try Self.all(of: list)
        keep(first, from: list.address)
    }

    /// The playlist that it all begins with; `seconds`: from there on, as far as it goes by parts itself.
    func begin(at seconds: Double?) -> any MediaInput {
        wanted = seconds
        beginning = 0
        isOpen = false
        isInterrupted = false
        lastFailure = nil
        return MemoryInput(known(list.address) ?? first)
    }

    /// FFmpeg has opened it; `isWhole`: it does not grow.
    func isOpened(isWhole: Bool) {
        isOpen = true
        self.isWhole = isWhole
        lastFailure = nil
    }

    /// A playlist that was read before, from where it is wanted.
    private func known(_ link: String) -> [UInt8]? {
        guard let wanted, let (start, bytes) = lists[link]?.beginning(at: wanted) else { return nil }
        beginning = start
        return bytes
    }

    /// Makes a container ask us; it may not outlive this object.
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

    /// FFmpeg asks whether to give up: after a part that could not be had, and, ten times a second, while it waits until the
    /// playlist may have grown. Then we wait in its place.
    private func rest() -> Bool {
        guard isOpen else { return false }
        // Of something whole nothing is left out.
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
        // FFmpeg takes links for relative to the address that it asked for, and does not learn of redirects.
        let base = part.address
        let bytes = PlaylistBase.resolved(try Self.all(of: part)) { CurlSupport.address($0, relativeTo: base)?.url }
        part.close()
        if part.reach > farthest.reach { farthest = part }
        keep(bytes, from: link)
        return MemoryInput(known(link) ?? bytes)
    }

    /// Connects; of something whole again and again, as a part that is missing would be missed.
    private func connected(_ link: String, offset: Int64) throws(WireFailure) -> HTTPInput {
        var pauses = HTTPInput.pauses[...]
        while true {
            do throws(WireFailure) {
                let input = try HTTPInput(part: link, of: farthest, offset: offset)
                _ = input.peek()
                if let failure = input.failure { throw failure }
                return input
            } catch {
                guard isWhole, error.kind == .lost, let pause = pauses.popFirst() else { throw error }
                isInterrupted = channel.awaitCommand(seconds: pause)
                if isInterrupted { throw error }
            }
        }
    }

    /// Learns from a playlist of parts.
    private func keep(_ bytes: [UInt8], from link: String) {
        guard let read = PartList(bytes) else { return }
        if read.isWhole {
            if lists.count < Self.maximumLists { lists[link] = read }
            return
        }
        // As FFmpeg has it: after the time of the last part, and sooner if there was nothing new.
        let isSame = growing?.link == link && growing?.list == read
        nextReading = MonotonicTime.now.seconds + (isSame ? read.longest / 2 : read.last)
        growing = (link, read)
    }

    /// A playlist to its end. Throws `WireFailure`.
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
