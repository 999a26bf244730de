import AudioCore

/// Converts mixed samples, which are doubles of full scale ±1, to the output format.
///
/// Samples with at most the target's bits pass bit for bit. All others are rounded, with triangular dither of ±1 step
/// up to 24 bit; at 32 bit the error lies below every converter. A frame of silence stays silence.
enum Quantizer {
    /// Seed of the dither, different from that of `SampleGain`, whose noise may be in the same frame.
    private static let salt: UInt64 = 0x5EED_0F00_4D49_5845

    /// Writes whole frames of `source` into `target`, which has their size in `format`. `frame`: number of the first
    /// frame, which determines its dither. `dithers`: some samples have more bits than the target. Integers beyond full
    /// scale are clipped. Returns the number of clipped samples.
    @discardableResult static func write(
        _ source: UnsafeBufferPointer<Double>, _ format: FixedFormat, frame: Int64, dithers: Bool,
        into target: UnsafeMutableRawBufferPointer
    ) -> Int {
        let channels = format.channels
        precondition(source.count % channels == 0 && target.count >= source.count * format.sample.bytes)
        guard let bits = format.sample.bits else {
            let results = target.bindMemory(to: Float.self)
            for index in source.indices { results[index] = Float(source[index]) }
            return 0
        }
        let scale = Double(Int64(1) << (bits - 1))
        var clipped = 0
        var number = UInt64(bitPattern: frame) &* UInt64(channels) &+ salt
        for start in stride(from: 0, to: source.count, by: channels) {
            let isNoisy = dithers && bits < 32 && source[start..<(start + channels)].contains { $0 != 0 }
            for index in start..<(start + channels) {
                var value = source[index] * scale
                if isNoisy { value += Double(Dither.triangular(number)) }
                number &+= 1
                value.round(.toNearestOrAwayFromZero)
                let cut = max(-scale, min(scale - 1, value))
                if cut != value { clipped += 1 }
                store(Int32(cut), at: index, bits, target)
            }
        }
        return clipped
    }

    @inline(__always) private static func store(
        _ value: Int32, at index: Int, _ bits: Int, _ target: UnsafeMutableRawBufferPointer
    ) {
        if bits == 16 {
            target.storeBytes(of: Int16(value).littleEndian, toByteOffset: 2 * index, as: Int16.self)
        } else {
            target.storeBytes(of: value.littleEndian, toByteOffset: 4 * index, as: Int32.self)
        }
    }

    /// Reads whole frames as doubles of full scale ±1, without loss.
    static func read(
        _ source: UnsafeRawBufferPointer, _ format: SampleFormat, into target: UnsafeMutableBufferPointer<Double>
    ) {
        let count = source.count / format.bytes
        precondition(target.count >= count)
        switch format {
        case .int16:
            for index in 0..<count {
                target[index] = Double(source.loadUnaligned(fromByteOffset: 2 * index, as: Int16.self)) / 32768
            }
        case .int24:
            guard let start = source.baseAddress else { return }
            for index in 0..<count { target[index] = Double(PackedSample.load(start, index)) / 8_388_608 }
        case .int32:
            for index in 0..<count {
                target[index] = Double(source.loadUnaligned(fromByteOffset: 4 * index, as: Int32.self)) / 2_147_483_648
            }
        case .float32:
            for index in 0..<count {
                let sample = source.loadUnaligned(fromByteOffset: 4 * index, as: Float.self)
                target[index] = sample.isFinite ? Double(sample) : 0
            }
        }
    }

    /// True if the target can hold all bits of these samples.
    static func fits(_ samples: UnsafeRawBufferPointer, _ format: SampleFormat, _ target: FixedFormat.Sample) -> Bool {
        switch format {
        case .int16: return true
        case .float32: return target == .float32
        case .int24:
            guard target == .int16, let start = samples.baseAddress else { return true }
            var all: Int32 = 0
            for index in 0..<(samples.count / format.bytes) { all |= PackedSample.load(start, index) }
            return all & 0xff == 0
        case .int32:
            guard let bits = target.bits, bits < 32 else { return target == .int32 }
            let low = (Int32(1) << (32 - bits)) - 1
            var all: Int32 = 0
            for index in 0..<(samples.count / 4) {
                all |= samples.loadUnaligned(fromByteOffset: 4 * index, as: Int32.self)
            }
            return all & low == 0
        }
    }
}
