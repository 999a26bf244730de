package import AudioCore
package import LinuxSystem
import NowPlaying

/// A stream into a file. It never runs empty: it waits for frames, and its time stands still meanwhile.
///
/// Written frames wait in a queue and go to the file in pieces, each in an idle turn of the loop, so that all events of
/// a piece come before the next one. Until then they may be rewritten. A corked stream sends none.
@PlayerLoop package final class FileStream: SimulatedStream {
    package override var isPaced: Bool { false }

    /// Bytes written to the file in one turn of the loop.
    private static let piece = 256 << 10
    private unowned let output: FileOutput
    private var store: FrameStore
    private var isFlowing = false
    private var awaitsRewrite = false
    private var work: EventSource?

    /// A stream with a queue of two seconds, or of 2 MiB if that is less. It does nothing before `begin`.
    init(_ output: FileOutput, _ loop: EventLoop, _ format: AudioFormat, _ delegate: any AudioStreamDelegate) {
        self.output = output
        store = FrameStore(bytesPerFrame: format.bytesPerFrame)
        // Two seconds: enough to decode in large pieces, with little memory.
        let target = min(2 * Int64(format.sampleRate), Int64((2 << 20) / format.bytesPerFrame))
        super.init(
            loop, format, StreamQueue(target: target, refill: max(1, target / 2), prebuffer: max(1, target / 8)),
            delegate)
    }

    override func end() {
        work?.release()
        work = nil
        store.close()
        super.end()
    }

    // MARK: Commands

    override func keep(_ frames: UnsafeRawBufferPointer, at start: Int64) { store.write(frames, at: start) }

    package override func awaitRewrite(_ isAwaited: Bool) {
        awaitsRewrite = isAwaited
        goOn()
    }

    override func stopFlow() {
        isFlowing = false
        output.completeHeader()
    }

    override func dropKept() { store.clear(next: queue.position) }

    override func timing(at now: MonotonicTime) -> StreamTiming {
        StreamTiming(
            time: now, audibleFrame: Double(queue.position), takenFrame: queue.position, isPlaying: isFlowing,
            latency: 0, roundTrip: 0)
    }

    package override var presentTiming: StreamTiming? { isOpen && isReady ? timing(at: EventLoop.now) : nil }

    // MARK: Flow

    /// Starts if there are enough frames, requests more if there is room, completes drains, and schedules further work.
    override func goOn() {
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
        request()
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
        let count = Int(min(queue.queued, max(1, Int64(Self.piece / format.bytesPerFrame))))
        do throws(OutputError) { try append(count, output.gain) } catch { return fail(error) }
        store.take(count)
        take(upTo: queue.position + Int64(count))
        goOn()
    }

    /// Writes this many of the first kept frames.
    private func append(_ count: Int, _ gain: Double) throws(OutputError) {
        let failure = store.withFirst(count) { kept -> OutputError? in
            do throws(OutputError) {
                guard gain != 1 else {
                    try output.append(kept, format)
                    return nil
                }
                let louder = UnsafeMutableRawBufferPointer.allocate(byteCount: kept.count, alignment: 8)
                defer { louder.deallocate() }
                louder.copyMemory(from: kept)
                amplify(louder, format.sampleFormat, gain)
                try output.append(UnsafeRawBufferPointer(louder), format)
                return nil
            } catch { return error }
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
    case .int24:
        guard let start = samples.baseAddress else { return }
        for index in 0..<(samples.count / format.bytes) {
            PackedSample.store(PackedSample.rounded(Double(PackedSample.load(start, index)) * gain), start, index)
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
