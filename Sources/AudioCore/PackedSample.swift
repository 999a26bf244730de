import NowPlaying

/// Samples of `SampleFormat.int24`: 3 bytes in native order, at any address.
package enum PackedSample {
    /// Largest and least value.
    package static let range: ClosedRange<Int32> = -0x80_0000...0x7f_ffff

    /// The sample with this index.
    @inline(__always) package static func load(_ samples: UnsafeRawPointer, _ index: Int) -> Int32 {
        let bytes = samples + 3 &* index
        let (first, middle, last) = (
            UInt32(bytes.load(as: UInt8.self)), UInt32(bytes.load(fromByteOffset: 1, as: UInt8.self)),
            UInt32(bytes.load(fromByteOffset: 2, as: UInt8.self))
        )
        // The sample at the top of 32 bits, so that the shift down extends its sign.
        #if _endian(little)
            return Int32(bitPattern: first &<< 8 | middle &<< 16 | last &<< 24) &>> 8
        #else
            return Int32(bitPattern: first &<< 24 | middle &<< 16 | last &<< 8) &>> 8
        #endif
    }

    /// Writes the low 24 bits of `value` as the sample with this index.
    @inline(__always) package static func store(_ value: Int32, _ samples: UnsafeMutableRawPointer, _ index: Int) {
        let bytes = samples + 3 &* index
        let low = UInt8(truncatingIfNeeded: value)
        let middle = UInt8(truncatingIfNeeded: value &>> 8)
        let high = UInt8(truncatingIfNeeded: value &>> 16)
        bytes.storeBytes(of: middle, toByteOffset: 1, as: UInt8.self)
        #if _endian(little)
            bytes.storeBytes(of: low, as: UInt8.self)
            bytes.storeBytes(of: high, toByteOffset: 2, as: UInt8.self)
        #else
            bytes.storeBytes(of: high, as: UInt8.self)
            bytes.storeBytes(of: low, toByteOffset: 2, as: UInt8.self)
        #endif
    }

    /// Rounds `value` to a sample; beyond full scale it is clipped.
    @inline(__always) package static func rounded(_ value: Double) -> Int32 {
        Int32(clamping: max(Double(range.lowerBound), min(Double(range.upperBound), value.rounded())))
    }
}
