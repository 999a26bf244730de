import AudioCore
import LinuxSystem
import NowPlaying

/// Playback of one announcement from its ring to the output.
@PlayerLoop final class AnnouncementPlayback: AudioStreamDelegate {
    /// Called directly before the stream starts.
    private var onStart: (@PlayerLoop () -> Void)?
    /// Called once, after the end or a failure.
    private var onEnd: (@PlayerLoop (Result<AnnouncementOutcome, AnnouncementRefusal>) -> Void)?
    /// Called instead of `onEnd` if the output failed.
    private var onLoss: (@PlayerLoop (OutputError) -> Void)?

    private let ring: SampleRing
    private let decoder: DecodeThread
    private let factor: Double
    private var stream: (any AudioStream)?
    private var isReady = false
    private var isFlowing = false
    /// Instant of the stream's start.
    private var flowingSince: MonotonicTime?
    /// True if all frames are sent.
    private var isComplete = false
    /// True if the server was informed that nothing follows.
    private var isDrained = false
    /// Deadline of the next check for the end.
    private var deadline: EventSource?
    /// True if the source has delivered enough to begin.
    private var isFilled = false
    private let start: Int64
    private var sentEnd: Int64
    /// Ring frame after the last one that may play.
    private let limitEnd: Int64
    /// Ring frame after the last one of the source; nil: more follow.
    private var ringEnd: Int64?

    /// Duration of the fade-out of an announcement that is cut off, in seconds.
    private static let cutFade = 0.05
    /// Tolerance of its end in seconds.
    private static let endTolerance = 0.005
    private static let pieceBytes = 32 << 10
    /// Seconds that the sound server has to open the stream.
    private static let serverPatience = 2.0

    /// Playback of an opened item, with each sample multiplied by `factor`.
    init?(_ announcement: Announcement, _ item: OpenedItem, factor: Double, decoder: DecodeThread) {
        ring = item.ring
        self.decoder = decoder
        self.factor = factor
        start = item.ringStart
        sentEnd = item.ringStart
        limitEnd = item.ringStart + max(1, item.format.frames(seconds: announcement.limit))
    }

    /// Opens the stream, which then proceeds by its callbacks. Calls `onStart` directly before the stream starts, and once,
    /// after the end or a failure, `onEnd`, or `onLoss` if the output failed.
    func open(
        _ output: any AudioOutput, onStart: @escaping @PlayerLoop () -> Void,
        onEnd: @escaping @PlayerLoop (Result<AnnouncementOutcome, AnnouncementRefusal>) -> Void,
        onLoss: @escaping @PlayerLoop (OutputError) -> Void
    ) {
        (self.onStart, self.onEnd, self.onLoss) = (onStart, onEnd, onLoss)
        stream = output.openAnnouncement(ring.format, delegate: self)
        guard stream != nil else { return onLoss(OutputError(.refused, "this output takes no announcements")) }
        call(after: Self.serverPatience, EventLoop.now) { [weak self] in
            self?.onLoss?(OutputError(.serverHung, "the sound server does not answer; restart it"))
        }
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

    /// Handles the arrival of the awaited frames.
    func framesCame() {
        isFilled = true
        send()
    }

    /// Handles the end of the source at this frame of the ring.
    func ends(at end: Int64) {
        ringEnd = end
        framesCame()
    }

    /// Ring frame after the last one to play; nil: unknown.
    private var end: Int64? {
        if let ringEnd { return min(ringEnd, limitEnd) }
        return ring.end >= limitEnd ? limitEnd : nil
    }

    private func send() {
        guard let stream, isReady, isFilled, !isComplete else { return }
        if isFlowing {
            // As many frames as the server accepts; it requests more when a refill fits.
            stream.readTiming { [weak self] result in
                guard let self, let timing = take(result) else { return }
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
        decoder.framesReleased(in: ring)
        if !isFlowing { letGo(stream) }
        if let end, sentEnd >= end {
            isComplete = true
            return awaitEnd(stream)
        }
        guard sentEnd < wanted else { return }
        // The source is late: request a report when another quarter of a second is decoded.
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

    /// Waits for the end after all frames are sent: the announcement has played when its last frame is audible. The
    /// drain is requested only near the end: PulseAudio may answer an earlier one at once, and reports it up to a
    /// period late.
    private func awaitEnd(_ stream: any AudioStream) {
        stream.readTiming { [weak self] result in
            guard let self, self.stream != nil, let timing = take(result) else { return }
            let total = ring.format.seconds(frames: sentEnd - start)
            // During the start a reading may be wrong by the device's latency, but nothing plays faster than its duration.
            let soonest = flowingSince.map { total - timing.time.seconds(since: $0) } ?? 0
            let left = max(total - timing.audibleFrame / Double(ring.format.sampleRate), soonest)
            if left > Drains.lead {
                return call(after: left - Drains.lead, timing.time) { [weak self] in self?.awaitEnd(stream) }
            }
            if !isDrained {
                isDrained = true
                stream.drain { [weak self] error in if let error { self?.onLoss?(error) } }
            } else if left < Self.endTolerance {
                let isCut = ringEnd.map { $0 > limitEnd } ?? true
                onEnd?(.success(AnnouncementOutcome(seconds: total, isCut: isCut)))
                return
            }
            call(after: max(left, Self.endTolerance), timing.time) { [weak self] in self?.awaitEnd(stream) }
        }
    }

    /// Returns a reading; nil: it failed. A server that hangs ends the announcement.
    private func take(_ result: Result<StreamTiming, OutputError>) -> StreamTiming? {
        switch result {
        case .success(let timing): return timing
        case .failure(let error):
            if error.kind == .serverHung { onLoss?(error) }
            return nil
        }
    }

    /// Calls `then` once, `seconds` after `time`.
    private func call(after seconds: Double, _ time: MonotonicTime, _ then: @escaping @PlayerLoop () -> Void) {
        deadline = EventLoop.current.deadline(time.advanced(bySeconds: seconds)) { [weak self] in
            self?.deadline = nil
            then()
        }
    }

    /// Writes a piece whose gain is one straight line.
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
        deadline = nil
        send()
    }

    func streamNeedsFrames(_ stream: any AudioStream) { if isFlowing { send() } }

    func streamStarted(_ stream: any AudioStream) {}

    /// Late frames play when they arrive.
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
