import AudioCore
import LinuxSystem
import NowPlaying

/// One announcement on its way from its ring to the ear.
@PlayerLoop final class AnnouncementPlayback: AudioStreamDelegate {
    /// Called just before it is let go.
    private var onStart: (@PlayerLoop () -> Void)?
    /// Called once, when it was heard or could not be.
    private var onEnd: (@PlayerLoop (Result<AnnouncementOutcome, AnnouncementRefusal>) -> Void)?
    /// The same, where the reason is the output.
    private var onLoss: (@PlayerLoop (OutputError) -> Void)?

    private let ring: SampleRing
    private let decoder: DecodeThread
    private let factor: Double
    private var stream: (any AudioStream)?
    private var isReady = false
    private var isFlowing = false
    /// When it was let go.
    private var flowingSince: MonotonicTime?
    /// Whether all is sent.
    private var isComplete = false
    /// Whether the server was told that nothing follows.
    private var isDrained = false
    /// When the end is looked for.
    private var deadline: EventSource?
    /// Whether the source has delivered what it is worth beginning with.
    private var isFilled = false
    private let start: Int64
    private var sentEnd: Int64
    /// Behind the last frame that may be heard.
    private let limitEnd: Int64
    /// Behind the last frame there is; nil while more comes.
    private var ringEnd: Int64?

    /// Seconds in which one that is cut off fades.
    private static let cutFade = 0.05
    /// Seconds before its end from which on it counts as heard.
    private static let heardWithin = 0.005
    private static let pieceBytes = 32 << 10

    /// Playback of what was opened, each sample times `factor`.
    init?(_ announcement: Announcement, _ item: OpenedItem, factor: Double, decoder: DecodeThread) {
        ring = item.ring
        self.decoder = decoder
        self.factor = factor
        start = item.ringStart
        sentEnd = item.ringStart
        limitEnd = item.ringStart + max(1, item.format.frames(seconds: announcement.limit))
    }

    /// Opens the stream; from here on it needs nobody. `onStart` is called just before the stream flows, `onEnd` once when it
    /// was audible or could not be, `onLoss` in its place where the output is the reason.
    func open(
        _ output: any AudioOutput, onStart: @escaping @PlayerLoop () -> Void,
        onEnd: @escaping @PlayerLoop (Result<AnnouncementOutcome, AnnouncementRefusal>) -> Void,
        onLoss: @escaping @PlayerLoop (OutputError) -> Void
    ) {
        (self.onStart, self.onEnd, self.onLoss) = (onStart, onEnd, onLoss)
        stream = output.openAnnouncement(ring.format, delegate: self)
        if stream == nil { onLoss(OutputError(.refused, "this output takes no announcements")) }
    }

    /// Ends the stream silently.
    func close() {
        onStart = nil
        onEnd = nil
        onLoss = nil
        deadline = nil
        stream?.close()
        stream = nil
    }

    // MARK: Frames

    /// There is as much in the ring as was waited for.
    func framesCame() {
        isFilled = true
        send()
    }

    /// The source has ended, at this frame of the ring.
    func ends(at end: Int64) {
        ringEnd = end
        framesCame()
    }

    /// Frames behind the last one to be heard, as far as known.
    private var end: Int64? {
        if let ringEnd { return min(ringEnd, limitEnd) }
        return ring.end >= limitEnd ? limitEnd : nil
    }

    private func send() {
        guard let stream, isReady, isFilled, !isComplete else { return }
        if isFlowing {
            // As much as the server has room for: it asks when that is a refill.
            stream.readTiming { [weak self] result in
                guard let self, case .success(let timing) = result else { return }
                fill(upTo: start + timing.takenFrame + stream.targetFrames)
            }
        } else {
            fill(upTo: start + stream.targetFrames)
        }
    }

    private func fill(upTo wanted: Int64) {
        guard let stream, !isComplete else { return }
        let until = min(wanted, ring.end, limitEnd)
        while sentEnd < until { write(upTo: until, to: stream) }
        ring.release(before: sentEnd)
        decoder.roomMade(in: ring)
        if !isFlowing { letGo(stream) }
        if let end, sentEnd >= end {
            isComplete = true
            return awaitEnd(stream)
        }
        guard sentEnd < wanted else { return }
        // The source is behind: to be told when there is another quarter of a second.
        let mark = sentEnd + max(1, ring.format.frames(seconds: 0.25))
        decoder.setMark(mark)
        if ring.end >= mark { EventLoop.current.later { [weak self] in self?.send() } }
    }

    private func letGo(_ stream: any AudioStream) {
        isFlowing = true
        flowingSince = EventLoop.now
        onStart?()
        stream.setCorked(false) { [weak self] error in if let error { self?.onLoss?(error) } }
    }

    /// All is sent: it has been heard when its last frame is audible. The server is told that nothing follows only when that
    /// is near; asked sooner, PulseAudio may say at once that all was played, and its answer comes up to a period late.
    private func awaitEnd(_ stream: any AudioStream) {
        stream.readTiming { [weak self] result in
            guard let self, self.stream != nil, case .success(let timing) = result else { return }
            let total = ring.format.seconds(frames: sentEnd - start)
            // A reading may be wrong by the device's latency while it begins, but nothing is heard faster than it lasts.
            let soonest = flowingSince.map { total - timing.time.seconds(since: $0) } ?? 0
            let left = max(total - timing.audibleFrame / Double(ring.format.sampleRate), soonest)
            if left > Drains.lead {
                return call(after: left - Drains.lead, timing) { [weak self] in self?.awaitEnd(stream) }
            }
            if !isDrained {
                isDrained = true
                stream.drain { [weak self] error in if let error { self?.onLoss?(error) } }
            } else if left < Self.heardWithin {
                let isCut = ringEnd.map { $0 > limitEnd } ?? true
                onEnd?(.success(AnnouncementOutcome(seconds: total, isCut: isCut)))
                return
            }
            call(after: max(left, Self.heardWithin), timing) { [weak self] in self?.awaitEnd(stream) }
        }
    }

    /// Once, seconds after a reading.
    private func call(after seconds: Double, _ timing: StreamTiming, _ then: @escaping @PlayerLoop () -> Void) {
        deadline = EventLoop.current.deadline(timing.time.advanced(bySeconds: seconds)) { [weak self] in
            self?.deadline = nil
            then()
        }
    }

    /// Writes a piece that one straight line describes.
    private func write(upTo end: Int64, to stream: any AudioStream) {
        let fade = max(1, ring.format.frames(seconds: Self.cutFade))
        let mayBeCut = ringEnd.map { $0 > limitEnd } ?? true
        let fadeStart = mayBeCut ? limitEnd - fade : limitEnd
        let limit = sentEnd + Int64(Self.pieceBytes / ring.format.bytesPerFrame)
        let pieceEnd = min(end, limit, sentEnd < fadeStart ? fadeStart : limitEnd)
        let from = value(at: sentEnd, fadeStart, fade)
        let to = value(at: pieceEnd, fadeStart, fade)
        var frame = sentEnd
        ring.read(sentEnd..<pieceEnd) { bytes in
            let frames = Int64(bytes.count / ring.format.bytesPerFrame)
            if from == 1, to == 1 {
                stream.write(bytes, at: nil)
            } else {
                let step = (to - from) / Double(pieceEnd - sentEnd)
                let first = from + step * Double(frame - sentEnd)
                withUnsafeTemporaryAllocation(byteCount: bytes.count, alignment: 16) { target in
                    SampleGain.apply(
                        bytes, into: target, ring.format, from: first, to: first + step * Double(frames), frame: frame)
                    stream.write(UnsafeRawBufferPointer(target), at: nil)
                }
            }
            frame += frames
        }
        sentEnd = pieceEnd
    }

    private func value(at frame: Int64, _ fadeStart: Int64, _ fade: Int64) -> Double {
        guard frame > fadeStart else { return factor }
        return factor * max(0, Double(limitEnd - frame) / Double(fade))
    }

    // MARK: The stream

    func streamIsReady(_ stream: any AudioStream) {
        isReady = true
        send()
    }

    func streamNeedsFrames(_ stream: any AudioStream) { if isFlowing { send() } }

    func streamStarted(_ stream: any AudioStream) {}

    /// What is late goes on when it comes.
    func streamUnderflowed(_ stream: any AudioStream) {}

    func streamSuspended(_ stream: any AudioStream, _ suspended: Bool) {
        if suspended { onLoss?(OutputError(.noDevice, "the sound device sleeps")) }
    }

    func streamMoved(_ stream: any AudioStream) {}

    func streamIsAskedToCork(_ stream: any AudioStream, for name: String?) {}

    func streamFailed(_ stream: any AudioStream, _ error: OutputError) {
        onLoss?(error)
    }
}
