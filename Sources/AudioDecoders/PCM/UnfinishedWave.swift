import AudioCore

/// A WAV file whose recorder died before it wrote the length of the sound: the header says 0, and the sound is there. Its
/// readers get the length up to the end of the file.
struct UnfinishedWave {
    /// Offset in the file of the length, and its bytes in the header that readers get.
    private let place: Int64
    private let length: [UInt8]

    private static let mostChunks = 1024

    /// Nil: the file that begins at `start` is another one. Reads the headers of chunks. Throws read errors.
    init?(_ file: MediaFile, at start: Int64) throws(DecodingError) {
        let head = try file.bytes(at: start, count: 12)
        guard head.count == 12, head.starts(with: "RIFF".utf8), head[8...].elementsEqual("WAVE".utf8) else {
            return nil
        }
        var offset = start + 12
        for _ in 0..<Self.mostChunks {
            let chunk = try file.bytes(at: offset, count: 8)
            guard chunk.count == 8 else { return nil }
            let size = chunk[4...].reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
            guard chunk.starts(with: "data".utf8) else {
                offset += 8 + size + size % 2
                continue
            }
            let rest = file.size - offset - 8
            // A file without sound may have further chunks.
            guard size == 0, rest > 0, !Self.isChunk(try file.bytes(at: offset + 8, count: 8), within: rest) else {
                return nil
            }
            place = offset + 4
            length = (0..<4).map { UInt8(truncatingIfNeeded: min(rest, 0xFFFF_FFF0) >> (8 * Int64($0))) }
            return
        }
        return nil
    }

    /// True if a chunk of text letters and a length within the rest of the file begins here.
    static func isChunk(_ bytes: some Collection<UInt8>, within rest: Int64) -> Bool {
        let bytes = Array(bytes)
        guard bytes.count == 8, bytes[..<4].allSatisfy({ (0x20..<0x7F).contains($0) }) else { return false }
        return bytes[4...].reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) } <= rest - 8
    }

    /// Replaces the length in bytes that were read at an offset of the file.
    func apply(to bytes: UnsafeMutableRawBufferPointer, readAt offset: Int64) {
        for (index, byte) in length.enumerated() {
            let position = place + Int64(index) - offset
            if bytes.indices.contains(Int(clamping: position)) { bytes[Int(clamping: position)] = byte }
        }
    }
}
