/// The fixed format of audio for a program that cannot negotiate one: interleaved, least significant byte first.
package struct FixedFormat: Sendable, Hashable {
    /// Format of each sample.
    package enum Sample: String, Sendable, CaseIterable {
        /// Signed 16 bit.
        case int16 = "16"
        /// Signed 24 bit in the low bytes of 4, the sign extended.
        case int24 = "24"
        /// Signed 32 bit.
        case int32 = "32"
        /// IEEE 754 single precision, full scale ±1.
        case float32 = "f"

        /// Bytes of one sample.
        package var bytes: Int { self == .int16 ? 2 : 4 }

        /// Bits of an integer sample; nil: floating point.
        package var bits: Int? {
            switch self {
            case .int16: 16
            case .int24: 24
            case .int32: 32
            case .float32: nil
            }
        }
    }

    package let sample: Sample
    /// Frames a second.
    package let sampleRate: Int
    /// Number of channels, in the standard order.
    package let channels: Int

    /// Valid numbers of frames a second.
    package static let sampleRates = 8000...192_000
    /// Valid numbers of channels.
    package static let channelCounts = 1...8

    /// A format by its parts; nil: out of range.
    package init?(_ sample: Sample, sampleRate: Int, channels: Int) {
        guard Self.sampleRates.contains(sampleRate), Self.channelCounts.contains(channels) else { return nil }
        self.sample = sample
        self.sampleRate = sampleRate
        self.channels = channels
    }

    /// 44.1 kHz, 16 bit, stereo: most music passes bit for bit.
    package static let compactDisc = FixedFormat(.int16, sampleRate: 44100, channels: 2)!

    /// 48 kHz, 16 bit, stereo: the usual format of a Snapcast server.
    package static let snapcast = FixedFormat(.int16, sampleRate: 48000, channels: 2)!

    /// Reads `RATE:BITS:CHANNELS`, such as `48000:16:2`; the bits are 16, 24, 32 or f. Nil: anything else.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.hasPrefix("+") }), let rate = Int(parts[0]),
            let sample = Sample(rawValue: String(parts[1])), let channels = Int(parts[2])
        else { return nil }
        self.init(sample, sampleRate: rate, channels: channels)
    }

    /// The format as `init(_:)` reads it.
    package var text: String { "\(sampleRate):\(sample.rawValue):\(channels)" }

    /// Bytes of one frame.
    package var bytesPerFrame: Int { sample.bytes * channels }

    /// The format in memory that keeps all its bits.
    package var audioFormat: AudioFormat {
        let form: SampleFormat
        switch sample {
        case .int16: form = .int16
        case .int24, .int32: form = .int32
        case .float32: form = .float32
        }
        return AudioFormat(sampleFormat: form, sampleRate: sampleRate, channelCount: channels)
    }
}
