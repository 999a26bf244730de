import AudioCore
import LinuxSystem
import MixedOutput
import NowPlaying

/// A sink with a room that hears its frames.
@PlayerLoop protocol RoomOutput: MixSink {
    /// Sample that the room hears at an instant; nil: silence.
    func sample(at time: MonotonicTime) -> Int32?
    /// False if a player can't know then at which times the room hears its frames.
    func isKnown(at time: MonotonicTime) -> Bool
    /// Ends the sink's present work.
    func end()
}

extension RoomOutput {
    func isKnown(at time: MonotonicTime) -> Bool { true }
    func end() {}
}

/// A sink whose room plays each frame a fixed time after it was taken, at the frames' own pace, on simulated time.
@PlayerLoop final class RoomSink: RoomOutput {
    /// One channel of 32 bits, so that a sample can say which frame of which item it is.
    nonisolated static let room = FixedFormat(.int32, sampleRate: 8000, channels: 1)!

    weak var owner: (any MixSinkOwner)?
    let format = RoomSink.room
    let lead = 0.2
    let delay: Double
    let patience = 0.02
    private(set) var isConnected = false
    private(set) var isConnecting = false
    private let loop: EventLoop
    /// Runs of frames without a gap: the instant at which the first one is heard, and all samples.
    private var runs: [(start: MonotonicTime, samples: [Int32])] = []

    /// `delay`: seconds from the instant at which a frame is due to its being heard.
    init(_ loop: EventLoop, delay: Double) {
        self.loop = loop
        self.delay = delay
    }

    var device: OutputDevice {
        OutputDevice(
            name: "room", description: "room", state: .running, isDefault: true, format: format.audioFormat,
            exactBits: 32, takesFloat: false)
    }

    func connect() {
        guard !isConnected, !isConnecting else { return }
        isConnecting = true
        loop.later { [self] in
            isConnecting = false
            isConnected = true
            owner?.sinkConnected()
        }
    }

    func disconnect() { isConnected = false }
    func stall() {}
    func watch(_ handler: @escaping @PlayerLoop () -> Void) -> AnyObject { self }

    func send(_ frames: UnsafeRawBufferPointer) -> Int {
        let now = EventLoop.now.advanced(bySeconds: delay)
        let samples = frames.withMemoryRebound(to: Int32.self) { Array($0) }
        if let last = runs.last, end(of: last) >= now {
            runs[runs.count - 1].samples += samples
        } else {
            runs.append((now, samples))
        }
        return frames.count
    }

    private func end(of run: (start: MonotonicTime, samples: [Int32])) -> MonotonicTime {
        run.start.advanced(bySeconds: Double(run.samples.count) / Double(format.sampleRate))
    }

    func sample(at time: MonotonicTime) -> Int32? {
        guard let run = runs.last(where: { $0.start <= time }) else { return nil }
        let index = Int(time.seconds(since: run.start) * Double(format.sampleRate))
        return index < run.samples.count && run.samples[index] != 0 ? run.samples[index] : nil
    }
}

/// A sample that says its item and its frame.
enum RoomCode {
    private static let frames: Int32 = 1 << 24

    /// Sample of a frame of the item with this number, 1 to 100.
    static func sample(item: Int64, frame: Int64) -> Int32 { Int32(item) * frames + Int32(frame) }

    /// Item and frame of a sample.
    static func decode(_ sample: Int32) -> (item: Int64, frame: Int64) {
        (Int64(sample / frames), Int64(sample % frames))
    }
}
