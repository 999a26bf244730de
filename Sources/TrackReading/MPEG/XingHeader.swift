/// Xing header with LAME's extension. Encoders write it into a first frame without sound. libmpg123 reads it too; here
/// it verifies the length.
package struct XingHeader: Equatable {
    /// Frames of MPEG audio after this one.
    package let frames: Int?
    /// Bytes of the stream from this frame on.
    package let bytes: Int?
    /// Frames of audio that the encoder put before the sound; nil: unknown.
    package let delay: Int?
    /// Frames of audio that the encoder put after the sound; nil: unknown.
    package let padding: Int?
    /// Gain in tenths of a decibel for the track, relative to 89 dB SPL; nil: unknown.
    package let trackGain: Int?
    /// The same for the album.
    package let albumGain: Int?

    /// Offset of the number of frames, 4 bytes, in a frame that begins with `header`.
    package static func framesOffset(_ header: MPEGFrameHeader) -> Int { offset(header) + 8 }

    /// Offset of the Xing header: it follows the side information.
    private static func offset(_ header: MPEGFrameHeader) -> Int {
        4 + (header.version == .one ? (header.channels == 2 ? 32 : 17) : (header.channels == 2 ? 17 : 9))
    }

    /// Reads the frame that begins with `header`; nil: it has no Xing header.
    package init?(_ frame: [UInt8], header: MPEGFrameHeader) {
        guard header.layer == 3 else { return nil }
        var index = Self.offset(header)
        func number(_ count: Int) -> Int? {
            guard index + count <= frame.count else { return nil }
            defer { index += count }
            return frame[index..<index + count].reduce(0) { $0 << 8 | Int($1) }
        }
        guard let name = number(4), name == 0x496E_666F || name == 0x5869_6E67, let flags = number(4) else {
            return nil
        }
        frames = flags & 1 != 0 ? number(4) : nil
        bytes = flags & 2 != 0 ? number(4) : nil
        if flags & 4 != 0 { index += 100 }
        if flags & 8 != 0 { index += 4 }
        // LAME's part: 9 bytes of name, revision, lowpass, 4 of peak, 2 × 2 of gain, flags, rate, 3 of delay and padding.
        guard index + 24 <= frame.count, frame[index] != 0 else {
            (delay, padding, trackGain, albumGain) = (nil, nil, nil, nil)
            return
        }
        index += 15
        let gains = [number(2), number(2)]
        func gain(_ name: Int) -> Int? {
            // 3 bits of name, 3 of originator (0: unset), sign, 9 of tenths.
            let field = gains.compactMap { $0 }.first { $0 >> 13 == name && $0 >> 10 & 7 != 0 }
            return field.map { $0 & 0x200 != 0 ? -($0 & 0x1FF) : $0 & 0x1FF }
        }
        trackGain = gain(1)
        albumGain = gain(2)
        index += 2
        let both = number(3)
        delay = both.map { $0 >> 12 }
        padding = both.map { $0 & 0xFFF }
    }
}
