package import AudioCore
package import LinuxSystem
import NowPlaying

/// A stream into nothing that behaves as one to a server: it requests frames, runs empty, drains, and has a timing.
@PlayerLoop package final class NullStream: SimulatedStream, AudioStream {
    package let format: AudioFormat
    package var targetFrames: Int64 { queue.target }
    package var refillFrames: Int64 { queue.refill }
    package var prebufferFrames: Int64 { queue.prebuffer }
    package var canRewind: Bool { true }

    /// Called when the stream is closed by its owner.
    var onClose: ((NullStream) -> Void)?
    private var queue: StreamQueue
    private var isReady = false
    private var isCorked = true
    /// Since when frames flow, and from which one on; nil: they do not.
    private var flow: (since: MonotonicTime, from: Int64)?
    private var deadline: EventSource?

    /// A stream with the buffering that one of a server would have. It does nothing before `begin`.
    init(_ loop: EventLoop, _ format: AudioFormat, isLive: Bool, _ delegate: any AudioStreamDelegate) {
        self.format = format
        let buffering = StreamBuffering(format, isLive: isLive)
        queue = StreamQueue(target: buffering.target, refill: buffering.refill, prebuffer: buffering.prebuffer)
        super.init(loop, delegate)
    }

    /// Reports readiness to the delegate in the next turn of the loop, and requests frames.
    func begin() {
        loop.later { [self] in
            guard isOpen else { return }
            isReady = true
            delegate?.streamIsReady(self)
            askForFrames()
        }
    }

    package func close() {
        end()
        onClose?(self)
        onClose = nil
    }

    /// Closes it for the output, which drops it by itself: `onClose` is not called.
    func end() {
        deadline?.release()
        deadline = nil
        flow = nil
        shut()
    }

    // MARK: Commands

    package func write(_ frames: UnsafeRawBufferPointer, at frame: Int64?) {
        guard isOpen, isReady else { return }
        precondition(frames.count % format.bytesPerFrame == 0, "only whole frames can be written")
        advance(EventLoop.now)
        _ = queue.write(Int64(frames.count / format.bytesPerFrame), at: frame)
        goOn()
    }

    package func setCorked(_ corked: Bool, _ completion: @escaping @PlayerLoop (OutputError?) -> Void) {
        if isReady {
            advance(EventLoop.now)
            isCorked = corked
            if corked { flow = nil }
            complete(completion)
            goOn()
        } else {
            complete(completion, .closed)
        }
    }

    package func flush(_ completion: @escaping @PlayerLoop (OutputError?) -> Void) {
        advance(EventLoop.now)
        queue.flush()
        complete(completion, isReady ? nil : .closed)
        goOn()
    }

    package func drain(_ completion: @escaping @PlayerLoop (OutputError?) -> Void) {
        guard isOpen, isReady, !isCorked else {
            complete(completion, OutputError(.refused, "a stopped stream can't play to its end"))
            return
        }
        advance(EventLoop.now)
        addDrain(completion)
        goOn()
    }

    package func readTiming(_ completion: @escaping @PlayerLoop (Result<StreamTiming, OutputError>) -> Void) {
        loop.later { [self] in
            guard isOpen, isReady else { return completion(.failure(.closed)) }
            let now = EventLoop.now
            advance(now)
            let audible = flow.map { Double($0.from) + elapsedFrames(since: $0.since, now) } ?? Double(queue.position)
            completion(
                .success(
                    StreamTiming(
                        time: now, audibleFrame: min(audible, Double(max(queue.end, queue.position))),
                        takenFrame: queue.position, isPlaying: flow != nil, latency: 0, roundTrip: 0)))
        }
    }

    package func setTitle(_ title: String, artist: String?) {}

    // MARK: Time

    private func elapsedFrames(since start: MonotonicTime, _ now: MonotonicTime) -> Double {
        max(0, now.seconds(since: start)) * Double(format.sampleRate)
    }

    /// Plays up to now.
    private func advance(_ now: MonotonicTime) {
        guard let flow else { return }
        queue.take(upTo: flow.from + Int64(clamping: elapsedFrames(since: flow.since, now)))
        guard queue.queued == 0 else { return }
        self.flow = nil
        if isDraining {
            completeDrains()
        } else {
            notify { [self] in $0.streamUnderflowed(self) }
        }
    }

    /// Starts if there is enough, asks for more if there is room, and arms the deadline for what comes next.
    private func goOn() {
        guard isOpen else { return }
        if flow == nil, !isCorked, queue.queued > 0, isDraining || queue.queued >= queue.prebuffer {
            flow = (EventLoop.now, queue.position)
            notify { [self] in $0.streamStarted(self) }
        }
        if flow == nil, !isCorked, queue.queued == 0 { completeDrains() }
        if queue.ask() { notify { [self] in $0.streamNeedsFrames(self) } }
        guard let flow else {
            deadline?.release()
            deadline = nil
            return
        }
        let next = min(queue.end, max(queue.nextRequest, queue.position + 1))
        // A microsecond more: rounding must not wake us just before the frame.
        let due = flow.since.advanced(bySeconds: Double(next - flow.from) / Double(format.sampleRate) + 1e-6)
        if let deadline {
            deadline.setDeadline(due)
        } else {
            deadline = loop.deadline(due) { [unowned self] in
                advance(EventLoop.now)
                goOn()
            }
        }
    }

    private func askForFrames() {
        if queue.ask() { delegate?.streamNeedsFrames(self) }
    }
}
