import AudioCore

/// The ID3v2 tags at the beginning of a file, which some programs put before content of any kind.
struct LeadingTags {
    /// Their fields, the first tag first.
    private(set) var fields = TagFields()
    /// Offset of the content.
    private(set) var end: Int64 = 0

    private static let maximumTags = 8

    /// Reads the tags. Throws read errors.
    init(in file: MediaFile) throws(DecodingError) {
        for _ in 0..<Self.maximumTags {
            guard let tag = try ID3v2Tag(in: file, at: end) else { break }
            fields.fill(from: tag.fields)
            end = tag.end
        }
    }
}
