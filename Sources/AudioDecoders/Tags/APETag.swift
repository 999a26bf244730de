import AudioCore
import TrackReading

/// An APEv2 tag: items of a value's length, flags, a name, a zero and the value, all in UTF-8.
enum APETag {
    private static let maximumItems = 512
    /// Bytes to read of a value: several texts of 4 KiB.
    private static let maximumValue = 64 << 10

    /// Fields of the items that begin at `offset`. Throws read errors.
    static func fields(
        in file: MediaFile, at offset: Int64, length: Int64, count: Int
    ) throws(DecodingError) -> TagFields {
        var fields = TagFields()
        var byteOffset = offset
        let end = offset + length
        var budget = 1 << 20
        for _ in 0..<min(count, maximumItems) {
            let head = try file.bytes(at: byteOffset, count: 8 + 256)
            guard head.count > 9, byteOffset < end, let zero = head[8...].firstIndex(of: 0) else { break }
            let size = head[0..<4].reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
            let valueStart = byteOffset + Int64(zero) + 1
            byteOffset = valueStart + size
            guard byteOffset <= end else { break }
            let name = String(decoding: head[8..<zero], as: UTF8.self).uppercased()
            let field = names[name] ?? name
            // Bits 1 and 2: text is 0; the others are binary or links.
            guard head[4] & 6 == 0, TagFields.knownNames.contains(field), budget > 0 else { continue }
            let value = try file.bytes(at: valueStart, count: Int(min(size, Int64(maximumValue))))
            budget -= value.count
            for part in value.split(separator: 0) { fields.add(field, TagText.text(part)) }
        }
        return fields
    }

    /// The text of the item of this name (in capitals) in the tag at the end of a file, at most `limit` bytes long;
    /// nil: there is none. Throws read errors.
    static func text(of name: String, in file: MediaFile, upTo limit: Int) throws(DecodingError) -> [UInt8]? {
        guard let items = try TrailingTags(in: file).apeItems else { return nil }
        var byteOffset = items.offset
        for _ in 0..<min(items.count, maximumItems) {
            let head = try file.bytes(at: byteOffset, count: 8 + 256)
            guard head.count > 9, byteOffset < items.offset + items.length, let zero = head[8...].firstIndex(of: 0)
            else {
                return nil
            }
            let size = head[0..<4].reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
            let start = byteOffset + Int64(zero) + 1
            guard start + size <= items.offset + items.length else { return nil }
            if head[4] & 6 == 0, String(decoding: head[8..<zero], as: UTF8.self).uppercased() == name, size <= limit {
                return try file.bytes(at: start, count: Int(size))
            }
            byteOffset = start + size
        }
        return nil
    }

    /// Names that differ from those of Vorbis comments.
    private static let names = [
        "TRACK": "TRACKNUMBER", "DISC": "DISCNUMBER", "ABSTRACT": "DESCRIPTION",
    ]
}
