import CSoxr

/// Changes the sample rate at very high quality (28 bit, linear phase). Output frame 0 corresponds to input frame 0:
/// frames taken ahead compensate for the delay of the filter.
final class Resampler {
    private let library: SoxrLibrary
    private let handle: soxr_t
    private let channels: Int

    /// A resampler of interleaved frames. Nil: libsoxr is missing, or refuses these rates.
    init?(from inputRate: Int, to outputRate: Int, channels: Int) {
        guard let library = SoxrLibrary.shared else { return nil }
        var formats = library.formats(SOXR_FLOAT64_I, SOXR_FLOAT64_I)
        var quality = library.quality(UInt(SOXR_28_BITQ), 0)
        guard
            let made = library.create(
                Double(inputRate), Double(outputRate), UInt32(channels), nil, &formats, &quality, nil)
        else { return nil }
        self.library = library
        self.channels = channels
        handle = made
    }

    deinit { library.delete(handle) }

    /// Takes frames of `source` and fills `target` as far as possible. Returns the numbers of frames.
    func process(
        _ source: UnsafeBufferPointer<Double>, into target: UnsafeMutableBufferPointer<Double>
    ) -> (taken: Int, given: Int) {
        var taken = 0
        var given = 0
        _ = library.process(
            handle, source.baseAddress, source.count / channels, &taken, target.baseAddress, target.count / channels,
            &given)
        return (taken, given)
    }

    /// Fills `target` with the last frames after the end of the input. Returns their number; 0: none are left.
    func finish(into target: UnsafeMutableBufferPointer<Double>) -> Int {
        var given = 0
        _ = library.process(handle, nil, 0, nil, target.baseAddress, target.count / channels, &given)
        return given
    }

    /// Drops all frames, for a new start.
    func clear() {
        _ = library.clear(handle)
    }
}
