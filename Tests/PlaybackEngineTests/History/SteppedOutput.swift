import AudioCore
import LinuxSystem
import MixedOutput
import NowPlaying
import TestSupport

/// A null output with a server that works in steps, as PipeWire does: it takes a quantum of frames at each step, begins, requests
/// frames and reports at steps alone, and gives the position of its last step as that of now.
@PlayerLoop final class SteppedOutput: NullBackedOutput {
    let inner: NullOutput
    private let quantum: Double
    private let delay: Double
    private var random: SeededRandom
    private var streams: [SteppedStream] = []
    /// Steps that play silence in place of the stream.
    private let losses: [MonotonicTime]
    /// Number of requests for the timing.
    fileprivate(set) var readings = 0

    /// `quantum`: seconds from one step to the next; `delay`: longest time in seconds from a step to its report; `losses`: seconds
    /// from now to steps that play silence, in order.
    init(_ loop: EventLoop, quantum: Double, delay: Double, losses: [Double] = [], seed: UInt64) {
        inner = NullOutput(loop)
        self.quantum = quantum
        self.delay = delay
        random = SeededRandom(seed: seed)
        let begin = EventLoop.now
        self.losses = losses.map { begin.advanced(bySeconds: $0) }
    }

    /// Number of steps between two instants that played silence.
    fileprivate func lost(from: MonotonicTime, to: MonotonicTime) -> Int {
        losses.count { $0 > from && step(before: $0) <= to }
    }

    func openStream(_ format: AudioFormat, isLive: Bool, delegate: any AudioStreamDelegate) -> any AudioStream {
        let stream = SteppedStream(self, delegate)
        stream.inner = inner.openStream(format, isLive: isLive, delegate: stream)
        streams.append(stream)
        return stream
    }

    /// Frame of the flowing stream that is heard at this instant; nil: none flows.
    func heardFrame(at time: MonotonicTime) -> Double? { streams.last { $0.isFlowing }?.heardFrame(at: time) }

    // MARK: Steps

    /// Instant of the last step before `time`.
    fileprivate func step(before time: MonotonicTime) -> MonotonicTime {
        let length = Int64(quantum * 1e9)
        return MonotonicTime(nanoseconds: time.nanoseconds / length * length)
    }

    /// Instant of the next step after `time`.
    fileprivate func step(after time: MonotonicTime) -> MonotonicTime {
        step(before: time).advanced(bySeconds: quantum)
    }

    /// Seconds of a step, in frames.
    fileprivate func frames(_ format: AudioFormat) -> Double { quantum * Double(format.sampleRate) }

    /// Time in seconds until a step is reported.
    fileprivate func reportDelay() -> Double { Double.random(in: 0...delay, using: &random) }
}

/// A stream of such an output.
@PlayerLoop private final class SteppedStream: AudioStream, AudioStreamDelegate {
    var inner: (any AudioStream)!
    private unowned let output: SteppedOutput
    private weak var delegate: (any AudioStreamDelegate)?
    /// First frame of the flow and its step; nil: no frame flows.
    private var flow: (frame: Double, since: MonotonicTime)?
    private var timers: [EventSource] = []
    /// Number of the last change of the flow.
    private var change = 0

    init(_ output: SteppedOutput, _ delegate: any AudioStreamDelegate) {
        self.output = output
        self.delegate = delegate
    }

    var format: AudioFormat { inner.format }
    var targetFrames: Int64 { inner.targetFrames }
    var refillFrames: Int64 { inner.refillFrames }
    var prebufferFrames: Int64 { inner.prebufferFrames }
    var canRewind: Bool { false }
    var isStepped: Bool { true }
    var isFlowing: Bool { flow != nil }

    func heardFrame(at time: MonotonicTime) -> Double? {
        flow.map { flow in
            flow.frame + time.seconds(since: flow.since) * Double(format.sampleRate)
                - Double(output.lost(from: flow.since, to: time)) * output.frames(format)
        }
    }

    func write(_ frames: UnsafeRawBufferPointer, at frame: Int64?) { inner.write(frames, at: frame) }

    func setCorked(_ corked: Bool, _ completion: @escaping @PlayerLoop (OutputError?) -> Void) {
        change += 1
        guard !corked else {
            flow = nil
            return inner.setCorked(true, completion)
        }
        let begun = change
        at(output.step(after: EventLoop.now)) { [self] in if change == begun { inner.setCorked(false) { _ in } } }
        EventLoop.current.later { completion(nil) }
    }

    func flush(_ completion: @escaping @PlayerLoop (OutputError?) -> Void) { inner.flush(completion) }
    func drain(_ completion: @escaping @PlayerLoop (OutputError?) -> Void) { inner.drain(completion) }
    func setTitle(_ title: String, artist: String?) {}

    func close() {
        flow = nil
        timers = []
        inner.close()
    }

    func readTiming(_ completion: @escaping @PlayerLoop (Result<StreamTiming, OutputError>) -> Void) {
        output.readings += 1
        inner.readTiming { [self] result in
            guard case .success(var timing) = result, timing.isPlaying, let flow else { return completion(result) }
            let step = max(output.step(before: timing.time), flow.since)
            // A step of a server that resamples is no whole number of frames: it takes those before its end.
            let taken = ((heardFrame(at: step) ?? timing.audibleFrame) + output.frames(format) + 0.001).rounded(.down)
            timing.takenFrame = Int64(taken)
            timing.audibleFrame = taken - output.frames(format)
            timing.latency = output.frames(format) / Double(format.sampleRate)
            completion(.success(timing))
        }
    }

    private func at(_ time: MonotonicTime, _ deed: @escaping @PlayerLoop () -> Void) {
        timers.append(EventLoop.current.deadline(time, deed))
        if timers.count > 8 { timers.removeFirst() }
    }

    /// Reports to the delegate after the present step.
    private func report(_ what: @escaping @PlayerLoop (any AudioStreamDelegate) -> Void) {
        at(EventLoop.now.advanced(bySeconds: output.reportDelay())) { [self] in if let delegate { what(delegate) } }
    }

    func streamIsReady(_ stream: any AudioStream) { delegate?.streamIsReady(self) }

    func streamNeedsFrames(_ stream: any AudioStream) {
        guard isFlowing else { return delegate?.streamNeedsFrames(self) ?? () }
        at(output.step(after: EventLoop.now)) { [self] in report { $0.streamNeedsFrames(self) } }
    }

    func streamStarted(_ stream: any AudioStream) {
        let since = output.step(before: EventLoop.now)
        let begun = change
        inner.readTiming { [self] result in
            guard case .success(let timing) = result, change == begun else { return }
            let moved = timing.time.seconds(since: since) * Double(format.sampleRate)
            flow = (timing.audibleFrame - moved, since)
            report { $0.streamStarted(self) }
        }
    }

    func streamUnderflowed(_ stream: any AudioStream) {
        flow = nil
        delegate?.streamUnderflowed(self)
    }
    func streamSuspended(_ stream: any AudioStream, _ suspended: Bool) {}
    func streamMoved(_ stream: any AudioStream) {}
    func streamIsAskedToCork(_ stream: any AudioStream, for name: String?) {}
    func streamFailed(_ stream: any AudioStream, _ error: OutputError) { delegate?.streamFailed(self, error) }
}
