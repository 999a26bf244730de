/// Audio made for tests: known samples, and files that contain them, written by hand so that no library of ours is checked
/// against itself.
package struct AudioMaterial: Sendable {
    /// Frames a second.
    package var sampleRate: Int
    package var channels: Int
    /// Bits of each sample.
    package var bits: Int
    /// Interleaved samples, each a signed number of `bits` bits.
    package var samples: [Int32]

    /// Frames from beginning to end.
    package var frames: Int { samples.count / channels }

    /// Material of these samples.
    package init(sampleRate: Int, channels: Int, bits: Int, samples: [Int32]) {
        self.sampleRate = sampleRate
        self.channels = channels
        self.bits = bits
        self.samples = samples
    }

    /// Noise over the full range of the samples, its extremes among them: every sample differs from its neighbours, so that
    /// any shift shows. The same `seed` gives the same noise.
    package static func noise(
        frames: Int, sampleRate: Int = 44_100, channels: Int = 2, bits: Int = 16, seed: UInt64 = 1
    ) -> AudioMaterial {
        var random = SeededRandom(seed: seed)
        let shift = Int64(64 - bits)
        var samples = (0..<frames * channels).map { _ in
            Int32(truncatingIfNeeded: Int64(bitPattern: random.next()) >> shift)
        }
        if samples.count > 4 {
            samples[1] = Int32(truncatingIfNeeded: Int64.max >> shift)
            samples[2] = Int32(truncatingIfNeeded: Int64.min >> shift)
        }
        return AudioMaterial(sampleRate: sampleRate, channels: channels, bits: bits, samples: samples)
    }

    /// Something like music: slow waves with a little noise, which compresses to about two thirds.
    package static func waves(
        frames: Int, sampleRate: Int = 44_100, channels: Int = 2, bits: Int = 16, seed: UInt64 = 1
    ) -> AudioMaterial {
        var random = SeededRandom(seed: seed)
        let full = Int64(1) << (bits - 1)
        var samples = [Int32]()
        samples.reserveCapacity(frames * channels)
        for frame in 0..<frames {
            for channel in 0..<channels {
                // Triangles of different length for each channel, changing slowly.
                let period = Int64(200 + 37 * channel + frame / 5000 % 50)
                let phase = Int64(frame) % period
                let wave = (phase * 2 < period ? phase * 4 - period : 3 * period - phase * 4) * full / (2 * period)
                let noise = Int64(random.next() % UInt64(max(1, full / 64))) - full / 128
                samples.append(Int32(truncatingIfNeeded: max(-full, min(full - 1, wave + noise))))
            }
        }
        return AudioMaterial(sampleRate: sampleRate, channels: channels, bits: bits, samples: samples)
    }

    /// The samples at the top of 16 bits, as a decoder delivers them; for up to 16 bits.
    package var int16: [Int16] { samples.map { Int16(truncatingIfNeeded: $0 << Int32(16 - bits)) } }

    /// The samples at the top of 3 bytes, least significant first, as a decoder delivers them; for up to 24 bits.
    package var int24: [UInt8] { packed(samples.map { $0 << Int32(24 - bits) }) }

    /// The samples at the top of 32 bits, as a decoder delivers them.
    package var int32: [Int32] { samples.map { $0 << Int32(32 - bits) } }

    /// The samples as floats between -1 and 1; exact for up to 24 bits.
    package var float32: [Float] {
        let scale = 1 / Float(Int64(1) << (bits - 1))
        return samples.map { Float($0) * scale }
    }
}

/// The low 24 bits of each number, least significant byte first.
package func packed(_ numbers: [Int32]) -> [UInt8] {
    numbers.flatMap { number in (0..<3).map { UInt8(truncatingIfNeeded: number >> Int32(8 * $0)) } }
}

/// Random numbers that are the same in every run (SplitMix64).
package struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A sequence that depends on `seed` alone.
    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
