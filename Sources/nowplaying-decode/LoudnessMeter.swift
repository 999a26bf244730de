import CEBUR128
import ChildDecoding
import NowPlaying

/// Measures the loudness and the true peak of frames in one format, by libebur128.
final class LoudnessMeter {
    private var state: UnsafeMutablePointer<ebur128_state>?
    private let format: WireFormat
    private var blocks = LoudnessBlocks()
    /// Frames of a step: 100 ms. A block is four steps long and begins at each.
    private let step: Int
    /// Frames so far, and those of the step in progress.
    private var frames: Int64 = 0
    private var inStep = 0
    /// Mean squares of the last steps, as many as a block has.
    private var energies: [Double] = []

    private static let stepsPerBlock = 4
    private static let stepMilliseconds: UInt = 100

    /// A meter for frames of this format. Throws `WireFailure` if the memory is short.
    init(_ format: WireFormat) throws(WireFailure) {
        self.format = format
        step = (format.sampleRate + 5) / 10
        state = ebur128_init(UInt32(format.positions.count), UInt(format.sampleRate), loudness_meter_modes)
        guard state != nil else { throw WireFailure(.broken, "no memory left") }
        for (index, position) in format.positions.enumerated() {
            ebur128_set_channel(state, UInt32(index), Self.weight(position))
        }
    }

    deinit { ebur128_destroy(&state) }

    /// Measures interleaved frames. Throws `WireFailure` if the memory is short.
    func add(_ bytes: UnsafeRawBufferPointer) throws(WireFailure) {
        var rest = bytes
        while !rest.isEmpty {
            let count = min(rest.count / format.bytesPerFrame, step - inStep)
            guard count > 0, let start = rest.baseAddress else { return }
            guard take(start, count) == 0 else { throw WireFailure(.broken, "no memory left") }
            rest = UnsafeRawBufferPointer(rebasing: rest[(count * format.bytesPerFrame)...])
            frames += Int64(count)
            inStep += count
            guard inStep == step else { continue }
            inStep = 0
            endStep()
        }
    }

    /// Counts the block that ends with a step. Its mean square is the mean of those of its steps, so that each frame is squared
    /// once.
    private func endStep() {
        var loudness = 0.0
        guard ebur128_loudness_window(state, Self.stepMilliseconds, &loudness) == 0 else { return }
        // Silence has a loudness of minus infinity.
        energies.append(loudness.isFinite ? LoudnessBlocks.energy(loudness) : 0)
        guard energies.count >= Self.stepsPerBlock else { return }
        blocks.add(LoudnessBlocks.loudness(energies.reduce(0, +) / Double(Self.stepsPerBlock)))
        energies.removeFirst()
    }

    private func take(_ start: UnsafeRawPointer, _ count: Int) -> Int32 {
        switch format.sample {
        case .int16: ebur128_add_frames_short(state, start.assumingMemoryBound(to: Int16.self), count)
        case .int32: ebur128_add_frames_int(state, start.assumingMemoryBound(to: Int32.self), count)
        case .float32: ebur128_add_frames_float(state, start.assumingMemoryBound(to: Float.self), count)
        }
    }

    /// The result for all frames so far.
    var result: WireLoudness {
        let peaks = format.positions.indices.map { channel in
            var peak = 0.0
            ebur128_true_peak(state, UInt32(channel), &peak)
            return peak.isFinite ? min(max(peak, 0), 1000) : 0
        }
        return WireLoudness(
            blocks: blocks, truePeak: peaks.max() ?? 0, seconds: Double(frames) / Double(format.sampleRate))
    }

    /// The weight of a loudspeaker by its bit of dwChannelMask: those behind and at the sides weigh 1.5 dB more, and the low
    /// frequency effects nothing (ITU-R BS.1770-5, annex 1, as FFmpeg's ebur128 applies it).
    private static func weight(_ position: UInt8) -> Int32 {
        switch position {
        case 3: loudness_unused
        case 4, 5, 8, 9, 10, 15, 16, 17: loudness_behind
        default: loudness_plain
        }
    }
}
