/// Interleaves the samples of FLAC's channels as int16 or int32. Real-time leaves: no allocation, no lock. The compiler
/// vectorizes the loops.
enum SampleConversion {
    /// Channels of samples, each sample in the low `bitsPerSample` bits of an Int32.
    typealias Planes = UnsafePointer<UnsafePointer<Int32>?>

    /// Writes `frames` frames from `first` on to `target` as Int16, shifted up to 16 bits.
    static func int16(
        _ planes: Planes, channels: Int, bitsPerSample: Int, first: Int, frames: Int, to target: UnsafeMutableRawPointer
    ) {
        let shift = Int32(16 - bitsPerSample)
        let output = target.assumingMemoryBound(to: Int16.self)
        if channels == 2 {
            let left = planes[0]! + first
            let right = planes[1]! + first
            for index in 0..<frames {
                output[2 &* index] = Int16(truncatingIfNeeded: left[index] &<< shift)
                output[2 &* index &+ 1] = Int16(truncatingIfNeeded: right[index] &<< shift)
            }
            return
        }
        for channel in 0..<channels {
            let input = planes[channel]! + first
            var position = channel
            for index in 0..<frames {
                output[position] = Int16(truncatingIfNeeded: input[index] &<< shift)
                position &+= channels
            }
        }
    }

    /// Writes `frames` frames from `first` on to `target` as Int32, shifted up to 32 bits.
    static func int32(
        _ planes: Planes, channels: Int, bitsPerSample: Int, first: Int, frames: Int, to target: UnsafeMutableRawPointer
    ) {
        let shift = Int32(32 - bitsPerSample)
        let output = target.assumingMemoryBound(to: Int32.self)
        if channels == 2 {
            let left = planes[0]! + first
            let right = planes[1]! + first
            for index in 0..<frames {
                output[2 &* index] = left[index] &<< shift
                output[2 &* index &+ 1] = right[index] &<< shift
            }
            return
        }
        for channel in 0..<channels {
            let input = planes[channel]! + first
            var position = channel
            for index in 0..<frames {
                output[position] = input[index] &<< shift
                position &+= channels
            }
        }
    }
}
