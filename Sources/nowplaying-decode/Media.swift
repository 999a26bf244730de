import CFFmpeg
import ChildDecoding
import Glibc
import NowPlaying

/// One open source: its container and its decoder, frame by frame.
final class Media {
    /// Result of a step.
    enum Step {
        /// Frames in the announced format; valid until the next step.
        case frames(UnsafeRawBufferPointer)
        /// Tags of the following frames.
        case tags([WireTag])
        /// No result, because a command is pending.
        case interrupted
        case end
    }

    private let input: any MediaInput
    private let network: HTTPInput?
    private var container: Container
    private var decoder: Decoder
    private let converter: Converter
    private let gaps: Gaps
    private let timeline: PartTimeline
    /// Frames a second from the decoder. Kept here, because the decoder's frame loses them at the end.
    private let sourceRate: Int
    /// Next frame of the item to decode; nil: unknown before its packet comes.
    private var nextFrame: Int64? = 0
    /// Frames before this one are decoded, but not sent.
    private var firstWanted: Int64 = 0
    private var isDraining = false
    /// True if the first frames, which were decoded to find the format, are still undelivered.
    private var hasFirst = true
    /// Frame before which no change of tags is reported.
    private var tagsFrom: Int64 = 0
    private(set) var opened: OpenedMedia
    /// Frames of a stream or file whose server does not mark its end, by its container, less those that a decoder may drop at
    /// its end; nil: unknown.
    private let stated: Int64?

    /// Maximum number of tag changes per second of audio: half of the daemon's limit.
    private static let changesPerSecond = WireTag.maximumPerSecond / 2

    /// Opens the container of the input. Throws `WireFailure`.
    init(_ input: any MediaInput, _ wanted: WireFormat?) throws(WireFailure) {
        self.input = input
        network = input as? HTTPInput
        (container, decoder) = try Media.begin(input)
        sourceRate = decoder.frameRate
        guard OpenedMedia.sourceSampleRates.contains(sourceRate) else {
            throw WireFailure(.broken, "its header claims a sample rate of \(sourceRate)")
        }
        converter = try Converter(decoder, wanted)
        gaps = Gaps(container, decoder, isLive: network?.isLive ?? false)
        let dropped = 2 * Int64(max(1152, decoder.frameCount))
        let length = Gaps(container, decoder, isLive: false).length ?? container.statedLength
        // A file ends early only by a table of its packets: other statements of the length mostly are not exact.
        let isStated = network?.nature == .stream || network?.hasUnmarkedEnd == true && gaps.end != nil
        stated = isStated ? length.map { $0 - dropped } : nil
        timeline = PartTimeline(decoder)
        opened = OpenedMedia(
            format: converter.format, codec: decoder.codecName, sourceSampleRate: sourceRate)
        opened.isLive = network.map { $0.isLive || (container.isEndless && $0.isSegmented) } ?? false
        opened.isSeekable = (network?.isResumable ?? input.isSeekable || container.hasParts) && !opened.isLive
        opened.isPublic = network?.zone == .everywhere
        opened.bitsPerSample = decoder.bitsPerSample
        opened.bitRate = network.map { $0.station.bitRate } ?? 0
        if opened.bitRate == 0 { opened.bitRate = container.bitRate(decoder) }
        opened.length =
            opened.isLive
            ? nil
            : StreamFrame.length(
                gaps.length.map { av_rescale($0, Int64(converter.format.sampleRate), Int64(sourceRate)) })
        opened.tags = container.tags + (network?.station.tags ?? [])
        opened.chapters = container.chapters
    }

    /// Opens the container, and decodes its first frame: that one has the true format, and the container's statement may
    /// differ. Throws `WireFailure`.
    private static func begin(_ input: any MediaInput) throws(WireFailure) -> (Container, Decoder) {
        let network = input as? HTTPInput
        if let network, network.gotWhole { return try network.beginAgain { () throws(WireFailure) in try begin(input) } }
        do throws(WireFailure) {
            let container = try Container(input)
            let decoder = try Decoder(container)
            guard try decodeFirst(container, decoder, input) else {
                throw network?.failure ?? container.segmentFailure ?? container.jumpFailure
                    ?? WireFailure(.broken, "it contains no audio that can be decoded")
            }
            guard let network, network.gotWhole else { return (container, decoder) }
        } catch {
            guard let network, network.gotWhole else { throw error }
        }
        return try begin(input)
    }

    /// Decodes until the first frame comes; false: there is none.
    private static func decodeFirst(
        _ container: Container, _ decoder: Decoder, _ input: any MediaInput
    ) throws(WireFailure) -> Bool {
        for _ in 0..<2000 {
            if try decoder.receive() { return true }
            switch container.readPacket() {
            case 0: decoder.send(container)
            case ffmpeg_error_exit: continue
            default:
                decoder.sendEnd()
                return try decoder.receive()
            }
        }
        return false
    }

    /// Seeks to this frame of the item. Throws `WireFailure`.
    func seek(to frame: Int64) throws(WireFailure) {
        guard opened.isSeekable else { throw WireFailure(.broken, "it does not support seeking") }
        let source = gaps.sourceFrame(
            av_rescale(frame, Int64(sourceRate), Int64(converter.format.sampleRate)))
        converter.reset()
        tagsFrom = 0
        if let network, network.sendsNoParts { return try walk(to: source, network) }
        hasFirst = false
        isDraining = false
        nextFrame = nil
        firstWanted = source
        if container.hasParts { return try goToPart(before: source) }
        do throws(WireFailure) {
            try container.seek(to: source, rate: sourceRate, preroll: decoder.preroll)
            decoder.flush()
        } catch {
            guard let network, network.gotWhole else { throw error }
            try walk(to: source, network)
        }
    }

    /// Decodes all before this frame of the stream, from the beginning if that has passed: its server sends no parts. Throws
    /// `WireFailure`.
    private func walk(to frame: Int64, _ network: HTTPInput) throws(WireFailure) {
        firstWanted = frame
        if !network.gotWhole, !isDraining, let nextFrame, nextFrame <= frame { return }
        let input = input
        (container, decoder) = try network.beginAgain { () throws(WireFailure) in try Media.begin(input) }
        (hasFirst, isDraining, nextFrame) = (true, false, 0)
    }

    /// Reopens a source of parts at the part with this frame of the stream, or at an earlier part if decoding would not
    /// be exact at the frame. Throws `WireFailure`.
    private func goToPart(before frame: Int64) throws(WireFailure) {
        var wanted = frame - decoder.preroll
        while true {
            container = try container.reopened(at: Double(max(0, wanted)) / Double(sourceRate))
            // A used decoder keeps the shape of its last window, even after a flush.
            decoder = try Decoder(container)
            guard try Media.decodeFirst(container, decoder, input) else {
                if let failure = container.segmentFailure { throw failure }
                isDraining = true
                return
            }
            hasFirst = true
            let first = timeline.firstFrame(decoder, container)
            nextFrame = first
            if first <= frame - decoder.preroll || container.beginning == 0 { return }
            // The lengths in the playlist differ from those of the parts.
            wanted = min(wanted - (first - wanted), Int64(clamping: container.beginning * Double(sourceRate)) - 1)
        }
    }

    /// The next frames, tags or the end. Waits for late data. Throws `WireFailure`.
    func next() throws(WireFailure) -> Step {
        while true {
            if let tags = dueTags() { return .tags(tags) }
            if hasFirst {
                hasFirst = false
                if let frames = try convert() { return .frames(frames) }
                continue
            }
            if try decoder.receive() {
                if let frames = try convert() { return .frames(frames) }
                continue
            }
            if isDraining { return .end }
            switch container.readPacket() {
            case 0: decoder.send(container)
            case ffmpeg_error_exit:
                container.clearError()
                return .interrupted
            default:
                if let network, network.gotWhole {
                    try walk(to: max(firstWanted, nextFrame ?? 0), network)
                    continue
                }
                if let failure = network?.failure ?? lostSegment ?? earlyEnd {
                    guard hasStatedEnd else { throw failure }
                    network?.endHere()
                }
                isDraining = true
                decoder.sendEnd()
            }
        }
    }

    /// True if a stream without a length has come to the end that its container states: it was a file.
    private var hasStatedEnd: Bool {
        guard let network, network.nature == .stream, let stated, let nextFrame else { return false }
        return nextFrame >= stated
    }

    /// Failure of a file that ends before the end that its container states, if its server marks none; nil: it does not.
    private var earlyEnd: WireFailure? {
        guard network?.hasUnmarkedEnd == true, let stated, nextFrame ?? 0 < stated else { return nil }
        return WireFailure(.lost, "its server ended the connection before the end of the file")
    }

    /// Fingerprint of a stream that may be a file; nil: it is known to be none.
    var beginning: StreamBeginning? {
        network.flatMap { $0.nature == .stream && !$0.beginning.isEmpty ? $0.beginning : nil }
    }

    /// Failure of the last part. A source with such a failure has not ended; a live source is lost.
    private var lostSegment: WireFailure? {
        guard let failure = container.segmentFailure else { return nil }
        return opened.isLive ? WireFailure(.lost, failure.message) : failure
    }

    /// Converts the part of the decoded frame that belongs to the item, from `firstWanted` on.
    private func convert() throws(WireFailure) -> UnsafeRawBufferPointer? {
        let count = Int64(decoder.frameCount)
        guard count > 0 else { return nil }
        let start = nextFrame ?? jumpedFrame ?? decoder.frameTime.map { gaps.frame(of: $0, container) } ?? firstWanted
        nextFrame = start + count
        let from = max(firstWanted, gaps.first) - start
        let end = min(count, (gaps.end ?? .max) - start)
        guard from < count, end > max(0, from) else { return nil }
        return try converter.convert(decoder, from: Int(max(0, from)), to: Int(end))
    }

    /// Frame of the item that was decoded first after a jump by offsets; nil: FFmpeg jumped.
    private var jumpedFrame: Int64? {
        guard let layout = container.layout, let place = decoder.packetPosition else { return nil }
        // FFmpeg may cut the beginning of the first frame, as at the beginning of the file: its end is sure.
        let end = (layout.frame(at: place) + 1) * layout.samplesPerFrame - container.delay(rate: sourceRate)
        return StreamFrame.bounded(end - Int64(decoder.frameCount))
    }

    /// Takes the tags that are due before the next frames, limited in rate: a hostile server can send a title with
    /// every byte.
    private func dueTags() -> [WireTag]? {
        if let nextFrame, nextFrame < tagsFrom { return nil }
        guard let tags = changedTags() else { return nil }
        tagsFrom = (nextFrame ?? 0) + Int64(sourceRate / Self.changesPerSecond)
        return tags
    }

    private func changedTags() -> [WireTag]? {
        if let network {
            let titles = network.takeTitles(before: container.packetPosition ?? .max)
            if let last = titles.last { return Station.tags(title: last) }
        }
        guard opened.isLive else { return nil }
        return container.takeChangedTags()
    }
}
