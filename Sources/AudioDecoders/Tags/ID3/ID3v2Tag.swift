import AudioCore

/// An ID3v2 tag, version 2.2, 2.3 or 2.4 (id3.org). It reads the texts that this project uses, and skips pictures and
/// all other large frames.
struct ID3v2Tag {
    /// Fields read so far.
    private(set) var fields = TagFields()
    /// The cue sheet in a text CUESHEET, if `readsCueSheet` asked for it.
    private(set) var cueSheet: [UInt8]?
    /// End of the tag in the file.
    let end: Int64

    private let version: Int
    private let readsCueSheet: Bool
    private static let maximumFrames = 4096
    /// Bytes to read of a frame's content: several texts of 4 KiB, in any encoding.
    private static let maximumContent = 64 << 10
    private static let maximumCueSheet = 1 << 20

    /// Reads the tag at `offset`; nil: there is none. Skips invalid frames. Throws read errors.
    init?(in file: MediaFile, at offset: Int64, readsCueSheet: Bool = false) throws(DecodingError) {
        let header = try file.bytes(at: offset, count: 10)
        guard let length = Self.length(header) else { return nil }
        end = offset + length
        version = Int(header[3])
        self.readsCueSheet = readsCueSheet
        guard (2...4).contains(version), header[5] & 0x40 == 0 || version > 2 else { return }
        let bodyEnd = end - (header[5] & 0x10 != 0 && version == 4 ? 10 : 0)
        // In 2.4 each frame has its own flag for unsynchronisation.
        var reader = ID3v2Reader(
            file: file, offset: offset + 10, end: bodyEnd,
            isUnsynchronised: header[5] & 0x80 != 0 && version < 4)
        if header[5] & 0x40 != 0 {
            let size = try reader.read(4)
            guard size.count == 4 else { return }
            // In 2.3 the size does not include itself; in 2.4 it does, in 7 bits a byte.
            let length = version == 3 ? Self.plain(size) : max(0, Self.syncSafe(size) - 4)
            try reader.skip(min(length, 1 << 20))
        }
        for _ in 0..<Self.maximumFrames {
            guard try readFrame(&reader, in: file) else { break }
        }
    }

    /// Bytes of the whole tag that begins with this header; nil: it is not a tag.
    static func length(_ header: [UInt8]) -> Int64? {
        guard header.count >= 10, header.starts(with: [0x49, 0x44, 0x33]), header[3] < 0xFF, header[4] < 0xFF,
            header[6..<10].allSatisfy({ $0 < 128 })
        else { return nil }
        return 10 + Int64(syncSafe(header[6..<10])) + (header[5] & 0x10 != 0 ? 10 : 0)
    }

    /// A number of seven bits a byte, the highest first (ID3v2.4 §6.2).
    static func syncSafe(_ bytes: some Sequence<UInt8>) -> Int { bytes.reduce(0) { $0 << 7 | Int($1 & 0x7F) } }
    private static func plain(_ bytes: some Sequence<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    /// Adds the next frame; false: there is none. Throws read errors.
    private mutating func readFrame(_ reader: inout ID3v2Reader, in file: MediaFile) throws(DecodingError) -> Bool {
        let header = try reader.read(version == 2 ? 6 : 10)
        guard header.count == (version == 2 ? 6 : 10), Self.isName(header[..<(version == 2 ? 3 : 4)]) else {
            return false
        }
        let name = String(decoding: header[..<(version == 2 ? 3 : 4)], as: UTF8.self)
        var size = version == 2 ? Self.plain(header[3..<6]) : Self.plain(header[4..<8])
        if version == 4 { size = try frameSize(header, reader, in: file) }
        let flags = version == 2 ? 0 : Int(header[9])
        // The flags for compression and encryption are at the top of the second byte in 2.3, and in its middle in 2.4.
        let isPacked = flags & (version == 3 ? 0xC0 : 0x0C) != 0
        guard ID3v2Frames.isKnown(name), !isPacked, size > 0 else {
            try reader.skip(size)
            return reader.left > 0
        }
        let isText = name == "TXXX" || name == "TXX"
        let limit = name == "CHAP" ? ID3v2Chapter.readBytes : Self.maximumContent
        let wanted = min(size, isText && readsCueSheet ? Self.maximumCueSheet : limit)
        var content = try reader.read(wanted)
        try reader.skip(size - wanted)
        // Removes a byte of grouping; in 2.4 also four bytes with the length without unsynchronisation.
        if flags & (version == 3 ? 0x20 : 0x40) != 0 { content.removeFirst(min(1, content.count)) }
        if version == 4 {
            if flags & 0x01 != 0 { content.removeFirst(min(4, content.count)) }
            if flags & 0x02 != 0 { content = Self.synchronised(content) }
        }
        if name == "CHAP" {
            fields.add(ID3v2Chapter.chapter(content, version: version))
        } else {
            ID3v2Frames.take(name, content, into: &fields)
            if isText, readsCueSheet, cueSheet == nil { cueSheet = ID3Text.longText(content, about: "CUESHEET") }
        }
        return reader.left > 0
    }

    /// The size of a frame of 2.4: 7 bits a byte, but some programs (iTunes) wrote 8. The size that leads to another
    /// frame or to the end is right.
    private func frameSize(
        _ header: [UInt8], _ reader: ID3v2Reader, in file: MediaFile
    ) throws(DecodingError) -> Int {
        let plain = Self.plain(header[4..<8])
        let safe = Self.syncSafe(header[4..<8])
        if plain == safe { return safe }
        if header[4..<8].contains(where: { $0 > 127 }) { return plain }
        func leadsOn(_ size: Int) throws(DecodingError) -> Bool {
            let next = reader.offset + Int64(size)
            if next == reader.end { return true }
            guard next + 4 <= reader.end else { return false }
            let name = try file.bytes(at: next, count: 4)
            return Self.isName(name) || name.allSatisfy { $0 == 0 }
        }
        return try leadsOn(safe) ? safe : try leadsOn(plain) ? plain : safe
    }

    private static func isName(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.allSatisfy { (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) }
    }

    private static func synchronised(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var last: UInt8 = 0
        for byte in bytes {
            if !(last == 0xFF && byte == 0) { result.append(byte) }
            last = byte
        }
        return result
    }
}
