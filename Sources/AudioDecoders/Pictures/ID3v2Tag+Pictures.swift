import AudioCore
import TrackReading

extension ID3v2Tag {
    /// The pictures of the tag at `offset`. Empty for a tag of 2.2 or 2.3 that is unsynchronised as a whole: only a
    /// read of the whole tag would find its frames. Throws read errors.
    static func pictures(in file: MediaFile, at offset: Int64) throws(DecodingError) -> [EmbeddedPicture] {
        let header = try file.bytes(at: offset, count: 10)
        guard let length = length(header), (2...4).contains(header[3]) else { return [] }
        let version = Int(header[3])
        guard header[5] & 0x80 == 0 || version == 4, header[5] & 0x40 == 0 else { return [] }
        let end = min(offset + length, file.size)
        let headerBytes = version == 2 ? 6 : 10
        var byteOffset = offset + 10
        var result: [EmbeddedPicture] = []
        for _ in 0..<4096 where byteOffset + Int64(headerBytes) < end {
            let frame = try file.bytes(at: byteOffset, count: headerBytes)
            guard frame.count == headerBytes, (0x41...0x5A).contains(frame[0]) else { break }
            let sizeBytes = version == 2 ? frame[3..<6] : frame[4..<8]
            let isSafe = version == 4 && sizeBytes.allSatisfy { $0 < 128 }
            let size = sizeBytes.reduce(Int64(0)) { isSafe ? $0 << 7 | Int64($1) : $0 << 8 | Int64($1) }
            let content = byteOffset + Int64(headerBytes)
            byteOffset = content + size
            let name = String(decoding: frame[..<(version == 2 ? 3 : 4)], as: UTF8.self)
            let flags = version == 2 ? 0 : Int(frame[9])
            guard name == "APIC" || name == "PIC", byteOffset <= end, flags & (version == 3 ? 0xC0 : 0x0C) == 0 else {
                continue
            }
            // A byte of grouping, four of length.
            let extra = (flags & (version == 3 ? 0x20 : 0x40) != 0 ? 1 : 0) + (version == 4 && flags & 1 != 0 ? 4 : 0)
            // A frame can announce these bytes and be too short for them.
            guard size > Int64(extra) else { continue }
            if let picture = try picture(
                in: file, from: content + Int64(extra), to: byteOffset, isShort: version == 2,
                isUnsynchronised: version == 4 && flags & 2 != 0)
            {
                result.append(picture)
            }
        }
        return result
    }

    /// Reads a frame's content: encoding, type (three letters in 2.2), kind, description, data.
    private static func picture(
        in file: MediaFile, from start: Int64, to end: Int64, isShort: Bool, isUnsynchronised: Bool
    ) throws(DecodingError) -> EmbeddedPicture? {
        let head = try file.bytes(at: start, count: Int(min(1024, end - start)))
        guard head.count > 6 else { return nil }
        var index = 4
        var type = isShort ? "image/" + (TagText.text(head[1..<4]) ?? "").lowercased() : ""
        if !isShort {
            guard let zero = head[1...].firstIndex(of: 0) else { return nil }
            type = TagText.text(head[1..<zero]) ?? ""
            index = zero + 1
        }
        guard index < head.count else { return nil }
        let kind = Int(head[index])
        index += 1
        if head[0] == 1 || head[0] == 2 {
            while index + 1 < head.count, head[index] != 0 || head[index + 1] != 0 { index += 2 }
            index += 2
        } else {
            guard let zero = head[index...].firstIndex(of: 0) else { return nil }
            index = zero + 1
        }
        guard index < head.count else { return nil }
        let byteOffset = start + Int64(index)
        return EmbeddedPicture(
            kindNumber: kind, mediaType: type == "image/jpg" ? "image/jpeg" : type,
            stretches: [.init(offset: byteOffset, length: end - byteOffset)],
            coding: isUnsynchronised ? .unsynchronised : .plain)
    }
}
