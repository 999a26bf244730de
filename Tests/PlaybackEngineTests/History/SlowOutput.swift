import AudioCore
import LinuxSystem
import NowPlaying

@testable import MixedOutput

/// Record of a stream of `SlowOutput`.
@PlayerLoop final class SlowOutputLog {
    /// Number of frames written at positions that the device had passed: they are inaudible.
    var lostFrames: Int64 = 0
}

/// A null output with a late device that cannot rewind, as PulseAudio has them.
@PlayerLoop final class SlowOutput: NullBackedOutput {
    let inner: NullOutput
    private let loop: EventLoop
    private let latency: Double
    private let log: SlowOutputLog
    private let ahead: Double?

    /// `latency`: seconds from taking a frame to playing it. `ahead`: seconds that the device takes ahead at most; nil: its
    /// streams know neither that nor their requests.
    init(_ loop: EventLoop, latency: Double, _ log: SlowOutputLog, ahead: Double? = nil) {
        inner = NullOutput(loop)
        self.ahead = ahead
        self.loop = loop
        self.latency = latency
        self.log = log
    }

    func openStream(_ format: AudioFormat, isLive: Bool, delegate: any AudioStreamDelegate) -> any AudioStream {
        let stream = SlowStream(latency: latency, log, delegate, ahead: ahead)
        stream.inner = inner.openStream(format, isLive: isLive, delegate: stream)
        return stream
    }
}

/// A stream of such a device.
@PlayerLoop private final class SlowStream: AudioStream, AudioStreamDelegate {
    var inner: (any AudioStream)!
    private let latency: Double
    private let log: SlowOutputLog
    private let ahead: Double?
    private weak var delegate: (any AudioStreamDelegate)?
    private var isCorked = true
    /// Instant at which the last available frame was taken.
    private var ranEmpty: MonotonicTime?

    init(latency: Double, _ log: SlowOutputLog, _ delegate: any AudioStreamDelegate, ahead: Double?) {
        self.ahead = ahead
        self.latency = latency
        self.log = log
        self.delegate = delegate
    }

    var format: AudioFormat { inner.format }
    var targetFrames: Int64 { inner.targetFrames }
    var refillFrames: Int64 { inner.refillFrames }
    var prebufferFrames: Int64 { inner.prebufferFrames }
    var canRewind: Bool { false }
    var aheadFrames: Int64 { format.frames(seconds: ahead ?? 0) }
    var requestedFrames: Int64? {
        guard ahead != nil, let inner = inner as? NullStream, inner.isReady else { return nil }
        let taken = Int64(inner.timing(at: EventLoop.now).audibleFrame)
        return max(0, targetFrames - (inner.queue.end - taken))
    }

    func write(_ frames: UnsafeRawBufferPointer, at frame: Int64?) {
        if let frame { count(Int64(frames.count / format.bytesPerFrame), at: frame) }
        inner.write(frames, at: frame)
    }

    /// Reads the position of the device; the few frames since the request do not count.
    private func count(_ frames: Int64, at frame: Int64) {
        let asked = EventLoop.now
        inner.readTiming { [self] result in
            guard case .success(let timing) = result else { return }
            let since = timing.isPlaying ? timing.time.seconds(since: asked) * Double(format.sampleRate) : 0
            let lost = min(frames, timing.takenFrame - Int64(since.rounded(.up)) - frame)
            if lost > 2 { log.lostFrames += lost }
        }
    }

    func setCorked(_ corked: Bool, _ completion: @escaping @PlayerLoop (OutputError?) -> Void) {
        isCorked = corked
        ranEmpty = nil
        inner.setCorked(corked, completion)
    }
    func flush(_ completion: @escaping @PlayerLoop (OutputError?) -> Void) { inner.flush(completion) }
    func drain(_ completion: @escaping @PlayerLoop (OutputError?) -> Void) {
        inner.drain { [self] error in
            if error == nil { ranEmpty = EventLoop.now }
            completion(error)
        }
    }
    func setTitle(_ title: String, artist: String?) {}
    func close() { inner.close() }

    func readTiming(_ completion: @escaping @PlayerLoop (Result<StreamTiming, OutputError>) -> Void) {
        inner.readTiming { [self] result in
            guard case .success(var timing) = result else { return completion(result) }
            timing.latency = latency
            var behind = timing.isPlaying ? latency : 0
            if !timing.isPlaying, !isCorked, let ranEmpty {
                behind = max(0, latency - timing.time.seconds(since: ranEmpty))
                timing.isPlaying = behind > 0
            }
            timing.audibleFrame -= behind * Double(format.sampleRate)
            completion(.success(timing))
        }
    }

    func streamIsReady(_ stream: any AudioStream) { delegate?.streamIsReady(self) }
    func streamNeedsFrames(_ stream: any AudioStream) { delegate?.streamNeedsFrames(self) }
    func streamStarted(_ stream: any AudioStream) {
        ranEmpty = nil
        delegate?.streamStarted(self)
    }
    func streamUnderflowed(_ stream: any AudioStream) {
        ranEmpty = EventLoop.now
        delegate?.streamUnderflowed(self)
    }
    func streamSuspended(_ stream: any AudioStream, _ suspended: Bool) {}
    func streamMoved(_ stream: any AudioStream) {}
    func streamIsAskedToCork(_ stream: any AudioStream, for name: String?) {}
    func streamFailed(_ stream: any AudioStream, _ error: OutputError) { delegate?.streamFailed(self, error) }
}
