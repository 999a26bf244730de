import NowPlaying

/// Layout of a sample in memory, native byte order. These formats make lossless output possible.
package enum SampleFormat: Sendable, Hashable, CaseIterable {
    /// Signed 16 bit: for sources of up to 16 bit.
    case int16
    /// Signed 24 bit in 3 bytes, the source's bits at the top: for sources of 17 to 24 bit.
    case int24
    /// Signed 32 bit, the source's bits at the top: for sources of 25 to 32 bit.
    case int32
    /// IEEE 754 single precision, full scale ±1.
    case float32

    /// Bytes of one sample.
    package var bytes: Int {
        switch self {
        case .int16: 2
        case .int24: 3
        case .int32, .float32: 4
        }
    }

    /// The format that holds integers of this many bits, 1 to 32, in the fewest bytes.
    package static func integer(bits: Int) -> SampleFormat { bits <= 16 ? .int16 : bits <= 24 ? .int24 : .int32 }
}

/// Position of a channel's loudspeaker.
package enum ChannelPosition: Sendable, Hashable, CaseIterable {
    case mono, frontLeft, frontRight, frontCenter, lowFrequency, rearLeft, rearRight, rearCenter
    case frontLeftOfCenter, frontRightOfCenter, sideLeft, sideRight
    case topCenter, topFrontLeft, topFrontRight, topFrontCenter, topRearLeft, topRearRight, topRearCenter
    case auxiliary

    /// The order of channels in FLAC (RFC 9639 §9.1.3), and in WAVE files that do not name theirs; 1 to 8 channels.
    package static func standardOrder(channels: Int) -> [ChannelPosition] {
        switch channels {
        case 1: [.mono]
        case 2: [.frontLeft, .frontRight]
        case 3: [.frontLeft, .frontRight, .frontCenter]
        case 4: [.frontLeft, .frontRight, .rearLeft, .rearRight]
        case 5: [.frontLeft, .frontRight, .frontCenter, .rearLeft, .rearRight]
        case 6: [.frontLeft, .frontRight, .frontCenter, .lowFrequency, .rearLeft, .rearRight]
        case 7: [.frontLeft, .frontRight, .frontCenter, .lowFrequency, .rearCenter, .sideLeft, .sideRight]
        default:
            [.frontLeft, .frontRight, .frontCenter, .lowFrequency, .rearLeft, .rearRight, .sideLeft, .sideRight]
                + Array(repeating: .auxiliary, count: max(0, channels - 8))
        }
    }
}

/// The format of interleaved audio in memory. One frame = one sample of every channel.
package struct AudioFormat: Sendable, Hashable {
    /// Format of each sample.
    package var sampleFormat: SampleFormat
    /// Frames a second.
    package var sampleRate: Int
    /// Loudspeaker of each channel, in the order of interleaving.
    package var channels: [ChannelPosition]

    /// A format with these channels, 1 to 8.
    package init(sampleFormat: SampleFormat, sampleRate: Int, channels: [ChannelPosition]) {
        self.sampleFormat = sampleFormat
        self.sampleRate = sampleRate
        self.channels = channels
    }

    /// A format with this many channels in the standard order.
    package init(sampleFormat: SampleFormat, sampleRate: Int, channelCount: Int) {
        self.init(
            sampleFormat: sampleFormat, sampleRate: sampleRate,
            channels: ChannelPosition.standardOrder(channels: channelCount))
    }

    /// Bytes of one frame.
    package var bytesPerFrame: Int { sampleFormat.bytes * channels.count }

    /// Seconds that `frames` last.
    package func seconds(frames: Int64) -> Double { Double(frames) / Double(sampleRate) }

    /// The frame nearest to `seconds`, which are limited to ±`TimeLimit.span`.
    package func frames(seconds: Double) -> Int64 {
        let near = max(-TimeLimit.span, min(TimeLimit.span, seconds))
        return Int64(clamping: (near * Double(sampleRate)).rounded())
    }

    /// The length that a file claims, in frames, limited to `TimeLimit.seconds`.
    package func length(claimed frames: Int64) -> Int64 {
        max(0, min(frames, self.frames(seconds: TimeLimit.seconds)))
    }

    /// True if a sound server may support it: 1 Hz to 384 kHz, 1 to 8 channels.
    package var isPlayable: Bool {
        (1...Self.maximumSampleRate).contains(sampleRate) && (1...8).contains(channels.count)
    }

    /// Maximum frames a second that the sound server accepts.
    package static let maximumSampleRate = 384_000
}
