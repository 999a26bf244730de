package import AudioCore

extension EmbeddedPicture {
    /// True if the program that decodes this file also finds its pictures: those of MP4, Matroska, Windows
    /// Media, Monkey's Audio and the like. Blocks on reading. Throws what reading throws.
    package static func needsChild(in file: MediaFile) throws(DecodingError) -> Bool {
        let tags = try LeadingTags(in: file)
        let first = try file.bytes(at: tags.end, count: MediaKind.neededBytes)
        if case .needsChild = MediaKind(firstBytes: first, afterTag: tags.end > 0) { return DecodeProgram.path != nil }
        return false
    }

    /// Those pictures, of the best kind, at most four. Throws what finding them throws.
    package static func byChild(in file: MediaFile, _ fetch: PictureFetch) throws(DecodingError) -> [[UInt8]] {
        try fetch.embedded(file: file.descriptor)
    }
}

extension PictureFetch {
    /// The first frame of a film. Throws what making it throws.
    package func firstFrame(of file: MediaFile) throws(DecodingError) -> [UInt8] {
        try firstFrame(file: file.descriptor)
    }
}
