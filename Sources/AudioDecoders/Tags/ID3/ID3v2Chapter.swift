import NowPlaying

/// A chapter of ID3v2 (ID3v2 Chapter Frame Addendum §3.1): an identifier, times, and frames of its own.
enum ID3v2Chapter {
    /// Bytes of the frame to read: the title comes before large frames.
    static let readBytes = 4 << 10

    /// The chapter in a frame CHAP of a tag of this version; nil: it is invalid.
    static func chapter(_ content: [UInt8], version: Int) -> Chapter? {
        guard let zero = content.firstIndex(of: 0), content.count >= zero + 17 else { return nil }
        let milliseconds = content[(zero + 1)..<(zero + 5)].reduce(0) { $0 << 8 | Int($1) }
        return Chapter(start: Double(milliseconds) / 1000, title: title(content[(zero + 17)...], version: version))
    }

    /// The title among the frames of a chapter.
    private static func title(_ frames: ArraySlice<UInt8>, version: Int) -> String? {
        var rest = frames
        while rest.count > 10 {
            let header = rest.prefix(10)
            let sizes = header.dropFirst(4).prefix(4)
            let size = version == 4 ? ID3v2Tag.syncSafe(sizes) : sizes.reduce(0) { $0 << 8 | Int($1) }
            let content = rest.dropFirst(10).prefix(size)
            if header.starts(with: Array("TIT2".utf8)) {
                return ID3Text.texts(Array(content)).first { !$0.isEmpty }
            }
            guard size > 0, content.count == size else { return nil }
            rest = rest.dropFirst(10 + size)
        }
        return nil
    }
}
