package import AudioCore
package import LinuxSystem
package import NowPlaying

/// A stream of a mixed output. Mixed frames play: they cannot be rewound.
@PlayerLoop package final class MixedStream: SimulatedStream {
    package override var canRewind: Bool { false }
    package override var isExact: Bool { true }
    package override var committedFrame: Double? { nextFrame }
    package override var presentTiming: StreamTiming? { isOpen && isReady ? timing(at: EventLoop.now) : nil }

    /// True for the stream of an announcement, whose samples already include their volume.
    let isAnnouncement: Bool
    private let output: MixedOutput
    private let converter: StreamConverter
    private var mixer: Mixer { output.mixer }
    private var store: FrameStore
    /// The present run of frames; nil: none flow.
    private var run: Run?
    /// Next frame to make, fractional, while none flow.
    private var rest = 0.0
    /// End of the last run; nil: there was none, or it has no effect any more.
    private var tail: Run?
    /// True while the start waits for the sink, which is at rest.
    private var awaitsSink = false
    /// Stream, and a frame of it, with which the next run begins; nil: it begins at once.
    private var alignment: (stream: MixedStream, frame: Double)?
    /// Factor of the last mixed frame.
    private var gain = 1.0

    /// A frame of the stream, fractional, and the frame of the device at the same place.
    private struct Run {
        var frame: Double
        var at: Int64
    }

    /// A stream with the buffering of a server's stream. It does nothing before `begin`. Nil: libsoxr is missing.
    init?(
        _ output: MixedOutput, _ loop: EventLoop, _ format: AudioFormat, isLive: Bool, isAnnouncement: Bool,
        _ delegate: any AudioStreamDelegate
    ) {
        guard let converter = StreamConverter(from: format, to: output.mixer.format) else { return nil }
        self.output = output
        self.isAnnouncement = isAnnouncement
        self.converter = converter
        store = FrameStore(bytesPerFrame: format.bytesPerFrame)
        super.init(loop, format, Self.queue(format, isLive: isLive), delegate)
    }

    /// A queue that requests two thirds of its length at once: the mixer takes a frame 0.2 s before it is due, and no
    /// device takes it seconds before.
    private static func queue(_ format: AudioFormat, isLive: Bool) -> StreamQueue {
        let buffering = StreamBuffering(format, isLive: isLive)
        return StreamQueue(
            target: buffering.target, refill: isLive ? buffering.refill : max(1, buffering.target * 2 / 3),
            prebuffer: buffering.prebuffer)
    }

    /// The mixer requests frames at each of its steps.
    package override func requestAgain() -> Bool {
        guard isFlowing else { return false }
        forgetRequest()
        return true
    }

    package override func close() {
        stopFlow()
        super.close()
    }

    override func end() {
        run = nil
        alignment = nil
        store.close()
        super.end()
    }

    // MARK: Commands

    override func keep(_ frames: UnsafeRawBufferPointer, at start: Int64) { store.write(frames, at: start) }

    override func stopFlow() {
        awaitsSink = false
        if run != nil { endRun(at: mixer.schedule.end, frame: nextFrame) }
    }

    package override func align(with other: any AudioStream, at frame: Int64) -> Bool {
        guard let other = other as? MixedStream, other.mixer === mixer, other !== self else { return false }
        alignment = (other, Double(frame))
        return true
    }

    override func dropKept() {
        alignment = nil
        store.clear(next: queue.position)
        converter.clear()
        rest = Double(queue.position)
        if run != nil { run = Run(frame: rest, at: mixer.schedule.end) }
    }

    // MARK: Position

    /// Next frame to make, fractional.
    private var nextFrame: Double {
        guard let run else { return rest }
        return min(Double(queue.position), run.frame + Double(mixer.schedule.end - run.at) * converter.ratio)
    }

    override func timing(at now: MonotonicTime) -> StreamTiming {
        var audible = nextFrame
        var isPlaying = false
        var left = 0.0
        if let run {
            let heard = mixer.heardFrame(at: now, from: run.at)
            left = Double(queue.position) - (run.frame + (heard - Double(run.at)) * converter.ratio)
            audible = Double(queue.position) - max(0, left)
            isPlaying = true
        } else if let tail {
            let end = mixer.heardTime(of: tail.at) ?? now
            left = max(0, end.seconds(since: now)) * Double(format.sampleRate)
            // While corked, frames in transit count as audible.
            isPlaying = !isCorked && !awaitsSink && left > 0
            if isPlaying { audible = tail.frame - left }
        }
        return StreamTiming(
            time: now, audibleFrame: audible, takenFrame: queue.position, isPlaying: isPlaying,
            latency: max(0, left) / Double(format.sampleRate), roundTrip: 0)
    }

    package override func heardTime(of frame: Int64) -> MonotonicTime? {
        guard let run, Double(frame) >= run.frame, Double(frame) < nextFrame else { return nil }
        return mixer.heardTime(of: run.at + Int64(clamping: ((Double(frame) - run.frame) / converter.ratio).rounded()))
    }

    // MARK: Flow

    /// True while frames are made.
    var isFlowing: Bool { run != nil }

    /// Frames that wait in the queue, fractional.
    private var waiting: Double { max(0, Double(max(queue.end, queue.position)) - rest) }

    /// Starts if there are enough frames, requests more if there is room, and completes drains.
    override func goOn() {
        guard isOpen, isReady else { return }
        if canBegin, alignedFrame.map({ $0 <= mixer.schedule.end }) ?? true {
            let first = mixer.begin()
            awaitsSink = first == nil
            if let first { beginRun(at: first) }
        }
        settle(at: EventLoop.now)
        request()
    }

    /// True if no frames flow and enough are queued for a start.
    private var canBegin: Bool {
        isOpen && isReady && run == nil && !isCorked && waiting >= 1
            && (isDraining || waiting >= Double(queue.prebuffer))
    }

    private func beginRun(at first: Int64) {
        alignment = nil
        gain = wantedGain
        run = Run(frame: rest, at: first)
        notify { [self] in $0.streamStarted(self) }
    }

    /// Frame of the device at which the next run begins, if it waits for another stream that flows; nil: it does not.
    var alignedFrame: Int64? {
        guard canBegin, let alignment, let run = alignment.stream.run else { return nil }
        return run.at + Int64(clamping: ((alignment.frame - run.frame) / alignment.stream.converter.ratio).rounded(.up))
    }

    /// Begins the next run if it waited for this frame of the device.
    func beginIfAligned(at frame: Int64) {
        guard canBegin, alignment != nil, alignedFrame.map({ $0 <= frame }) ?? true else { return }
        beginRun(at: frame)
    }

    private func endRun(at end: Int64, frame: Double) {
        run = nil
        rest = frame
        tail = Run(frame: frame, at: end)
    }

    /// Instant at which the last made frame is audible; nil: none was made.
    var lastHeard: MonotonicTime? {
        if run != nil { return mixer.heardTime(of: mixer.schedule.end) }
        return tail.flatMap { mixer.heardTime(of: $0.at) }
    }

    /// Instant at which waiting drains complete; nil: none waits for an instant.
    var drained: MonotonicTime? {
        guard isDraining, run == nil, !isCorked, waiting < 1 else { return nil }
        return tail.flatMap { mixer.heardTime(of: $0.at) } ?? EventLoop.now
    }

    /// Completes drains whose frames have all been audible.
    func settle(at now: MonotonicTime) {
        guard let drained else { return }
        if drained <= now { completeDrains() } else { mixer.arm() }
    }

    /// Reports that the device's times were interrupted.
    func moved() { if run != nil { notify { [self] in $0.streamMoved(self) } } }

    private var wantedGain: Double { isAnnouncement ? 1 : output.gain }

    /// Adds the next frames, the first of which is frame `at` of the device, to the mix. Returns their number, and true
    /// if they have no more bits than the device.
    func mix(
        into bus: UnsafeMutableBufferPointer<Double>, _ scratch: UnsafeMutableBufferPointer<Double>, at frame: Int64
    ) -> (frames: Int, isExact: Bool) {
        guard run != nil else { return (0, true) }
        let channels = mixer.format.channels
        let made = converter.make(from: &store, into: scratch)
        take(upTo: store.first)
        let from = gain
        gain = wantedGain
        let ramp = from == gain ? 0 : min(made, mixer.format.sampleRate / 50)
        for index in 0..<(made * channels) {
            let place = index / channels
            let factor = place < ramp ? from + (gain - from) * Double(place + 1) / Double(ramp) : gain
            bus[index] += factor == 1 ? scratch[index] : scratch[index] * factor
        }
        if made < scratch.count / channels {
            endRun(at: frame + Int64(made), frame: Double(queue.position))
            if !isDraining { notify { [self] in $0.streamUnderflowed(self) } }
            loop.later { [self] in goOn() }
        } else {
            request()
        }
        return (made, converter.isExact && from == 1 && gain == 1)
    }
}
