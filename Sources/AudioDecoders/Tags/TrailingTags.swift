import AudioCore

/// The tags that stand at the end of a file: ID3v1 in its last 128 bytes, APEv2 and Lyrics3 before it, ID3v2.4 with a footer.
struct TrailingTags {
    /// Offset of the first of them: the end of the possible audio.
    private(set) var audioEnd: Int64
    /// The 128 bytes of ID3v1.
    private(set) var id3v1: [UInt8]?
    /// Offset and bytes of the items of an APE tag, and their number by its footer.
    private(set) var apeItems: (offset: Int64, length: Int64, count: Int)?

    /// Reads the end of the file. Throws read errors.
    init(in file: MediaFile) throws(DecodingError) {
        audioEnd = file.size
        let tail = try file.bytes(at: max(0, file.size - 128), count: 128)
        if tail.count == 128, tail.starts(with: Array("TAG".utf8)) {
            id3v1 = tail
            audioEnd -= 128
        }
        // Programs put them in any order; there are at most three.
        for _ in 0..<3 {
            let before = audioEnd
            try takeAPE(in: file)
            try takeLyrics(in: file)
            try takeID3v2(in: file)
            if audioEnd == before { break }
        }
    }

    /// APEv2 (or v1): a footer of 32 bytes with the length of the preceding items.
    private mutating func takeAPE(in file: MediaFile) throws(DecodingError) {
        guard audioEnd >= 32 else { return }
        let footer = try file.bytes(at: audioEnd - 32, count: 32)
        guard footer.count == 32, footer.starts(with: Array("APETAGEX".utf8)) else { return }
        func number(_ index: Int) -> Int64 { footer[index..<index + 4].reversed().reduce(0) { $0 << 8 | Int64($1) } }
        let length = number(12)
        let flags = number(20)
        let start = audioEnd - length - (flags & 0x8000_0000 != 0 ? 32 : 0)
        // A header in place of the footer has the length of the following bytes.
        guard length >= 32, flags & 0x2000_0000 == 0, start >= 0 else { return }
        if apeItems == nil { apeItems = (audioEnd - length, length - 32, Int(number(16))) }
        audioEnd = start
    }

    /// Lyrics3 v2: its length in six digits, then `LYRICS200`.
    private mutating func takeLyrics(in file: MediaFile) throws(DecodingError) {
        guard audioEnd >= 15 + 11 else { return }
        let end = try file.bytes(at: audioEnd - 15, count: 15)
        guard end.count == 15, end[6...].elementsEqual("LYRICS200".utf8),
            end[..<6].allSatisfy({ (0x30...0x39).contains($0) }),
            let length = Int64(String(decoding: end[..<6], as: UTF8.self)), length + 15 <= audioEnd
        else { return }
        let start = audioEnd - 15 - length
        guard try file.bytes(at: start, count: 11).elementsEqual("LYRICSBEGIN".utf8) else { return }
        audioEnd = start
    }

    /// ID3v2.4 §3.4: a copy of the header with `3DI` after the tag.
    private mutating func takeID3v2(in file: MediaFile) throws(DecodingError) {
        guard audioEnd >= 20 else { return }
        let footer = try file.bytes(at: audioEnd - 10, count: 10)
        guard footer.count == 10, footer.starts(with: Array("3DI".utf8)), footer[6...].allSatisfy({ $0 < 128 }) else {
            return
        }
        let start = audioEnd - 20 - footer[6...].reduce(0) { $0 << 7 | Int64($1) }
        if start >= 0 { audioEnd = start }
    }
}
