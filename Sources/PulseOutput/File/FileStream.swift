package import AudioCore
package import LinuxSystem
import NowPlaying

/// A stream into a file. It never runs empty: it waits for frames as a file can, time standing still meanwhile.
///
/// Written frames wait in a queue and go to the file in pieces, each in an idle turn of the loop,
/// so that all events of one come before the next; until then it may be rewritten. Corked, nothing goes.
@PlayerLoop package final class FileStream: SimulatedStream, AudioStream {
    package let format: AudioFormat
    package var targetFrames: Int64 { queue.target }
    package var refillFrames: Int64 { queue.refill }
    package var prebufferFrames: Int64 { queue.prebuffer }
    package var canRewind: Bool { true }
    package var isPaced: Bool { false }

    /// Bytes that go to the file in one turn of the loop.
    private static let piece = 256 << 10
    private unowned let output: FileOutput
    private var queue: StreamQueue
    /// The frames from `firstKept` on.
    private var bytes: [UInt8] = []
    private var firstKept: Int64 = 0
    private var isReady = false
    private var isCorked = true
    private var isFlowing = false
    private var awaitsRewrite = false
    private var work: EventSource?

    /// A stream of two seconds, or of 2 MiB if that is less. It does nothing before `begin`.
    init(_ output: FileOutput, _ loop: EventLoop, _ format: AudioFormat, _ delegate: any AudioStreamDelegate) {
        self.output = output
        self.format = format
        // Two seconds: enough to decode in big bites, little to hold.
        let target = min(2 * Int64(format.sampleRate), Int64((2 << 20) / format.bytesPerFrame))
        queue = StreamQueue(target: target, refill: max(1, target / 2), prebuffer: max(1, target / 8))
        super.init(loop, delegate)
    }

    /// Reports readiness to the delegate in the next turn of the loop, and requests frames.
    func begin() {
        loop.later { [self] in
            guard isOpen else { return }
            isReady = true
            delegate?.streamIsReady(self)
            goOn()
        }
    }

    package func close() {
        end()
        output.forget(self)
    }

    /// Closes it for the output, which drops it by itself.
    func end() {
        work?.release()
        work = nil
        bytes = []
        shut()
    }

    // MARK: Commands

    package func write(_ frames: UnsafeRawBufferPointer, at frame: Int64?) {
        guard isOpen, isReady else { return }
        precondition(frames.count % format.bytesPerFrame == 0, "only whole frames can be written")
        let size = format.bytesPerFrame
        let count = Int64(frames.count / size)
        let start = queue.write(count, at: frame)
        // Frames in the file can't be written again.
        let skipped = min(count, max(0, queue.position - start))
        let offset = max(0, Int(start + skipped - firstKept)) * size
        if offset < bytes.count {
            bytes.removeSubrange(offset...)
        } else {
            // A gap between two writes is silence.
            bytes.append(contentsOf: repeatElement(0, count: offset - bytes.count))
        }
        bytes.append(contentsOf: frames[(Int(skipped) * size)...])
        goOn()
    }

    package func awaitRewrite(_ isAwaited: Bool) {
        awaitsRewrite = isAwaited
        goOn()
    }

    package func setCorked(_ corked: Bool, _ completion: @escaping @PlayerLoop (OutputError?) -> Void) {
        if isReady {
            isCorked = corked
            if corked {
                isFlowing = false
                output.completeHeader()
            }
            complete(completion)
            goOn()
        } else {
            complete(completion, .closed)
        }
    }

    package func flush(_ completion: @escaping @PlayerLoop (OutputError?) -> Void) {
        queue.flush()
        bytes = []
        firstKept = queue.position
        complete(completion, isReady ? nil : .closed)
        goOn()
    }

    package func drain(_ completion: @escaping @PlayerLoop (OutputError?) -> Void) {
        guard isOpen, isReady, !isCorked else {
            complete(completion, OutputError(.refused, "a stopped stream can't play to its end"))
            return
        }
        addDrain(completion)
        goOn()
    }

    package func readTiming(_ completion: @escaping @PlayerLoop (Result<StreamTiming, OutputError>) -> Void) {
        loop.later { [self] in
            if let timing = presentTiming { completion(.success(timing)) } else { completion(.failure(.closed)) }
        }
    }

    package var presentTiming: StreamTiming? {
        guard isOpen, isReady else { return nil }
        return StreamTiming(
            time: EventLoop.now, audibleFrame: Double(queue.position), takenFrame: queue.position,
            isPlaying: isFlowing, latency: 0, roundTrip: 0)
    }

    package func setTitle(_ title: String, artist: String?) {}

    // MARK: Flow

    /// Starts if there is enough, asks for more if there is room, ends drains, and sees that work continues.
    private func goOn() {
        guard isOpen else { return }
        if !isFlowing, !isCorked, queue.queued > 0, isDraining || queue.queued >= queue.prebuffer {
            isFlowing = true
            notify { [self] in $0.streamStarted(self) }
        }
        if isDraining, queue.queued == 0 {
            isFlowing = false
            output.completeHeader()
            completeDrains()
        }
        if queue.ask() { notify { [self] in $0.streamNeedsFrames(self) } }
        let hasWork = isFlowing && queue.queued > 0 && !awaitsRewrite
        if hasWork, work == nil {
            work = loop.deferred(whenIdle: true) { [unowned self] in
                work?.release()
                work = nil
                writePiece()
            }
        } else if !hasWork {
            work?.release()
            work = nil
        }
    }

    /// Moves one piece from the queue to the file.
    private func writePiece() {
        let size = format.bytesPerFrame
        let count = min(queue.queued, max(1, Int64(Self.piece / size)))
        let start = Int(queue.position - firstKept) * size
        let gain = output.gain
        do throws(OutputError) {
            try append(start..<(start + Int(count) * size), gain)
        } catch {
            let delegate = delegate
            end()
            loop.later { [self] in delegate?.streamFailed(self, error) }
            return
        }
        queue.take(upTo: queue.position + count)
        bytes.removeSubrange(..<(start + Int(count) * size))
        firstKept = queue.position
        goOn()
    }

    private func append(_ range: Range<Int>, _ gain: Double) throws(OutputError) {
        var failure: OutputError?
        bytes.withUnsafeMutableBytes { all in
            let piece = UnsafeMutableRawBufferPointer(rebasing: all[range])
            if gain != 1 { amplify(piece, format.sampleFormat, gain) }
            do throws(OutputError) {
                try output.append(UnsafeRawBufferPointer(piece), format)
            } catch { failure = error }
        }
        if let failure { throw failure }
    }
}

/// Multiplies samples in place; integers are rounded to the nearest.
func amplify(_ samples: UnsafeMutableRawBufferPointer, _ format: SampleFormat, _ gain: Double) {
    switch format {
    case .int16:
        for index in samples.bindMemory(to: Int16.self).indices {
            let sample = samples.load(fromByteOffset: 2 * index, as: Int16.self)
            samples.storeBytes(
                of: Int16(clamping: (Double(sample) * gain).rounded()), toByteOffset: 2 * index, as: Int16.self)
        }
    case .int32:
        for index in samples.bindMemory(to: Int32.self).indices {
            let sample = samples.load(fromByteOffset: 4 * index, as: Int32.self)
            samples.storeBytes(
                of: Int32(clamping: (Double(sample) * gain).rounded()), toByteOffset: 4 * index, as: Int32.self)
        }
    case .float32:
        for index in samples.bindMemory(to: Float.self).indices {
            let sample = samples.load(fromByteOffset: 4 * index, as: Float.self)
            samples.storeBytes(of: Float(Double(sample) * gain), toByteOffset: 4 * index, as: Float.self)
        }
    }
}
