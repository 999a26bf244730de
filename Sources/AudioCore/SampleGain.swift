import CLinux
import NowPlaying

/// Multiplies frames before output, by a constant factor or one that moves evenly from one value to another.
///
/// Samples of 16 bit are rounded with triangular dither of ±1 step: rounding alone would turn quiet passages into
/// distortion that follows the music, dither turns it into even noise at −93 dB. Silence stays silence, and the factor
/// 0 makes silence, so that amplifiers with standby still enter it. Samples of 24 and 32 bit are rounded without dither,
/// because their error lies 48 and 90 dB lower. The dither of a frame depends on its number alone, so that a frame that
/// is sent again has the same samples.
package enum SampleGain {
    /// Writes `source` times a factor into `target` of the same size. `source` has whole frames of `format`, the first
    /// with the number `frame`; the factor goes from `start` to just before `end`. Samples beyond full scale are
    /// clipped.
    package static func apply(
        _ source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer, _ format: AudioFormat,
        from start: Double, to end: Double, frame: Int64
    ) {
        let channels = format.channels.count
        let frames = source.count / format.bytesPerFrame
        precondition(target.count >= source.count && frames * format.bytesPerFrame == source.count)
        let step = frames > 0 ? (end - start) / Double(frames) : 0
        guard frames > 0, let from = source.baseAddress, let to = target.baseAddress else { return }
        switch format.sampleFormat {
        case .int16:
            let samples = from.assumingMemoryBound(to: Int16.self)
            let results = to.assumingMemoryBound(to: Int16.self)
            let number = UInt64(bitPattern: frame) &* UInt64(channels)
            // The vector code takes as many frames as fit its vectors, with the same results.
            let done = linux_gain_int16(samples, results, frames, Int32(channels), start, step, number)
            scale(samples, results, done..<frames, channels, from: start, step, number)
        case .int24:
            let done = linux_gain_int24(from, to, frames, Int32(channels), start, step)
            scale(from, to, done..<frames, channels, from: start, step)
        case .int32:
            let samples = from.assumingMemoryBound(to: Int32.self)
            let results = to.assumingMemoryBound(to: Int32.self)
            let done = linux_gain_int32(samples, results, frames, Int32(channels), start, step)
            scale(samples, results, done..<frames, channels, from: start, step)
        case .float32:
            let samples = from.assumingMemoryBound(to: Float.self)
            let results = to.assumingMemoryBound(to: Float.self)
            let done = linux_gain_float(samples, results, frames, Int32(channels), start, step)
            scale(samples, results, done..<frames, channels, from: start, step)
        }
    }

    /// Multiplies these frames one by one. `number`: that of the first sample of frame 0. This method defines the
    /// results.
    static func scale(
        _ samples: UnsafePointer<Int16>, _ results: UnsafeMutablePointer<Int16>, _ frames: Range<Int>,
        _ channels: Int, from start: Double, _ step: Double, _ number: UInt64
    ) {
        var number = number &+ UInt64(frames.lowerBound * channels)
        for index in frames {
            let factor = Float(start + step * Double(index))
            var all: Int16 = 0
            for slot in (index * channels)..<((index + 1) * channels) { all |= samples[slot] }
            if factor == 0 { all = 0 }
            for slot in (index * channels)..<((index + 1) * channels) {
                let value = (Float(samples[slot]) * factor + Dither.triangular(number)).rounded()
                results[slot] = all == 0 ? 0 : Int16(clamping: max(-32768, min(32767, value)))
                number &+= 1
            }
        }
    }
    /// The same for integers of 24 bit in 3 bytes, without dither.
    static func scale(
        _ samples: UnsafeRawPointer, _ results: UnsafeMutableRawPointer, _ frames: Range<Int>, _ channels: Int,
        from start: Double, _ step: Double
    ) {
        for index in frames {
            let factor = start + step * Double(index)
            for slot in (index * channels)..<((index + 1) * channels) {
                let value = Double(PackedSample.load(samples, slot)) * factor
                PackedSample.store(PackedSample.rounded(value), results, slot)
            }
        }
    }

    /// The same for integers of 32 bit.
    static func scale(
        _ samples: UnsafePointer<Int32>, _ results: UnsafeMutablePointer<Int32>, _ frames: Range<Int>,
        _ channels: Int, from start: Double, _ step: Double
    ) {
        for index in frames {
            let factor = start + step * Double(index)
            for slot in (index * channels)..<((index + 1) * channels) {
                let value = (Double(samples[slot]) * factor).rounded()
                results[slot] = Int32(clamping: max(-2_147_483_648, min(2_147_483_647, value)))
            }
        }
    }

    /// The same for floating-point samples.
    static func scale(
        _ samples: UnsafePointer<Float>, _ results: UnsafeMutablePointer<Float>, _ frames: Range<Int>,
        _ channels: Int, from start: Double, _ step: Double
    ) {
        for index in frames {
            let factor = Float(start + step * Double(index))
            for slot in (index * channels)..<((index + 1) * channels) { results[slot] = samples[slot] * factor }
        }
    }
}
