import AudioCore

/// Offsets of the links of a chained Ogg file (RFC 3533 §4), found without reading their content.
enum OggChain {
    /// Maximum number of links.
    private static let maximumLinks = 4096
    /// Bytes of one search for a page: more than the largest one.
    private static let searchBytes = 72 << 10
    /// Bytes to walk from page to page at the end of a search.
    private static let walkBytes: Int64 = 256 << 10

    /// The bytes of each link, in the order of the file; one range if the file is no chain. Throws read errors.
    static func links(in file: MediaFile, from start: Int64) throws(DecodingError) -> [Range<Int64>] {
        guard let last = try lastPage(in: file, from: start) else { return [start..<file.size] }
        var links: [Range<Int64>] = []
        var begin = start
        while links.count < maximumLinks {
            let (serials, end) = try firstPages(in: file, at: begin)
            if serials.isEmpty || serials.contains(last.serial) { break }
            let next = try firstOther(than: serials, in: file, between: end, and: last.offset)
            links.append(begin..<next)
            begin = next
        }
        links.append(begin..<file.size)
        return links
    }

    /// The streams that begin together at `offset`, and the end of their first pages.
    private static func firstPages(
        in file: MediaFile, at offset: Int64
    ) throws(DecodingError) -> (serials: Set<UInt32>, end: Int64) {
        var serials: Set<UInt32> = []
        var end = offset
        while serials.count < 64, let page = try OggPage(in: file, at: end), page.isFirst {
            serials.insert(page.serial)
            end = page.end
        }
        return (serials, end)
    }

    /// Offset of the first page of another stream after `start`; a page of another stream begins at `end`. Bisects the
    /// range, then walks.
    private static func firstOther(
        than serials: Set<UInt32>, in file: MediaFile, between start: Int64, and end: Int64
    ) throws(DecodingError) -> Int64 {
        var low = start
        var high = end
        while high - low > walkBytes {
            let middle = low + (high - low) / 2
            let page = try firstPage(in: file, from: middle, before: high)
            if let page, serials.contains(page.serial) {
                low = page.end
            } else {
                high = page?.offset ?? middle
            }
        }
        while low < end {
            guard let page = try OggPage(in: file, at: low) else {
                guard let next = try firstPage(in: file, from: low + 1, before: end) else { return end }
                low = next.offset
                continue
            }
            if !serials.contains(page.serial) { return page.offset }
            low = page.end
        }
        return end
    }

    /// The first page that begins at `offset` or after it, but before `end`. Another page or the end of the file must
    /// follow it; other matches are false.
    private static func firstPage(
        in file: MediaFile, from offset: Int64, before end: Int64
    ) throws(DecodingError) -> OggPage? {
        var start = offset
        while start < end {
            let bytes = try file.bytes(at: start, count: Int(min(Int64(searchBytes), file.size - start)))
            if bytes.count < OggPage.headerBytes { return nil }
            for index in 0...(bytes.count - 4) where bytes[index] == 0x4F && start + Int64(index) < end {
                guard bytes[index + 1] == 0x67, bytes[index + 2] == 0x67, bytes[index + 3] == 0x53,
                    let page = try OggPage(in: file, at: start + Int64(index)), page.end <= file.size
                else { continue }
                if page.end == file.size { return page }
                if try OggPage(in: file, at: page.end) != nil { return page }
            }
            start += Int64(bytes.count - 3)
        }
        return nil
    }

    /// The last page of the file, within its last 128 KiB.
    private static func lastPage(in file: MediaFile, from start: Int64) throws(DecodingError) -> OggPage? {
        var last: OggPage?
        var byteOffset = max(start, file.size - (128 << 10))
        while let page = try firstPage(in: file, from: byteOffset, before: file.size) {
            last = page
            byteOffset = page.end
        }
        return last
    }
}
