/// Noise to add before a sample is rounded: it turns distortion that follows the music into even noise.
package enum Dither {
    /// Noise of triangular distribution between −1 and 1: the difference of two evenly distributed numbers. A hash of
    /// the sample's own number gives both, so that the same sample gets the same noise again.
    @inline(__always) package static func triangular(_ number: UInt64) -> Float {
        var mixed = number &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 32)) &* 0xD6E8_FEB8_6659_FD93
        mixed = (mixed ^ (mixed >> 32)) &* 0xD6E8_FEB8_6659_FD93
        mixed ^= mixed >> 32
        return (Float(mixed & 0xFF_FFFF) - Float(mixed >> 40)) / 16_777_216
    }
}
