/// Format of a live stream, from its first bytes and its server's content type, without long probing.
enum StreamKind {
    /// FFmpeg's name of the demuxer; nil: FFmpeg must probe.
    static func demuxer(_ bytes: [UInt8], _ contentType: String) -> String? {
        if bytes.starts(with: Array("OggS".utf8)) { return "ogg" }
        if bytes.starts(with: Array("fLaC".utf8)) { return "flac" }
        if hasADTS(bytes) { return "aac" }
        switch contentType {
        case "audio/mpeg", "audio/mp3", "audio/x-mp3", "audio/mpeg3": return "mp3"
        case "audio/aac", "audio/aacp", "audio/x-aac": return "aac"
        default: return nil
        }
    }

    /// True if two frames of ADTS (ISO 13818-7 §6.2) follow each other anywhere in the bytes.
    private static func hasADTS(_ bytes: [UInt8]) -> Bool {
        func length(at offset: Int) -> Int? {
            guard offset + 6 < bytes.count, bytes[offset] == 0xFF, bytes[offset + 1] & 0xF6 == 0xF0 else { return nil }
            let length = Int(bytes[offset + 3] & 3) << 11 | Int(bytes[offset + 4]) << 3 | Int(bytes[offset + 5] >> 5)
            return length > 7 ? length : nil
        }
        return bytes.indices.contains { offset in
            guard let first = length(at: offset) else { return false }
            return length(at: offset + first) != nil
        }
    }
}
