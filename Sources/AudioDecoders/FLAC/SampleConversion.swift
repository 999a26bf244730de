import AudioCore

/// Interleaves the samples of FLAC's channels as integers. Real-time leaves: no allocation, no lock. The compiler
/// vectorizes the loops.
enum SampleConversion {
    /// Channels of samples, each sample in the low `bitsPerSample` bits of an Int32.
    typealias Planes = UnsafePointer<UnsafePointer<Int32>?>

    /// Writes `frames` frames from `first` on to `target` in this format of integers, which has room for their bits.
    static func convert(
        _ planes: Planes, channels: Int, bitsPerSample: Int, first: Int, frames: Int, _ format: SampleFormat,
        to target: UnsafeMutableRawPointer
    ) {
        switch format {
        case .int16:
            int16(planes, channels: channels, bitsPerSample: bitsPerSample, first: first, frames: frames, to: target)
        case .int24:
            int24(planes, channels: channels, bitsPerSample: bitsPerSample, first: first, frames: frames, to: target)
        case .int32, .float32:
            int32(planes, channels: channels, bitsPerSample: bitsPerSample, first: first, frames: frames, to: target)
        }
    }

    /// Writes `frames` frames from `first` on to `target` in 3 bytes each, shifted up to 24 bits.
    static func int24(
        _ planes: Planes, channels: Int, bitsPerSample: Int, first: Int, frames: Int, to target: UnsafeMutableRawPointer
    ) {
        let shift = Int32(24 - bitsPerSample)
        var start = 0
        #if _endian(little)
            if channels == 2 {
                let left = planes[0]! + first
                let right = planes[1]! + first
                // A frame has 6 bytes; the 2 zero bytes after them are overwritten by the next frame.
                start = max(0, frames - 1)
                for index in 0..<start {
                    let low = UInt64(UInt32(bitPattern: left[index] &<< shift) & 0xff_ffff)
                    let high = UInt64(UInt32(bitPattern: right[index] &<< shift) & 0xff_ffff)
                    target.storeBytes(of: low | high &<< 24, toByteOffset: 6 &* index, as: UInt64.self)
                }
            }
        #endif
        for channel in 0..<channels {
            let input = planes[channel]! + first
            for index in start..<frames {
                PackedSample.store(input[index] &<< shift, target, index &* channels &+ channel)
            }
        }
    }

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
