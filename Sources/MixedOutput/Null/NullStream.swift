import AudioCore
package import LinuxSystem
import NowPlaying

/// A stream without a device that behaves as a server's stream: it requests frames, runs empty, drains, and has a
/// timing.
@PlayerLoop package final class NullStream: SimulatedStream {
    /// Start of the flow, and its first frame; nil: no frames flow.
    private var flow: (since: MonotonicTime, from: Int64)?
    private var deadline: EventSource?

    /// A stream with the buffering of a server's stream. It does nothing before `begin`.
    init(_ loop: EventLoop, _ format: AudioFormat, isLive: Bool, _ delegate: any AudioStreamDelegate) {
        super.init(loop, format, StreamQueue(StreamBuffering(format, isLive: isLive)), delegate)
    }

    override func end() {
        deadline?.release()
        deadline = nil
        flow = nil
        super.end()
    }

    // MARK: Time

    private func elapsedFrames(since start: MonotonicTime, _ now: MonotonicTime) -> Double {
        max(0, now.seconds(since: start)) * Double(format.sampleRate)
    }

    override func timing(at now: MonotonicTime) -> StreamTiming {
        let audible = flow.map { Double($0.from) + elapsedFrames(since: $0.since, now) } ?? Double(queue.position)
        return StreamTiming(
            time: now, audibleFrame: min(audible, Double(max(queue.end, queue.position))), takenFrame: queue.position,
            isPlaying: flow != nil, latency: 0, roundTrip: 0)
    }

    override func becomeReady() { requestNow() }

    override func stopFlow() { flow = nil }

    /// Plays up to the present instant.
    override func advance(_ now: MonotonicTime) {
        guard let flow else { return }
        take(upTo: flow.from + Int64(clamping: elapsedFrames(since: flow.since, now)))
        guard queue.queued == 0 else { return }
        self.flow = nil
        if isDraining {
            completeDrains()
        } else {
            notify { [self] in $0.streamUnderflowed(self) }
        }
    }

    /// Starts if there are enough frames, requests more if there is room, and sets the deadline of the next work.
    override func goOn() {
        guard isOpen else { return }
        if flow == nil, !isCorked, queue.queued > 0, isDraining || queue.queued >= queue.prebuffer {
            flow = (EventLoop.now, queue.position)
            notify { [self] in $0.streamStarted(self) }
        }
        if flow == nil, !isCorked, queue.queued == 0 { completeDrains() }
        request()
        guard let flow else {
            deadline?.release()
            deadline = nil
            return
        }
        let next = min(queue.end, max(queue.nextRequest, queue.position + 1))
        // One microsecond more, because rounding could wake this process just before the frame.
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
}
