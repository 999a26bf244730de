import AudioCore

/// Recordings of running streams, which begin at any page.
extension OggPage {
    /// Maximum bytes of junk before the first page: two pages of maximum length.
    private static let junkLimit = 128 << 10
    /// Bytes to search for the next stream after one without a beginning.
    private static let searchLimit: Int64 = 64 << 20

    /// The first page that begins at `start` or up to 128 KiB after it; nil: there are neither two pages in a row nor
    /// one that ends the file. Throws read errors.
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

    /// Start of a stream, at this page or a later one; nil: none within `searchLimit`. Throws read errors.
    func streamStart(in file: MediaFile) throws(DecodingError) -> Int64? {
        var page = self
        while !page.isFirst {
            guard page.end - offset < Self.searchLimit else { return nil }
            if let next = try OggPage(in: file, at: page.end) {
                page = next
            } else {
                // Damage: resume at the next whole page.
                guard let next = try OggPage.first(in: file, from: page.end) else { return nil }
                page = next
            }
        }
        return page.offset
    }
}

extension DecoderRegistry {
    /// Opens Ogg that begins in the middle of a stream, or after other bytes: from the first stream with a beginning.
    /// Nil: it is not Ogg. Throws every kind of `DecodingError`.
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
