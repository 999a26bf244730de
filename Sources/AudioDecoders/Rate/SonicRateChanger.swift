package import AudioCore
import CLibraryNames
import NowPlaying

/// Changes the rate with libsonic (PICOLA: it leaves out or repeats whole periods of the pitch, cross-faded), in 16
/// bit.
///
/// libsonic drifts by itself: each of its steps rounds to a frame, up to 30 ms in a minute. So this class feeds it in
/// small pieces. Output that appears marks a step, and the frames fed until the next step are the input of that step.
/// The mean deviation of the steps from the straight line corrects the speed (`RateLine`).
package final class SonicRateChanger: RateChanger {
    private let library: SonicLibrary
    private let stream: OpaquePointer
    private let format: AudioFormat
    private let rate: Double
    private var line: RateLine
    private var scratch: [Int16]
    private var isFinished = false
    private var written: Int64 = 0
    private var readSoFar: Int64 = 0

    /// Frames fed at once. They set the resolution of a step: 0.4 ms at 44.1 kHz.
    private static let blockFrames = 16

    /// Changes frames of this format, at a rate of 0.5 to 3 other than 1. Throws `.unavailable` without libsonic or
    /// memory.
    package init(_ format: AudioFormat, rate: Double) throws(DecodingError) {
        guard let library = SonicLibrary.shared else {
            throw DecodingError(
                .unavailable, "rates other than 1 need libsonic: install the package \(LIBRARY_SONIC_PACKAGE)")
        }
        guard let stream = library.create(Int32(format.sampleRate), Int32(format.channels.count)) else {
            throw DecodingError(.unavailable, "no memory left for a rate other than 1")
        }
        self.library = library
        self.stream = stream
        self.format = format
        self.rate = rate
        line = RateLine(rate: rate, sampleRate: format.sampleRate)
        scratch = [Int16](repeating: 0, count: 1024 * format.channels.count)
        library.setSpeed(stream, Float(rate))
    }

    deinit { library.destroy(stream) }

    package func write(_ frames: UnsafeRawBufferPointer) {
        let size = format.bytesPerFrame
        written += Int64(frames.count / size)
        var rest = frames
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest.prefix(scratch.count / format.channels.count * size))
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(part.count))
            scratch.withUnsafeMutableBufferPointer { samples in
                toInt16(part, samples)
                feed(samples, part.count / size)
            }
        }
    }

    package func finish() {
        guard !isFinished else { return }
        isFinished = true
        // The steps look ahead: silence pushes out the frames that they still hold.
        let silent = scratch.count / format.channels.count
        scratch.withUnsafeMutableBufferPointer { samples in
            samples.update(repeating: 0)
            var pushed = 0
            while Int64(library.available(stream)) + readSoFar < total, pushed < format.sampleRate {
                feed(samples, silent)
                pushed += silent
            }
        }
    }

    /// Frames of output for all input so far.
    private var total: Int64 { Int64(clamping: (Double(written) / rate).rounded()) }

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let channels = format.channels.count
        var count = min(Int64(buffer.count / format.bytesPerFrame), Int64(scratch.count / channels))
        count = min(count, Int64(library.available(stream)))
        if isFinished { count = min(count, total - readSoFar) }
        guard count > 0 else { return 0 }
        scratch.withUnsafeMutableBufferPointer { samples in
            count = Int64(library.read(stream, samples.baseAddress!, Int32(count)))
            fromInt16(samples, Int(count) * channels, buffer)
        }
        readSoFar += count
        return Int(count)
    }

    /// Feeds frames in small blocks, and accounts for the steps.
    private func feed(_ samples: UnsafeMutableBufferPointer<Int16>, _ frames: Int) {
        let channels = format.channels.count
        var done = 0
        while done < frames {
            let count = min(Self.blockFrames, frames - done)
            let before = library.available(stream)
            _ = library.write(stream, samples.baseAddress! + done * channels, Int32(count))
            done += count
            if let speed = line.fed(count, output: Int(library.available(stream) - before)) {
                library.setSpeed(stream, Float(speed))
            }
        }
    }

    // MARK: Samples

    private func toInt16(_ bytes: UnsafeRawBufferPointer, _ samples: UnsafeMutableBufferPointer<Int16>) {
        let count = bytes.count / format.sampleFormat.bytes
        switch format.sampleFormat {
        case .int16: for index in 0..<count { samples[index] = bytes.load(fromByteOffset: 2 * index, as: Int16.self) }
        case .int24:
            guard let start = bytes.baseAddress else { return }
            for index in 0..<count { samples[index] = Int16(PackedSample.load(start, index) >> 8) }
        case .int32:
            for index in 0..<count {
                samples[index] = Int16(bytes.load(fromByteOffset: 4 * index, as: Int32.self) >> 16)
            }
        case .float32:
            for index in 0..<count {
                let value = (bytes.load(fromByteOffset: 4 * index, as: Float.self) * 32767).rounded()
                // NaN becomes silence.
                samples[index] =
                    value >= -32768 && value <= 32767
                    ? Int16(clamping: value) : value > 0 ? 32767 : value < 0 ? -32768 : 0
            }
        }
    }

    private func fromInt16(
        _ samples: UnsafeMutableBufferPointer<Int16>, _ count: Int, _ bytes: UnsafeMutableRawBufferPointer
    ) {
        switch format.sampleFormat {
        case .int16:
            for index in 0..<count { bytes.storeBytes(of: samples[index], toByteOffset: 2 * index, as: Int16.self) }
        case .int24:
            guard let start = bytes.baseAddress else { return }
            for index in 0..<count { PackedSample.store(Int32(samples[index]) << 8, start, index) }
        case .int32:
            for index in 0..<count {
                bytes.storeBytes(of: Int32(samples[index]) << 16, toByteOffset: 4 * index, as: Int32.self)
            }
        case .float32:
            for index in 0..<count {
                bytes.storeBytes(of: Float(samples[index]) / 32767, toByteOffset: 4 * index, as: Float.self)
            }
        }
    }
}
