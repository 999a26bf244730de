import AudioCore

/// WAV and AIFF files whose header names a coding that libsndfile does not open.
enum CompressedSamples {
    /// Maximum number of chunks to read.
    private static let mostChunks = 64
    /// Values of wFormatTag that libsndfile opens: PCM, MS ADPCM, float, A-law, µ-law, IMA ADPCM, and
    /// WAVE_FORMAT_EXTENSIBLE.
    private static let waveTags: Set<Int> = [1, 2, 3, 6, 7, 0x11, 0xFFFE]
    /// Compression types of AIFF-C that libsndfile opens.
    private static let compressionTypes: Set<String> = [
        "NONE", "twos", "sowt", "raw ", "in24", "42ni", "in32", "23ni", "fl32", "FL32", "fl64", "FL64", "ulaw", "ULAW",
        "alaw", "ALAW", "ima4",
    ]

    /// True if the file whose first chunk stands at `start` has a coding that libsndfile does not open. Reads the
    /// headers of chunks. Throws read errors.
    static func areIn(_ file: MediaFile, at start: Int64) throws(DecodingError) -> Bool {
        let head = try file.bytes(at: start, count: 12)
        guard head.count == 12 else { return false }
        let isLittle = head.starts(with: "RIFF".utf8)
        let isWave = head[8...].elementsEqual("WAVE".utf8)
        guard isWave || head[8...].elementsEqual("AIFC".utf8) else { return false }
        func number(_ bytes: ArraySlice<UInt8>) -> Int {
            (isLittle ? Array(bytes.reversed()) : Array(bytes)).reduce(0) { $0 << 8 | Int($1) }
        }
        var offset = start + 12
        for _ in 0..<mostChunks {
            let chunk = try file.bytes(at: offset, count: 8 + 22)
            guard chunk.count >= 8 else { return false }
            let length = Int64(number(chunk[4..<8]))
            if isWave, chunk.starts(with: "fmt ".utf8), chunk.count >= 10 {
                return !waveTags.contains(number(chunk[8..<10]))
            }
            if !isWave, chunk.starts(with: "COMM".utf8), chunk.count >= 30, length >= 22 {
                return !compressionTypes.contains(String(decoding: chunk[26..<30], as: UTF8.self))
            }
            offset += 8 + length + length % 2
        }
        return false
    }
}
