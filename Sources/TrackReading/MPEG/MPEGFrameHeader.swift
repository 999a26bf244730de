/// The four bytes at the start of each frame of MPEG audio (ISO 11172-3 §2.4.1.3, 13818-3, and "MPEG 2.5" for the
/// lowest rates), as far as the detection and the measurement of a file need them. libmpg123 decodes.
package struct MPEGFrameHeader: Equatable {
    /// 1, 2 or 2.5.
    package enum Version { case one, two, twoAndHalf }

    package let version: Version
    /// 1 to 3.
    package let layer: Int
    /// Bits per second; nil: "free format", constant but unknown.
    package let bitRate: Int?
    /// Frames of audio a second.
    package let sampleRate: Int
    package let channels: Int
    private let isPadded: Bool

    /// Reads the header at the start of `bytes`; nil: there is none.
    package init?(_ bytes: some RandomAccessCollection<UInt8>) {
        guard bytes.count >= 4 else { return nil }
        self.init(word: bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
    }

    /// Reads the header in these four bytes, the first one highest; nil: they are not a header.
    package init?(word: UInt32) {
        guard word >> 21 == 0x7FF else { return nil }
        let (second, third, fourth) = (UInt8(word >> 16 & 0xFF), UInt8(word >> 8 & 0xFF), UInt8(word & 0xFF))
        switch second >> 3 & 3 {
        case 0: version = .twoAndHalf
        case 2: version = .two
        case 3: version = .one
        default: return nil
        }
        layer = 4 - Int(second >> 1 & 3)
        guard layer < 4, third >> 4 < 15, third >> 2 & 3 < 3, fourth & 3 != 2 else { return nil }
        let kilobits = Self.bitRates[version == .one ? layer - 1 : min(layer, 2) + 2][Int(third >> 4)]
        bitRate = kilobits == 0 ? nil : kilobits * 1000
        let rate = [44_100, 48_000, 32_000][Int(third >> 2 & 3)]
        sampleRate = version == .one ? rate : version == .two ? rate / 2 : rate / 4
        isPadded = third & 2 != 0
        channels = fourth >> 6 == 3 ? 1 : 2
    }

    /// Frames of audio in it.
    package var audioFrames: Int { layer == 1 ? 384 : layer == 2 || version == .one ? 1152 : 576 }

    /// Bytes from this header to the next; nil: free format.
    package var byteCount: Int? {
        guard let bitRate else { return nil }
        if layer == 1 { return (12 * bitRate / sampleRate + (isPadded ? 1 : 0)) * 4 }
        return audioFrames / 8 * bitRate / sampleRate + (isPadded ? 1 : 0)
    }

    /// True if another frame may belong to the same stream.
    package func continues(_ other: MPEGFrameHeader) -> Bool {
        version == other.version && layer == other.layer && sampleRate == other.sampleRate
            && (bitRate == nil) == (other.bitRate == nil)
    }

    /// Usual name of the coding.
    package var codec: String { layer == 3 ? "MP3" : layer == 2 ? "MP2" : "MP1" }

    /// Kilobits a second by index: version 1 layers 1 to 3, then version 2 layer 1, and layers 2 and 3.
    private static let bitRates = [
        [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
        [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
        [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
        [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
        [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    ]
}
