import AudioCore

extension EmbeddedPicture {
    /// The pictures in the ID3 tag that is a chunk of a WAV or AIFF file. Reads headers only; blocks on reading. Throws
    /// read errors.
    static func chunkPictures(in file: MediaFile, at start: Int64) throws(DecodingError) -> [EmbeddedPicture] {
        guard let tagOffset = try TagChunk.offset(in: file, at: start) else { return [] }
        return try ID3v2Tag.pictures(in: file, at: tagOffset)
    }
}
