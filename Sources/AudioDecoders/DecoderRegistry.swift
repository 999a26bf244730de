package import AudioCore

/// Finds the decoder for a file, by its content alone.
package enum DecoderRegistry {
    /// Frames a second beyond which PulseAudio and PipeWire refuse a stream (PA_RATE_MAX).
    static let maximumSampleRate = 384_000

    /// Opens a decoder for the file. Blocks on reading. Throws every kind of `DecodingError`.
    package static func openDecoder(for file: MediaFile) throws(DecodingError) -> any AudioDecoder {
        if file.size == 0 { throw DecodingError(.notRecognised, "it is empty") }
        let start = try endOfTags(in: file)
        let first = try file.bytes(at: start, count: MediaKind.neededBytes)
        switch MediaKind(firstBytes: first, afterTag: start > 0) {
        case .flac: return try FLACDecoder(file: file, start: start)
        case .samples(let container): return try PCMDecoder(file: file, start: start, container: container)
        case .unsupported(let name): throw DecodingError(.notRecognised, "\(name) is not built into this version")
        case .text: throw DecodingError(.notRecognised, "not a FLAC, WAV, AIFF, AU or CAF file: it is text")
        case .unknown: throw DecodingError(.notRecognised, "not a FLAC, WAV, AIFF, AU or CAF file")
        }
    }

    /// Opens the file at this path, bytes without NUL, and a decoder for it. `shouldStop` is asked before each read, on
    /// the reading thread; true ends it with an error. Throws every kind of `DecodingError`.
    package static func openDecoder(
        pathBytes: some Sequence<UInt8>, shouldStop: @escaping @Sendable () -> Bool = { false }
    ) throws(DecodingError) -> any AudioDecoder {
        try openDecoder(for: MediaFile(pathBytes: pathBytes, shouldStop: shouldStop))
    }

    /// The same for a path that is valid text.
    package static func openDecoder(
        path: String, shouldStop: @escaping @Sendable () -> Bool = { false }
    ) throws(DecodingError) -> any AudioDecoder {
        try openDecoder(for: MediaFile(path: path, shouldStop: shouldStop))
    }

    /// The same for an open descriptor, which is closed with the decoder or the error.
    package static func openDecoder(
        descriptor: Int32, shouldStop: @escaping @Sendable () -> Bool = { false }
    ) throws(DecodingError) -> any AudioDecoder {
        try openDecoder(for: MediaFile(descriptor: descriptor, shouldStop: shouldStop))
    }

    /// Where the content begins: behind ID3v2 tags (ID3v2.4 §3.1), which some programs put before anything.
    private static func endOfTags(in file: MediaFile) throws(DecodingError) -> Int64 {
        var offset: Int64 = 0
        for _ in 0..<8 {
            let header = try file.bytes(at: offset, count: 10)
            guard header.count == 10, header.starts(with: [0x49, 0x44, 0x33]), header[6...].allSatisfy({ $0 < 128 })
            else { break }
            let length = header[6...].reduce(Int64(0)) { $0 << 7 | Int64($1) }
            offset += 10 + length + (header[5] & 0x10 != 0 ? 10 : 0)
        }
        return offset
    }
}
