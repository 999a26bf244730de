/// The used comments of a Vorbis comment header (RFC 9639 §8.6). Pictures in them are skipped.
enum CommentBlock {
    private static let maximumComments = 4096
    private static let maximumValue = TagText.maximumBytes + 4
    /// Bytes at the start of a comment that include its name.
    private static let nameBytes = NameTable.maximumBytes + 16

    /// Reads the next comments in `source`. Inconsistent parts are left out.
    static func read<Source: ByteSource>(_ source: inout Source, into set: inout TagSet) throws(TrackReadingError) {
        let vendor = try source.peek(4)
        guard vendor.count == 4 else { return }
        try source.skip(4 + Int64(vendor.little32(0)))
        let count = try source.peek(4)
        guard count.count == 4 else { return }
        let wanted = min(count.little32(0), maximumComments)
        try source.skip(4)
        for _ in 0..<wanted {
            let size = try source.peek(4)
            guard size.count == 4 else { break }
            let length = size.little32(0)
            try source.skip(4)
            let start = try source.peek(min(length, nameBytes))
            if let separator = start.firstIndex(of: UInt8(ascii: "=")) {
                try take(separator, start, length, &source, &set)
                if set.keepsComments { try note(separator, length, &source, &set) }
            }
            try source.skip(Int64(length))
        }
        set.close()
    }

    /// Keeps a comment by its name, unless it is a picture.
    private static func note<Source: ByteSource>(
        _ separator: Int, _ length: Int, _ source: inout Source, _ set: inout TagSet
    ) throws(TrackReadingError) {
        let whole = try source.peek(min(length, separator + 1 + maximumValue))
        let name = whole.part(0, separator)
        let meaning = FieldNames.comments.meaning(name)
        guard meaning != .pictureBlock, meaning != .picture else { return }
        set.note(name.text, whole.part(separator + 1), meaning)
    }

    private static func take<Source: ByteSource>(
        _ separator: Int, _ start: ByteView, _ length: Int, _ source: inout Source, _ set: inout TagSet
    ) throws(TrackReadingError) {
        let name = start.part(0, separator)
        guard let meaning = FieldNames.comments.meaning(name) else {
            guard (name[0] | 0x20) == UInt8(ascii: "c"), length > separator + 1, length < 4096 else { return }
            let whole = try source.peek(length)
            _ = set.takeChapter(whole.part(0, separator), whole.part(separator + 1))
            return
        }
        switch meaning {
        case .pictureBlock: set.addPicture(type: pictureType(start.part(separator + 1)))
        case .lyrics, .cueSheet, .picture: set.take(meaning, start.part(separator + 1))
        case .value, .number, .count, .gain, .year, .originalYear, .dayMonth, .compilation, .movement:
            let whole = try source.peek(min(length, separator + 1 + maximumValue))
            let value = whole.part(separator + 1)
            if !value.isEmpty { set.take(meaning, value) }
        }
    }

    /// The media type at the start of a picture block in Base64; the kind and a length of four bytes each precede it.
    private static func pictureType(_ text: ByteView) -> String? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        for (index, letter) in text.part(0, 56).buffer.enumerated() {
            guard let value = base64(letter) else { return nil }
            bits = bits << 6 | UInt32(value)
            if index % 4 == 3 { bytes += [UInt8(bits >> 16 & 0xFF), UInt8(bits >> 8 & 0xFF), UInt8(bits & 0xFF)] }
        }
        return bytes.withUnsafeBufferPointer { buffer in
            let view = ByteView(buffer.baseAddress, count: buffer.count)
            return PictureTypes.type(view.part(8, view.big32(4)))
        }
    }

    private static func base64(_ letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): letter - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): letter - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): letter - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
