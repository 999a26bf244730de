package import AudioCore

extension EmbeddedPicture {
    /// True if nowplaying-decode decodes this file and finds its pictures: MP4, Matroska, Windows Media, Monkey's Audio
    /// and similar formats. Blocks on reading. Throws read errors.
    package static func needsChild(in file: MediaFile) throws(DecodingError) -> Bool {
        let tags = try LeadingTags(in: file)
        let first = try file.bytes(at: tags.end, count: MediaKind.neededBytes)
        if case .needsChild = MediaKind(firstBytes: first, afterTag: tags.end > 0) { return DecodeProgram.path != nil }
        return false
    }

    /// The pictures of a file that `needsChild`, of the best kind, at most four. Throws the errors of
    /// `PictureFetch.embedded`.
    package static func byChild(in file: MediaFile, _ fetch: PictureFetch) throws(DecodingError) -> [[UInt8]] {
        try fetch.embedded(file: file.descriptor)
    }
}

extension PictureFetch {
    /// The first frame of a film. Throws the errors of `firstFrame(file:)`.
    package func firstFrame(of file: MediaFile) throws(DecodingError) -> [UInt8] {
        try firstFrame(file: file.descriptor)
    }
}
