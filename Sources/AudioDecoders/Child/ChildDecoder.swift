package import AudioCore
import ChildDecoding
import Glibc
import LinuxSystem
package import NowPlaying
import TrackReading

/// Decoder for the audio from nowplaying-decode. It treats the messages of the process as hostile, because the process
/// reads bytes from the internet. The process ends with this object.
package final class ChildDecoder: LateDecoder {
    private let child: DecodeProgram.Child
    private let incoming: ChildMessages
    /// Description of the source; nil until it is open.
    private var opened: OpenedMedia?
    /// Number of the last seek; `soughtFrame` is its target until its answer comes.
    private var seekNumber: UInt32 = 0
    private var soughtFrame: Int64?
    /// Number of answers to seeks that have come.
    private var seekAnswers: UInt32 = 0
    /// Bytes of audio that came after the last seek and before its answer.
    private var discarded = 0
    /// Number of all frames, and number of all messages with changed tags.
    private var frames: Int64 = 0
    private var changes: Int64 = 0
    private var change: MediaMetadata?
    private var isAtEnd = false
    private var failure: DecodingError?
    private let onOpened: ((OpenedMedia) -> Void)?
    /// Called with the fingerprint of a stream that breaks and may be a file.
    private let onBeginning: (([UInt8]) -> Void)?
    /// Fingerprint of the stream that broke; empty: none.
    private let earlier: [UInt8]
    /// Bytes that may be in transit at a seek: the capacity of the pipe, and some pieces.
    private static let maximumDiscarded = 16 << 20
    /// Messages with changed tags that may come before the first audio.
    private static let maximumFirstChanges: Int64 = 16
    /// Seconds that a child may be silent while it decodes a file.
    package static let filePatience = 10.0
    /// The same for a child that waits for the network: longer than the child's own limit.
    private static let networkPatience = 30.0
    /// Seconds that the child may be silent.
    package let patience: Double
    /// Pid of a child that decodes a file. Nil for a child that waits for the network, because that child has its own
    /// limit.
    package let process: Int32?

    /// Starts a child for a file, which the caller still closes. `patience`: seconds that it may be silent. Throws
    /// `.unavailable`.
    package init(
        file: Int32, program: String? = DecodeProgram.path, patience: Double = ChildDecoder.filePatience
    ) throws(DecodingError) {
        child = try DecodeProgram.start(program, file: file, OpenRequest())
        incoming = ChildMessages(child.answers.number)
        self.patience = patience
        process = child.process.pid
        onOpened = nil
        onBeginning = nil
        earlier = []
    }

    /// Starts a child for a network source. `certificates`: a file of certificates to trust instead of the system's.
    /// Throws `.unavailable`.
    package init(
        _ media: RemoteMedia, certificates: String?, userAgent: String
    ) throws(DecodingError) {
        var request = OpenRequest()
        request.address = media.address
        request.mayUseLoopback = media.mayUseLoopback
        request.wasPublic = media.wasPublic
        request.certificates = certificates ?? ""
        request.userAgent = userAgent
        earlier = media.beginning
        request.beginning = try? StreamBeginning(earlier)
        media.beginning = []
        child = try DecodeProgram.start(DecodeProgram.path, file: nil, request)
        incoming = ChildMessages(child.answers.number)
        patience = Self.networkPatience
        process = nil
        onOpened = { if $0.isPublic { media.wasPublic = true } }
        onBeginning = { media.beginning = $0 }
    }

    // MARK: Properties

    package var descriptor: Int32 { child.answers.number }
    package var format: AudioFormat { opened.map { AudioFormat($0.format) } ?? Self.unknown }
    package var isLive: Bool { opened?.isLive ?? false }
    package var isSeekable: Bool { opened?.isSeekable ?? false }
    package var lengthInFrames: Int64? { opened?.length.map(format.length) }
    package var mediaFormat: MediaFormat {
        guard let opened else { return MediaFormat(codec: "", sampleRate: 0, channels: 0) }
        return MediaFormat(
            codec: TagText.text(Array(opened.codec.utf8)) ?? "", sampleRate: opened.sourceSampleRate,
            channels: opened.format.positions.count,
            bitsPerSample: opened.bitsPerSample > 0 ? opened.bitsPerSample : nil,
            bitRate: opened.bitRate > 0 ? opened.bitRate : nil)
    }
    package private(set) var metadata = MediaMetadata()
    private static let unknown = AudioFormat(sampleFormat: .int16, sampleRate: 44_100, channelCount: 2)

    package func isOpened() throws(DecodingError) -> Bool {
        while opened == nil {
            if let failure { throw failure }
            guard let message = try next() else { return false }
            switch message {
            case .body(.opened, let body): try take(opened: body)
            case .body(.progress, _): continue
            case .body(.failed, let body):
                let error = fail(body)
                if error.kind != .ended { onBeginning?(earlier) }
                throw error
            case .audio, .body: throw lie("audio before its description")
            }
        }
        return true
    }

    /// Waits until the source is open. Throws the child's refusal, or `hung`.
    package func awaitOpening() throws(DecodingError) {
        while try !isOpened() { guard wait(seconds: patience) else { throw hung } }
    }

    private func take(opened body: [UInt8]) throws(DecodingError) {
        do throws(WireError) {
            let media = try OpenedMedia(body)
            opened = media
            incoming.expectFrames(ofBytes: media.format.bytesPerFrame)
            metadata = ChildTags.metadata(media.tags, isLive: media.isLive)
            if !media.chapters.isEmpty { metadata.chapters = ChildTags.chapters(media.chapters) }
            onOpened?(media)
        } catch { throw lie(error.message) }
    }

    // MARK: Frames

    package func takeMetadataChange() -> MediaMetadata? {
        defer { change = nil }
        return change
    }

    package func seek(toFrame frame: Int64) throws(DecodingError) {
        if let failure { throw failure }
        guard isSeekable else { throw DecodingError(.unavailable, "it does not support seeking") }
        let frame = max(0, frame)
        change = nil
        isAtEnd = lengthInFrames.map { frame >= $0 } ?? false
        // Nothing is left to request.
        if isAtEnd { return }
        seekNumber &+= 1
        soughtFrame = frame
        discarded = 0
        let body = WireSeek(number: seekNumber, frame: frame).bytes
        let message = WireMessage.seek.header(count: body.count) + body
        guard
            send(child.orders.number, message, message.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
                == message.count
        else { throw gone }
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int {
        while true {
            if let count = try readAvailable(into: buffer) { return count }
            guard wait(seconds: patience) else { throw hung }
        }
    }

    package func wait(seconds: Double) -> Bool {
        guard seconds > 0 else { return false }
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&polled, 1, Int32(clamping: seconds * 1000)) > 0
    }

    package func readAvailable(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int? {
        guard try isOpened() else { return nil }
        let frameBytes = incoming.frameBytes
        let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(buffer.count / frameBytes * frameBytes)])
        // A buffer without room for a frame needs no message.
        if room.isEmpty { return 0 }
        var done = 0
        while done < room.count, !isAtEnd {
            if let failure { if done > 0 { break } else { throw failure } }
            // A change of tags comes before its frames.
            if change != nil, done > 0 { break }
            guard let message = try next() else { break }
            switch message {
            case .audio:
                let count = incoming.takeAudio(
                    into: UnsafeMutableRawBufferPointer(rebasing: room[done...]), discarding: soughtFrame != nil)
                frames += Int64(count / frameBytes)
                if soughtFrame == nil {
                    done += count
                } else {
                    discarded += count
                    guard discarded <= Self.maximumDiscarded else { throw lie("endless audio instead of the position") }
                }
            case .body(let kind, let body): try take(kind, body)
            }
        }
        return done > 0 || isAtEnd ? done / frameBytes : nil
    }

    private var rate: Int64 { Int64(opened?.format.sampleRate ?? 44_100) }

    private func take(_ kind: WireMessage, _ body: [UInt8]) throws(DecodingError) {
        do throws(WireError) {
            switch kind {
            case .metadata:
                let tags = try WireTag.tags(body)
                changes += 1
                guard changes <= Self.maximumFirstChanges + frames * Int64(WireTag.maximumPerSecond) / rate else {
                    throw WireError("too much metadata")
                }
                let lasting = opened?.tags.filter { isLive && ChildTags.own.contains($0.name) } ?? []
                if soughtFrame == nil { change = ChildTags.metadata(tags + lasting, isLive: isLive) }
            case .seeked:
                let seek = try WireSeek(body)
                seekAnswers &+= 1
                guard seek.number <= seekNumber, seekAnswers <= seekNumber else {
                    throw WireError("an unexpected answer")
                }
                if seek.number == seekNumber {
                    guard seek.frame == soughtFrame else { throw WireError("a position other than the requested one") }
                    soughtFrame = nil
                }
            case .end: isAtEnd = soughtFrame == nil
            case .failed: failure = fail(body)
            case .progress: break
            case .beginning: onBeginning?(try StreamBeginning(body).bytes)
            case .open, .seek, .look, .measure, .opened, .audio, .picture, .piece, .measured:
                throw WireError("an unexpected message")
            }
        } catch { throw lie(error.message) }
    }

    /// The next message, as far as it has come; nil: not yet.
    private func next() throws(DecodingError) -> ChildMessages.Message? {
        do throws(WireError) { return try incoming.next() } catch {
            guard incoming.isClosed else { throw lie(error.message) }
            failure = gone
            throw gone
        }
    }

    // MARK: Failures

    private var gone: DecodingError {
        isLive
            ? DecodingError(.mediaGone, "the program that decodes it ended unexpectedly")
            : DecodingError(.broken, "the program that decodes it ended unexpectedly: it may be damaged")
    }

    /// The child did not answer for too long.
    package var hung: DecodingError { DecodingError(.mediaGone, "the program that decodes it does not answer") }

    private func lie(_ what: String) -> DecodingError {
        let error = DecodingError(.broken, "the program that decodes it sent \(what): it may be damaged")
        failure = error
        kill(child.process.pid, SIGKILL)
        return error
    }

    private func fail(_ body: [UInt8]) -> DecodingError {
        let failed: WireFailure
        do throws(WireError) { failed = try WireFailure(body) } catch { return lie(error.message) }
        let words = TagText.text(Array(failed.message.utf8)) ?? "it cannot be decoded"
        let error: DecodingError
        switch failed.kind {
        case .unavailable: error = DecodingError(.unavailable, words)
        case .notRecognised: error = DecodingError(.notRecognised, words)
        case .broken: error = DecodingError(.broken, words)
        case .lost: error = DecodingError(.mediaGone, words)
        case .noNetwork: error = DecodingError(.noNetwork, words)
        case .unreachable: error = DecodingError(.unreachable, words)
        case .ended: error = DecodingError(.ended, words)
        }
        failure = error
        return error
    }
}

extension AudioFormat {
    /// The format of frames as the child sends them; its positions are numbers in the order of WAVE.
    init(_ wire: WireFormat) {
        let sample: SampleFormat
        switch wire.sample {
        case .int16: sample = .int16
        case .int32: sample = .int32
        case .float32: sample = .float32
        }
        let order = ChannelPosition.waveOrder
        self.init(
            sampleFormat: sample, sampleRate: wire.sampleRate,
            channels: wire.positions == [2]
                ? [.mono] : wire.positions.map { Int($0) < order.count ? order[Int($0)] : .auxiliary })
    }
}
