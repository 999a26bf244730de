import AudioCore

/// Recordings of running streams, which begin anywhere.
extension OggPage {
    /// Maximum bytes of junk before the first page: two pages of the longest.
    private static let junkLimit = 128 << 10
    /// Bytes of a stream without a beginning to search for the next one.
    private static let searchLimit: Int64 = 64 << 20

    /// The first page that begins at `start` or up to 128 KiB after it; nil: there are no two in a row, nor one that ends
    /// the file. Throws what reading throws.
    static func first(in file: MediaFile, from start: Int64) throws(DecodingError) -> OggPage? {
        let window = try file.bytes(at: start, count: junkLimit)
        let mark: [UInt8] = [0x4F, 0x67, 0x67, 0x53, 0]
        var index = 0
        while let found = window[index...].firstIndex(of: mark[0]) {
            index = found + 1
            guard window[found...].starts(with: mark), let page = try OggPage(in: file, at: start + Int64(found)) else {
                continue
            }
            if page.end == file.size { return page }
            if try OggPage(in: file, at: page.end) != nil { return page }
        }
        return nil
    }

    /// Start of a stream, at this page or one after it; nil: none in reach. Throws what reading throws.
    func streamStart(in file: MediaFile) throws(DecodingError) -> Int64? {
        var page = self
        while !page.isFirst {
            guard page.end - offset < Self.searchLimit else { return nil }
            if let next = try OggPage(in: file, at: page.end) {
                page = next
            } else {
                // Damage: from the next that is whole.
                guard let next = try OggPage.first(in: file, from: page.end) else { return nil }
                page = next
            }
        }
        return page.offset
    }
}

extension DecoderRegistry {
    /// Opens Ogg that begins with its streams' pages from the middle, or with something else before them: from the first
    /// stream on whose beginning is there. Nil: it is no Ogg. Throws every kind of `DecodingError`.
    static func openOggFromItsMiddle(
        _ file: MediaFile, from start: Int64
    ) throws(DecodingError) -> (any AudioDecoder)? {
        guard let page = try OggPage.first(in: file, from: start) else { return nil }
        guard let begin = try page.streamStart(in: file) else {
            throw DecodingError(
                .broken, "it is a piece of an Ogg stream without the headers at its beginning")
        }
        return try openOgg(file, from: begin)
    }
}
