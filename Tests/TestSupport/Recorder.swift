import Glibc
import LinuxSystem
package import NowPlaying
import Synchronization

/// Records the output of a sink, from its monitor, until it is stopped.
package final class Recorder: Sendable {
    /// When a number of bytes had arrived.
    private struct Arrival {
        var bytes: Int
        var time: MonotonicTime
    }
    private struct State {
        var bytes: [UInt8] = []
        var arrivals: [Arrival] = []
        var waiting: [(bytes: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var hasEnded = false
    }

    private let process: TestProcess
    private let state = Mutex(State())
    /// Bytes of one frame.
    package let bytesPerFrame: Int
    private let rate: Int

    /// Starts to record in the sink's own format, and returns when the recorder can be trusted, which is after 2.5 s of
    /// recorded time. `latency`, in milliseconds (nil: the shortest that the server bears): a device works in steps of the
    /// smallest latency that a client asks for, so a short one hides the behaviour of a device that takes seconds ahead.
    package static func start(_ server: SoundServer, _ sink: TestSink, latency: Int? = nil) async -> Recorder {
        let latency = latency ?? server.recorderLatency
        let recorder = await LoopThread.run { Recorder(server, sink, latency) }
        recorder.readInBackground()
        await recorder.waitFor(frames: sink.rate * 5 / 2)
        return recorder
    }

    private init(_ server: SoundServer, _ sink: TestSink, _ latency: Int) {
        bytesPerFrame = (["s16le": 2, "s24le": 3][sink.format] ?? 4) * sink.channels
        rate = sink.rate
        process = TestProcess(
            [
                "parec", "--server=\(server.address)", "--device=\(sink.name).monitor", "--raw",
                "--format=\(sink.format)", "--rate=\(sink.rate)", "--channels=\(sink.channels)",
                "--channel-map=\(sink.channelMap)", "--latency-msec=\(latency)", "--no-remix", "--no-remap",
            ], environment: currentEnvironment(), output: true)
    }

    private func readInBackground() {
        let started = DetachedThread.start("recorder") { [self] in
            var buffer = [UInt8](repeating: 0, count: 65536)
            while case let count = read(process.output, &buffer, buffer.count), count > 0 {
                let now = EventLoop.now
                let ready = state.withLock { state in
                    state.bytes += buffer[..<count]
                    state.arrivals.append(Arrival(bytes: state.bytes.count, time: now))
                    let reached = state.bytes.count
                    defer { state.waiting.removeAll { $0.bytes <= reached } }
                    return state.waiting.filter { $0.bytes <= reached }
                }
                for entry in ready { entry.continuation.resume() }
            }
            close(process.output)
            // The waits end, as nothing more is recorded: the test uses the frames so far.
            let rest = state.withLock { state in
                state.hasEnded = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for entry in rest { entry.continuation.resume() }
        }
        precondition(started)
    }

    /// Frames recorded so far.
    package var frames: Int { state.withLock { $0.bytes.count } / bytesPerFrame }

    /// Returns when this many frames, counted from the beginning, are recorded, or the recording has ended.
    package func waitFor(frames: Int) async {
        let needed = frames * bytesPerFrame
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.bytes.count >= needed || state.hasEnded { return true }
                state.waiting.append((needed, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Returns when `seconds` more are recorded than now.
    package func waitFor(more seconds: Double) async {
        await waitFor(frames: frames + Int(seconds * Double(rate)))
    }

    /// Whole frames recorded so far.
    package func bytes() -> [UInt8] {
        state.withLock { Array($0.bytes.prefix($0.bytes.count / bytesPerFrame * bytesPerFrame)) }
    }

    /// Runs of the position code recorded so far; computed on another thread than the loop's.
    @concurrent package func runs() async -> [PositionCode.Run] { PositionCode.runs(int16Samples(bytes())) }

    /// Returns when a frame of the position code that is not before this one is recorded, or 20 s have been recorded
    /// without it, or the recording has ended: the test uses the frames so far.
    @concurrent package func heard(frame: Int) async {
        var checked = max(0, frames - 400)
        let last = frames + 20 * rate
        while frames < last, !state.withLock({ $0.hasEnded }) {
            let part = state.withLock { state in
                let end = state.bytes.count / bytesPerFrame * bytesPerFrame
                return Array(state.bytes[min(checked * bytesPerFrame, end)..<end])
            }
            if PositionCode.runs(int16Samples(part)).contains(where: { $0.frame + $0.count > frame }) { return }
            // Recorded frames are read once, but for those with which a stretch of code may have begun.
            checked = max(checked, checked + part.count / bytesPerFrame - 400)
            await waitFor(more: 0.01)
        }
    }

    /// Time at which a recorded frame was played, as near as arrivals show: by the quickest of them, whose delay remains.
    package func time(ofFrame frame: Int) -> MonotonicTime {
        state.withLock { state in
            let rate = Double(self.rate)
            let origin = state.arrivals.dropFirst(state.arrivals.count / 4).map { arrival in
                arrival.time.advanced(bySeconds: -Double(arrival.bytes / bytesPerFrame) / rate).nanoseconds
            }.min()
            return MonotonicTime(nanoseconds: origin ?? 0).advanced(bySeconds: Double(frame) / rate)
        }
    }

    /// Seconds of sound that the sink lost from the first third of the recording to the last, by the quickest arrivals of each.
    package var loss: Double {
        state.withLock { state in
            let third = state.arrivals.count / 3
            guard third > 0 else { return .infinity }
            func origin(_ arrivals: some Sequence<Arrival>) -> Double {
                arrivals.map { arrival in
                    arrival.time.seconds(since: MonotonicTime(nanoseconds: 0))
                        - Double(arrival.bytes / bytesPerFrame) / Double(rate)
                }.min() ?? 0
            }
            return origin(state.arrivals.suffix(third)) - origin(state.arrivals.prefix(third))
        }
    }

    /// Ends the recording.
    package func stop() { process.end() }
}
