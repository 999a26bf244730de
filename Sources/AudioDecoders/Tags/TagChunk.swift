import AudioCore

/// The ID3 tag that is a chunk of a WAV or AIFF file: `id3 ` or `ID3 `.
enum TagChunk {
    /// Maximum number of chunks to read.
    private static let mostChunks = 4096

    /// Offset of the tag in the file whose first chunk stands at `start`; nil: there is none. Reads the headers of
    /// chunks. Throws read errors.
    static func offset(in file: MediaFile, at start: Int64) throws(DecodingError) -> Int64? {
        let head = try file.bytes(at: start, count: 12)
        guard head.count == 12 else { return nil }
        let isLittle = head.starts(with: "RIFF".utf8) && head[8...].elementsEqual("WAVE".utf8)
        let isBig =
            head.starts(with: "FORM".utf8)
            && (head[8...].elementsEqual("AIFF".utf8) || head[8...].elementsEqual("AIFC".utf8))
        guard isLittle || isBig else { return nil }
        var chunkOffset = start + 12
        for _ in 0..<mostChunks {
            let chunk = try file.bytes(at: chunkOffset, count: 8)
            guard chunk.count == 8 else { break }
            let digits = isLittle ? Array(chunk[4...].reversed()) : Array(chunk[4...])
            let length = digits.reduce(Int64(0)) { $0 << 8 | Int64($1) }
            if String(decoding: chunk[..<4], as: UTF8.self).lowercased() == "id3 " { return chunkOffset + 8 }
            // Chunks begin at even offsets.
            chunkOffset += 8 + length + length % 2
        }
        return nil
    }
}
