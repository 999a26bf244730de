import TrackReading

/// The texts of ID3: an encoding, then one or more texts, separated by zeros.
enum ID3Text {
    /// The texts in `bytes`, in `encoding` (0 Latin-1, 1 UTF-16 with a byte order mark, 2 UTF-16 big-endian, 3 UTF-8).
    /// Each is valid and has at most 4 KiB; empty ones are "".
    static func texts(_ bytes: ArraySlice<UInt8>, encoding: UInt8) -> [String] {
        switch encoding {
        case 1: return utf16(bytes, bigEndian: LegacyText.looksBigEndian(bytes))
        case 2: return utf16(bytes, bigEndian: true)
        case 3: return split(bytes).map { TagText.text($0) ?? "" }
        default: return split(bytes).map { latin1($0) ?? "" }
        }
    }

    /// The text of bytes marked as Latin-1; nil: it is empty.
    static func latin1(_ bytes: ArraySlice<UInt8>) -> String? {
        TagText.text(Array(LegacyText.latin1(bytes.prefix(TagText.maximumBytes)).utf8))
    }

    private static func split(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        bytes.split(separator: 0, omittingEmptySubsequences: false)
    }

    /// The texts of a frame that begins with its encoding.
    static func texts(_ content: [UInt8]) -> [String] {
        guard let encoding = content.first else { return [] }
        return texts(content[1...], encoding: encoding)
    }

    /// The long text of a frame TXXX: encoding, description, text. UTF-16 becomes UTF-8; other encodings keep their
    /// bytes. Nil: the description is not `name` (in capitals).
    static func longText(_ content: [UInt8], about name: String) -> [UInt8]? {
        guard let encoding = content.first, texts(content).first?.uppercased() == name else { return nil }
        let bytes = content[1...]
        guard encoding == 1 || encoding == 2 else {
            return bytes.firstIndex(of: 0).map { Array(bytes[($0 + 1)...].prefix { $0 != 0 }) }
        }
        let units = stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2)
        guard let end = units.first(where: { bytes[$0] == 0 && bytes[$0 + 1] == 0 }) else { return nil }
        var text = bytes[(end + 2)...]
        var isBig = encoding == 2 || LegacyText.looksBigEndian(text)
        if text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF]) {
            isBig = text.first == 0xFE
            text = text.dropFirst(2)
        }
        let decoded = stride(from: text.startIndex, to: text.endIndex - 1, by: 2).map { offset in
            let (first, second) = (UInt16(text[offset]), UInt16(text[offset + 1]))
            return isBig ? first << 8 | second : second << 8 | first
        }
        return Array(String(decoding: decoded.prefix { $0 != 0 }, as: UTF16.self).utf8)
    }

    private static func utf16(_ bytes: ArraySlice<UInt8>, bigEndian: Bool) -> [String] {
        var units: [UInt16] = []
        var result: [String] = []
        var isBig = bigEndian
        var isFirst = true
        func close() { result.append(TagText.text(Array(String(decoding: units, as: UTF16.self).utf8)) ?? "") }
        var index = bytes.startIndex
        while index + 1 < bytes.endIndex {
            let (first, second) = (bytes[index], bytes[index + 1])
            index += 2
            if isFirst, first == 0xFF && second == 0xFE || first == 0xFE && second == 0xFF {
                isBig = first == 0xFE
                isFirst = false
                continue
            }
            isFirst = false
            let unit = isBig ? UInt16(first) << 8 | UInt16(second) : UInt16(second) << 8 | UInt16(first)
            if unit == 0 {
                close()
                units = []
                isFirst = true
            } else if units.count < TagText.maximumBytes {
                units.append(unit)
            }
        }
        close()
        return result
    }
}
