import NowPlaying

/// Fades one sound into another that begins in its middle, so that there is no step between them.
package enum CrossFade {
    /// Mixes the frames of `old` into as many of `new`: only `old` at the first frame, only `new` after the last. Both
    /// contain whole frames of `format`; the excess of the longer one stays unchanged.
    package static func apply(
        _ old: UnsafeRawBufferPointer, into new: UnsafeMutableRawBufferPointer, _ format: AudioFormat
    ) {
        let channels = format.channels.count
        let frames = min(old.count, new.count) / format.bytesPerFrame
        guard frames > 0, let from = old.baseAddress, let to = new.baseAddress else { return }
        for index in 0..<(frames * channels) {
            let share = Double(index / channels + 1) / Double(frames + 1)
            func mixed(_ old: Double, _ new: Double) -> Double { old + (new - old) * share }
            switch format.sampleFormat {
            case .int16:
                let results = to.assumingMemoryBound(to: Int16.self)
                let value = mixed(Double(from.assumingMemoryBound(to: Int16.self)[index]), Double(results[index]))
                results[index] = Int16(clamping: value.rounded())
            case .int24:
                let value = mixed(Double(PackedSample.load(from, index)), Double(PackedSample.load(to, index)))
                PackedSample.store(PackedSample.rounded(value), to, index)
            case .int32:
                let results = to.assumingMemoryBound(to: Int32.self)
                let value = mixed(Double(from.assumingMemoryBound(to: Int32.self)[index]), Double(results[index]))
                results[index] = Int32(clamping: value.rounded())
            case .float32:
                let results = to.assumingMemoryBound(to: Float.self)
                let value = mixed(Double(from.assumingMemoryBound(to: Float.self)[index]), Double(results[index]))
                results[index] = Float(value)
            }
        }
    }
}
