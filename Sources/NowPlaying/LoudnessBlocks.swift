import Glibc

/// The blocks of 400 ms of a sound, counted by their loudness: all that its integrated loudness needs (ITU-R BS.1770-5,
/// annex 1).
/// The blocks of the tracks of an album, added, are those of the album. A value without I/O.
package struct LoudnessBlocks: Equatable, Sendable {
    /// Blocks with nearly the same loudness.
    private struct Bin: Equatable {
        var count: Int64
        /// Mean square, summed over the blocks.
        var energy: Double
    }

    /// By tenths of a LU above the absolute gate.
    private var bins: [Int: Bin] = [:]

    /// The absolute gate in LUFS: quieter blocks do not count.
    private static let gate = -70.0
    /// LU below the mean of the blocks above the absolute gate, under which a block does not count.
    private static let relativeGate = 10.0
    /// Bins for a LU.
    private static let binsPerUnit = 10.0
    /// Bins at most: up to 30 LUFS, far above full scale.
    private static let mostBins = 1000
    /// Most blocks of one bin: ten thousand years.
    private static let mostBlocks: Int64 = 1 << 40
    /// Steps of the mean of a bin in the packed form.
    private static let steps = 256.0

    /// No blocks: silence.
    package init() {}

    /// Adds a block of this loudness in LUFS. Quieter ones than the absolute gate do not count.
    package mutating func add(_ loudness: Double) {
        guard loudness > Self.gate, loudness.isFinite else { return }
        add(1, loudness, bin: min(Int(clamping: (loudness - Self.gate) * Self.binsPerUnit), Self.mostBins - 1))
    }

    private mutating func add(_ count: Int64, _ loudness: Double, bin: Int) {
        bins[bin, default: Bin(count: 0, energy: 0)].count += count
        bins[bin]?.energy += Double(count) * Self.energy(loudness)
    }

    /// Adds the blocks of another sound.
    package mutating func add(_ other: LoudnessBlocks) {
        for (index, bin) in other.bins {
            bins[index, default: Bin(count: 0, energy: 0)].count += bin.count
            bins[index]?.energy += bin.energy
        }
    }

    /// Integrated loudness in LUFS; nil: nothing is louder than the absolute gate.
    package var integrated: Double? {
        guard let all = Self.loudness(bins.values.lazy.map { $0 }) else { return nil }
        let gate = Self.energy(all - Self.relativeGate)
        return Self.loudness(bins.values.lazy.filter { $0.energy > gate * Double($0.count) })
    }

    private static func loudness(_ bins: some Sequence<Bin>) -> Double? {
        // In an order of their own, the sums would depend on the run.
        let sorted = bins.sorted { $0.energy < $1.energy }
        let count = sorted.reduce(0) { $0 + $1.count }
        guard count > 0 else { return nil }
        return loudness(sorted.reduce(0) { $0 + $1.energy } / Double(count))
    }

    /// Mean square of sound of this loudness in LUFS, after the filters of BS.1770.
    package static func energy(_ loudness: Double) -> Double { pow(10, (loudness + 0.691) / 10) }

    /// Loudness in LUFS of sound with this mean square; minus infinity for 0.
    package static func loudness(_ energy: Double) -> Double { -0.691 + 10 * log10(energy) }

    // MARK: Packed

    /// The blocks as bytes, about three for a bin: its distance from the one before and its count as varints, and its mean in
    /// steps of 1/2560 LU.
    package var packed: [UInt8] {
        var bytes: [UInt8] = []
        var last = 0
        for (index, bin) in bins.sorted(by: { $0.key < $1.key }) {
            Self.append(UInt64(index - last), to: &bytes)
            Self.append(UInt64(bin.count), to: &bytes)
            let mean = Self.loudness(bin.energy / Double(bin.count))
            let part = (mean - Self.gate) * Self.binsPerUnit - Double(index)
            bytes.append(UInt8(clamping: Int(clamping: part * Self.steps)))
            last = index
        }
        return bytes
    }

    /// Reads packed blocks. Nil: the bytes are no such form.
    package init?(packed bytes: some Collection<UInt8>) {
        var rest = Array(bytes)[...]
        var index = 0
        while !rest.isEmpty {
            guard let distance = Self.number(&rest), let count = Self.number(&rest), let step = rest.popFirst(),
                distance < UInt64(Self.mostBins), count > 0, count <= UInt64(Self.mostBlocks)
            else { return nil }
            index += Int(distance)
            guard index < Self.mostBins, bins[index] == nil else { return nil }
            let part = (Double(step) + 0.5) / Self.steps
            add(Int64(count), Self.gate + (Double(index) + part) / Self.binsPerUnit, bin: index)
        }
    }

    private static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        var value = value
        while value > 127 {
            bytes.append(UInt8(value & 127) | 128)
            value >>= 7
        }
        bytes.append(UInt8(value))
    }

    private static func number(_ rest: inout ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 49, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            value |= UInt64(byte & 127) << shift
            if byte < 128 { return value }
        }
        return nil
    }
}
