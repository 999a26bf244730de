package import AudioCore
package import LinuxSystem
package import NowPlaying

/// Common part of the streams without a server: the queue and its requests, callbacks in a later turn of the loop, and drains.
///
/// A subclass keeps the frames, decides when they flow, and knows the time. It overrides the methods that the queue
/// does not cover.
@PlayerLoop package class SimulatedStream: AudioStream {
    package let format: AudioFormat
    package var targetFrames: Int64 { queue.target }
    package var refillFrames: Int64 { queue.refill }
    package var prebufferFrames: Int64 { queue.prebuffer }
    package var canRewind: Bool { true }
    package var isPaced: Bool { true }
    package var isExact: Bool { false }
    package var committedFrame: Double? { nil }
    package var presentTiming: StreamTiming? { nil }
    package func heardTime(of frame: Int64) -> MonotonicTime? { nil }

    let loop: EventLoop
    /// Nil: the stream was closed or has failed.
    private(set) weak var delegate: (any AudioStreamDelegate)?
    /// Called when the owner closes the stream.
    var onClose: (@PlayerLoop () -> Void)?
    private(set) var isOpen = true
    private(set) var isReady = false
    private(set) var isCorked = true
    /// Numbers of the frames that were written and taken.
    private(set) var queue: StreamQueue
    private var drains: [@PlayerLoop (OutputError?) -> Void] = []

    /// A stream with an empty queue, which does nothing before `begin`.
    init(_ loop: EventLoop, _ format: AudioFormat, _ queue: StreamQueue, _ delegate: any AudioStreamDelegate) {
        self.loop = loop
        self.format = format
        self.queue = queue
        self.delegate = delegate
    }

    /// Reports readiness to the delegate in the next turn of the loop, and requests frames.
    func begin() {
        loop.later { [self] in
            guard isOpen else { return }
            isReady = true
            delegate?.streamIsReady(self)
            becomeReady()
        }
    }

    /// Closes the stream; the output drops it itself.
    func end() { shut() }

    /// Closes the stream, and reports that to the output.
    package func close() {
        end()
        onClose?()
        onClose = nil
    }

    /// Closes the stream: then it only fails its outstanding completions.
    private func shut() {
        isOpen = false
        delegate = nil
        completeDrains()
    }

    // MARK: For subclasses to override

    /// Requests the first frames, after the report of readiness.
    func becomeReady() { goOn() }
    /// Takes the frames that are due at this instant, the present one.
    func advance(_ now: MonotonicTime) {}
    /// Keeps written frames, the first of which has this number.
    func keep(_ frames: UnsafeRawBufferPointer, at start: Int64) {}
    /// Ends the flow, because the stream was corked.
    func stopFlow() {}
    /// Drops the kept frames, because the queue was flushed.
    func dropKept() {}
    /// Starts if there are enough frames, requests more if there is room, and completes drains.
    func goOn() {}
    /// The position at this instant, the present one.
    func timing(at now: MonotonicTime) -> StreamTiming {
        StreamTiming(
            time: now, audibleFrame: Double(queue.position), takenFrame: queue.position, isPlaying: false,
            latency: 0, roundTrip: 0)
    }
    package func awaitRewrite(_ isAwaited: Bool) {}
    package func requestAgain() -> Bool { false }
    package func align(with other: any AudioStream, at frame: Int64) -> Bool { false }

    // MARK: Commands

    package func write(_ frames: UnsafeRawBufferPointer, at frame: Int64?) {
        guard isOpen, isReady else { return }
        precondition(frames.count % format.bytesPerFrame == 0, "only whole frames can be written")
        advance(EventLoop.now)
        keep(frames, at: queue.write(Int64(frames.count / format.bytesPerFrame), at: frame))
        goOn()
    }

    package func setCorked(_ corked: Bool, _ completion: @escaping @PlayerLoop (OutputError?) -> Void) {
        guard isReady else { return complete(completion, .closed) }
        advance(EventLoop.now)
        isCorked = corked
        if corked { stopFlow() }
        complete(completion)
        goOn()
    }

    package func flush(_ completion: @escaping @PlayerLoop (OutputError?) -> Void) {
        advance(EventLoop.now)
        queue.flush()
        dropKept()
        complete(completion, isReady ? nil : .closed)
        goOn()
    }

    package func drain(_ completion: @escaping @PlayerLoop (OutputError?) -> Void) {
        guard isOpen, isReady, !isCorked else {
            return complete(completion, OutputError(.refused, "a stopped stream can't play to its end"))
        }
        advance(EventLoop.now)
        drains.append(completion)
        goOn()
    }

    package func readTiming(_ completion: @escaping @PlayerLoop (Result<StreamTiming, OutputError>) -> Void) {
        loop.later { [self] in
            guard isOpen, isReady else { return completion(.failure(.closed)) }
            let now = EventLoop.now
            advance(now)
            completion(.success(timing(at: now)))
        }
    }

    package func setTitle(_ title: String, artist: String?) {}

    // MARK: For subclasses to call

    /// Calls the delegate in the next turn, if the stream is still open by then.
    func notify(_ what: @escaping @PlayerLoop (any AudioStreamDelegate) -> Void) {
        loop.later { [self] in if isOpen, let delegate { what(delegate) } }
    }

    /// Completes a command in the next turn; with an error if the stream is closed.
    func complete(_ completion: @escaping @PlayerLoop (OutputError?) -> Void, _ error: OutputError? = nil) {
        loop.later { [self] in completion(isOpen ? error : .closed) }
    }

    var isDraining: Bool { !drains.isEmpty }

    /// Completes the waiting drains, because all written frames have played.
    func completeDrains() {
        for drain in drains { complete(drain) }
        drains = []
    }

    /// Records that all frames before this one were taken.
    func take(upTo frame: Int64) { queue.take(upTo: frame) }

    /// Requests frames from the delegate if there is enough room.
    func request() { if queue.ask() { notify { [self] in $0.streamNeedsFrames(self) } } }

    /// Makes the next `request` request all missing frames.
    func forgetRequest() { queue.forgetRequest() }

    /// Requests frames at once, inside the call of the loop that made the stream ready.
    func requestNow() { if queue.ask() { delegate?.streamNeedsFrames(self) } }

    /// Closes the stream and reports the reason to the delegate.
    func fail(_ error: OutputError) {
        let delegate = delegate
        end()
        loop.later { [self] in delegate?.streamFailed(self, error) }
    }
}

extension StreamQueue {
    /// An empty queue with these lengths.
    init(_ buffering: StreamBuffering) {
        self.init(target: buffering.target, refill: buffering.refill, prebuffer: buffering.prebuffer)
    }
}
