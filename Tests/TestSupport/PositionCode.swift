/// Test audio in which every recorded frame carries its absolute frame number.
///
/// The sign of each sample follows a maximal-length sequence: on even channels (left) of order 16, on odd ones (right) of
/// order 17. Their periods, 65535 and 131071, have no common divisor, so that the signs of 17 frames in a row name a frame
/// within 54 hours (Chinese remainder theorem). Magnitudes are pseudo-random, so that any lost bit shows. Signs survive
/// volume and changes of depth.
package enum PositionCode {
    /// Periods of the two sequences.
    private static let leftPeriod = 65535
    private static let rightPeriod = 131071
    /// Bits of each sequence, one period, and the position of each window of them.
    private static let left = sequence(order: 16, taps: [16, 15, 13, 4])
    private static let right = sequence(order: 17, taps: [17, 14])
    private static let leftPositions = positions(left, order: 16)
    private static let rightPositions = positions(right, order: 17)
    /// Inverse of the left period modulo the right one.
    private static let inverse = (1..<rightPeriod).first { $0 * leftPeriod % rightPeriod == 1 }!

    private static func sequence(order: Int, taps: [Int]) -> [Bool] {
        var register = 1
        return (0..<((1 << order) - 1)).map { _ in
            let bit = register & 1
            let feedback = taps.reduce(0) { $0 ^ (register >> (order - $1)) } & 1
            register = register >> 1 | feedback << (order - 1)
            return bit == 1
        }
    }

    private static func positions(_ bits: [Bool], order: Int) -> [Int32] {
        var table = [Int32](repeating: -1, count: 1 << order)
        for start in bits.indices {
            var window = 0
            for offset in 0..<order where bits[(start + offset) % bits.count] { window |= 1 << offset }
            precondition(table[window] == -1, "not a maximal-length sequence")
            table[window] = Int32(start)
        }
        return table
    }

    /// True if the sample of this frame and channel is positive.
    private static func isPositive(_ frame: Int, _ channel: Int) -> Bool {
        channel % 2 == 0 ? left[frame % leftPeriod] : right[frame % rightPeriod]
    }

    /// Pseudo-random bits of a frame and channel (SplitMix64).
    private static func noise(_ frame: Int, _ channel: Int) -> UInt64 {
        var value = UInt64(frame) &* 8 &+ UInt64(channel) &+ 0x9E37_79B9_7F4A_7C15
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// Frames `start ..< start + count` as signed 16 bit; no sample is 0, nor gets 0 by a volume down to a sixteenth.
    package static func int16(from start: Int, count: Int, channels: Int = 2) -> [Int16] {
        samples(start, count, channels) { ($0 ? 1 : -1) * Int16(max($1 & 0x3fff, 15) + 1) }
    }

    /// Frames `start ..< start + count` as signed 24 bit in 3 bytes, least significant first; no sample is 0.
    package static func int24(from start: Int, count: Int, channels: Int = 2) -> [UInt8] {
        packed(samples(start, count, channels) { ($0 ? 1 : -1) * (Int32($1 & 0x3f_ffff) + 1) })
    }

    /// Frames `start ..< start + count` as signed 32 bit; no sample is 0.
    package static func int32(from start: Int, count: Int, channels: Int = 2) -> [Int32] {
        samples(start, count, channels) { ($0 ? 1 : -1) * Int32(($1 & 0x3fff_ffff) + 1) }
    }

    /// Frames `start ..< start + count` as floats within ±1; no sample is 0.
    package static func float(from start: Int, count: Int, channels: Int = 2) -> [Float] {
        samples(start, count, channels) { ($0 ? 1 : -1) * (Float($1 & 0x7f_ffff) + 1) / 0x80_0000 }
    }

    private static func samples<Sample>(
        _ start: Int, _ count: Int, _ channels: Int, _ make: (Bool, UInt64) -> Sample
    ) -> [Sample] {
        var all: [Sample] = []
        all.reserveCapacity(count * channels)
        for frame in start..<(start + count) {
            for channel in 0..<channels { all.append(make(isPositive(frame, channel), noise(frame, channel))) }
        }
        return all
    }

    /// The frame number of each recorded stereo frame, from the signs of the 17 frames that begin there; -1 where they are
    /// no code: silence, a joint, the last 16.
    package static func decode(_ stereo: [Int16]) -> [Int] {
        let count = stereo.count / 2
        var found = [Int](repeating: -1, count: count)
        guard count >= 17 else { return found }
        for start in 0...(count - 17) {
            var (leftWindow, rightWindow) = (0, 0)
            var isSilent = false
            for offset in 0..<17 {
                let (a, b) = (stereo[2 * (start + offset)], stereo[2 * (start + offset) + 1])
                if a == 0 || b == 0 { isSilent = true }
                if a > 0, offset < 16 { leftWindow |= 1 << offset }
                if b > 0 { rightWindow |= 1 << offset }
            }
            let (a, b) = (Int(leftPositions[leftWindow]), Int(rightPositions[rightWindow]))
            guard !isSilent, a >= 0, b >= 0 else { continue }
            let difference = ((b - a) % rightPeriod + rightPeriod) % rightPeriod
            found[start] = a + leftPeriod * (difference * inverse % rightPeriod)
        }
        return found
    }

    /// A stretch of a recording in which frame numbers follow each other.
    package struct Run: Equatable, Sendable {
        /// Start in the recording.
        package var recorded: Int
        /// Frame number heard there.
        package var frame: Int
        /// Number of consecutive frames.
        package var count: Int

        /// A stretch by its place in the recording, its first frame's number and its length.
        package init(recorded: Int, frame: Int, count: Int) {
            self.recorded = recorded
            self.frame = frame
            self.count = count
        }
    }

    /// The recording as stretches of consecutive frames; silence between them is left out. A stretch of fewer than 64
    /// frames is none: a code can appear by chance where two others meet. Edges are exact to the frame where magnitudes
    /// survived too, else to a few frames, because signs may go on by chance.
    package static func runs(_ stereo: [Int16]) -> [Run] {
        let numbers = decode(stereo)
        var runs: [Run] = []
        var index = 0
        while index < numbers.count {
            guard numbers[index] >= 0 else {
                index += 1
                continue
            }
            var end = index + 1
            while end < numbers.count, numbers[end] == numbers[index] + end - index { end += 1 }
            // The window of 17 frames ends where the code does.
            if end - index >= 64 {
                let run = Run(recorded: index, frame: numbers[index], count: end - index + 16)
                runs.append(exactEdges(of: run, in: stereo))
            }
            index = end
        }
        return runs
    }

    /// The stretch with its ends moved to the first and last frame of which all bits are right.
    private static func exactEdges(of run: Run, in stereo: [Int16]) -> Run {
        func isRight(_ offset: Int) -> Bool {
            let (recorded, frame) = (run.recorded + offset, run.frame + offset)
            guard recorded >= 0, 2 * recorded + 1 < stereo.count, frame >= 0 else { return false }
            return int16(from: frame, count: 1) == [stereo[2 * recorded], stereo[2 * recorded + 1]]
        }
        guard isRight(run.count / 2) else { return run }
        var (first, last) = (run.count / 2, run.count / 2)
        // Far from the edges all is right if the signs are.
        if run.count > 200 { (first, last) = (50, run.count - 50) }
        while isRight(first - 1) { first -= 1 }
        while isRight(last + 1) { last += 1 }
        return Run(recorded: run.recorded + first, frame: run.frame + first, count: last - first + 1)
    }
}

/// Recorded bytes as samples of 16 bit.
package func int16Samples(_ bytes: [UInt8]) -> [Int16] {
    bytes.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
}

extension PositionCode {
    /// Stretches as one between which frames were *not recorded*: the position goes on with the time, so that as many frames
    /// are missing as the recording is silent. Silence that was put in, and frames that were lost or repeated, begin a
    /// stretch of their own.
    package static func joined(_ runs: [Run]) -> [Run] {
        var result: [Run] = []
        var end = 0
        for run in runs {
            let silence = run.recorded - end
            if let last = result.last, silence > 0, run.frame - last.frame - last.count == silence {
                result[result.count - 1].count += silence + run.count
            } else {
                result.append(run)
            }
            end = run.recorded + run.count
        }
        return result
    }
}
