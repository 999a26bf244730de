import AudioCore

/// Converts the frames of one stream to frames of the device: doubles in its channels, at its rate.
final class StreamConverter {
    private let format: AudioFormat
    private let target: FixedFormat
    private let matrix: ChannelMatrix
    private let resampler: Resampler?
    /// Samples of the stream, and the same in the channels of the device.
    private var samples: [Double]
    private var mapped: [Double]
    /// True while the resampler returns its last frames.
    private(set) var isEnding = false
    /// True if the frames of the last call have no more bits than the device.
    private(set) var isExact = true

    /// Frames read at once.
    private static let piece = 1024

    /// A converter without frames. Nil: libsoxr is missing, or refuses these rates.
    init?(from format: AudioFormat, to target: FixedFormat) {
        self.format = format
        self.target = target
        matrix = ChannelMatrix(from: format.channels, to: target.audioFormat.channels)
        samples = Array(repeating: 0, count: Self.piece * format.channels.count)
        mapped = Array(repeating: 0, count: Self.piece * target.channels)
        if format.sampleRate == target.sampleRate {
            resampler = nil
        } else {
            guard let made = Resampler(from: format.sampleRate, to: target.sampleRate, channels: target.channels) else {
                return nil
            }
            resampler = made
        }
    }

    /// Number of frames of the stream per frame of the device.
    var ratio: Double { Double(format.sampleRate) / Double(target.sampleRate) }

    /// Fills `result`, whole frames of the device, from the store as far as possible, at its end with the last frames
    /// of the resampler. Returns the number of frames. If fewer than fit, the stream's frames have ended, and later
    /// ones begin a new signal.
    func make(from store: inout FrameStore, into result: UnsafeMutableBufferPointer<Double>) -> Int {
        isExact = resampler == nil && matrix.isSelection
        let wanted = result.count / target.channels
        var made = 0
        while made < wanted, !isEnding {
            let rest = UnsafeMutableBufferPointer(rebasing: result[(made * target.channels)...])
            let (taken, given) = step(store, into: rest)
            store.take(taken)
            made += given
            if taken == 0, given == 0 { isEnding = true }
        }
        guard let resampler else {
            isEnding = false
            return made
        }
        while made < wanted, isEnding {
            let rest = UnsafeMutableBufferPointer(rebasing: result[(made * target.channels)...])
            let given = resampler.finish(into: rest)
            made += given
            if given == 0 { clear() }
        }
        return made
    }

    /// Converts one piece of the store's first frames.
    private func step(
        _ store: FrameStore, into result: UnsafeMutableBufferPointer<Double>
    ) -> (taken: Int, given: Int) {
        let room = resampler == nil ? result.count / target.channels : Self.piece
        let count = read(store, min(Self.piece, room))
        return samples.withUnsafeBufferPointer { samples in
            let frames = UnsafeBufferPointer(rebasing: samples[..<(count * format.channels.count)])
            guard let resampler else {
                matrix.apply(frames, into: result)
                return (count, count)
            }
            return mapped.withUnsafeMutableBufferPointer { mapped in
                matrix.apply(frames, into: mapped)
                return resampler.process(
                    UnsafeBufferPointer(rebasing: mapped[..<(count * target.channels)]), into: result)
            }
        }
    }

    /// Reads up to `limit` of the store's first frames. Returns their number.
    private func read(_ store: FrameStore, _ limit: Int) -> Int {
        store.withFirst(limit) { bytes in
            if !Quantizer.fits(bytes, format.sampleFormat, target.sample) { isExact = false }
            samples.withUnsafeMutableBufferPointer { Quantizer.read(bytes, format.sampleFormat, into: $0) }
            return bytes.count / format.bytesPerFrame
        }
    }

    /// Drops all frames that were taken and not returned.
    func clear() {
        isEnding = false
        resampler?.clear()
    }
}
