import AudioCore
import TrackReading

/// Kind of a file, by its first bytes and never by its name.
enum MediaKind: Equatable {
    case flac
    /// Ogg with any content.
    case ogg
    /// A container of uncompressed samples that libsndfile reads; its name for people.
    case samples(container: String)
    /// MPEG audio, or an unrecognised kind after an ID3v2 tag.
    case mpegAudio
    /// Decoded by nowplaying-decode; its name for people.
    case needsChild(String)
    /// Recognised, but not decoded by this version; its name for people.
    case unsupported(String)
    case text
    case unknown

    /// Bytes that `init` needs.
    static let neededBytes = 4096

    /// Recognises the kind by the first bytes; `afterTag`: an ID3v2 tag came before them.
    init(firstBytes bytes: [UInt8], afterTag: Bool = false) {
        func has(_ text: StaticString, at offset: Int = 0) -> Bool {
            bytes.count >= offset + text.utf8CodeUnitCount
                && text.withUTF8Buffer { $0.elementsEqual(bytes[offset..<offset + $0.count]) }
        }
        if has("fLaC") {
            self = .flac
        } else if has("OggS") {
            self = .ogg
        } else if has("caff"), has("desc", at: 8), bytes.count >= 32,
            !["lpcm", "ulaw", "alaw"].contains(where: { has($0, at: 28) })
        {
            // libsndfile would prepare to decode ALAC before a check of the coding is possible.
            self = .needsChild("CAF with compressed audio")
        } else if let container = Self.container(bytes, has: has) {
            self = .samples(container: container)
        } else if !Self.isText(bytes), let name = Self.nameForChild(bytes) {
            self = .needsChild(name)
        } else if let name = Self.unsupportedName(bytes) {
            self = .unsupported(name)
        } else if Self.isADTS(bytes) {
            self = .needsChild("AAC")
        } else if afterTag || MPEGFrameHeader(bytes.prefix(4)) != nil {
            self = .mpegAudio
        } else if Self.isText(bytes) {
            self = .text
        } else {
            self = .unknown
        }
    }

    private static func container(_ bytes: [UInt8], has: (StaticString, Int) -> Bool) -> String? {
        if has("RIFF", 0) || has("RIFX", 0), has("WAVE", 8) { return "WAV" }
        if has("RF64", 0), has("WAVE", 8) { return "RF64" }
        if bytes.starts(with: wave64Identifier) { return "W64" }
        if has("FORM", 0), has("AIFF", 8) || has("AIFC", 8) { return "AIFF" }
        if has(".snd", 0) || has("dns.", 0) { return "AU" }
        if has("caff", 0) { return "CAF" }
        return nil
    }

    /// GUID of the `riff` chunk of Sony Wave64.
    private static let wave64Identifier: [UInt8] = [
        0x72, 0x69, 0x66, 0x66, 0x2E, 0x91, 0xCF, 0x11, 0xA5, 0xD6, 0x28, 0xDB, 0x04, 0xC1, 0x00, 0x00,
    ]

    /// True if the file begins with an ADTS header (ISO 13818-7 §6.2), which resembles an MPEG header of a layer that
    /// does not exist. A FLAC frame resembles it too; the check of `FLACFrameHeader` excludes that.
    private static func isADTS(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 4 && bytes[0] == 0xFF && bytes[1] & 0xF6 == 0xF0
            && bytes.withUnsafeBytes { FLACFrameHeader($0, in: nil) } == nil
    }

    private static func isText(_ bytes: [UInt8]) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || (0x09...0x0D).contains($0) }
    }
}
