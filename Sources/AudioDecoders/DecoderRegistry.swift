package import AudioCore

/// Finds the decoder for a file, by its content alone.
package enum DecoderRegistry {
    /// Frames a second beyond which PulseAudio and PipeWire refuse a stream (PA_RATE_MAX).
    static let maximumSampleRate = AudioFormat.maximumSampleRate

    /// Opens a decoder for the file. Blocks on reading. Throws every kind of `DecodingError`.
    package static func openDecoder(for file: MediaFile) throws(DecodingError) -> any AudioDecoder {
        if file.size == 0 { throw DecodingError(.notRecognised, "it is empty") }
        let tags = try LeadingTags(in: file)
        let first = try file.bytes(at: tags.end, count: MediaKind.neededBytes)
        switch MediaKind(firstBytes: first, afterTag: tags.end > 0) {
        case .flac: return try FLACDecoder(file: file, start: tags.end, tags: tags.fields)
        case .ogg:
            do throws(DecodingError) { return try openAnyOgg(file, from: tags.end) } catch {
                // Ogg with Speex and the like.
                return try openInChild(file, insteadOf: error)
            }
        case .samples(let container):
            if try CompressedSamples.areIn(file, at: tags.end) {
                guard DecodeProgram.path != nil else {
                    throw DecodingError(
                        .notRecognised, "its \(container) header names compressed samples: \(DecodeProgram.howToGet)")
                }
                return try openInChild(
                    file, insteadOf: DecodingError(.notRecognised, PCMDecoder.unknownCoding(in: container)))
            }
            do throws(DecodingError) {
                return try PCMDecoder(file: file, start: tags.end, container: container)
            } catch { return try openInChild(file, insteadOf: error) }
        case .mpegAudio:
            if let stream = try MPEGStream(in: file, from: tags.end, isSure: true) {
                return try MP3Decoder(file: file, stream: stream, tags: tags.fields)
            }
            guard tags.end > 0 else { throw notRecognised }
            throw DecodingError(.notRecognised, "it has an ID3 tag, but no MPEG audio follows it")
        case .needsChild(let name):
            guard DecodeProgram.path != nil else {
                throw DecodingError(.notRecognised, "it is \(name): \(DecodeProgram.howToGet)")
            }
            return try openInChild(file)
        case .unsupported(let name): throw DecodingError(.notRecognised, "this version does not support \(name)")
        case .text: throw DecodingError(.notRecognised, notRecognised.message + ": it is text")
        case .unknown:
            // Recordings of running streams begin anywhere.
            if let stream = try MPEGStream(in: file, from: 0, isSure: false) {
                return try MP3Decoder(file: file, stream: stream, tags: tags.fields)
            }
            if let decoder = try openOggFromItsMiddle(file, from: tags.end) { return decoder }
            if let blocks = try FLACMetadataBlocks(searching: file, from: 0) {
                return try FLACDecoder(file: file, blocks: blocks, tags: tags.fields)
            }
            throw notRecognised
        }
    }

    private static func openAnyOgg(
        _ file: MediaFile, from start: Int64
    ) throws(DecodingError) -> any AudioDecoder {
        if let page = try OggPage(in: file, at: start), !page.isFirst,
            let decoder = try openOggFromItsMiddle(file, from: start)
        {
            return decoder
        }
        return try openOgg(file, from: start)
    }

    /// Opens a file in nowplaying-decode. Throws the child's refusal, or `.unavailable` for a disk error.
    private static func openInChild(_ file: MediaFile) throws(DecodingError) -> ChildDecoder {
        let decoder = try ChildDecoder(file: file.descriptor)
        do throws(DecodingError) { try decoder.awaitOpening() } catch {
            // The child reports only that a read failed, not the reason.
            guard error.kind == .mediaGone, error != decoder.hung, file.isReadable else { throw error }
            throw DecodingError(
                .unavailable,
                "the disk can't read a part of the file, but reads others: restore it from a copy and check the disk")
        }
        return decoder
    }

    /// The same for a file in a coding that this process does not decode; `error`: our reason. Throws `error` if it has
    /// another reason, if nowplaying-decode does not know the coding either, or if it is not installed.
    private static func openInChild(
        _ file: MediaFile, insteadOf error: DecodingError
    ) throws(DecodingError) -> ChildDecoder {
        guard error.kind == .notRecognised, DecodeProgram.path != nil else { throw error }
        do throws(DecodingError) { return try openInChild(file) } catch let other {
            throw other.kind == .notRecognised ? error : other
        }
    }

    private static let notRecognised = DecodingError(
        .notRecognised, "not in a known audio format")

    /// Opens the file at this path, bytes without NUL, and a decoder for it. `shouldStop` is called before each read,
    /// on the reading thread; true ends the read with an error. Throws every kind of `DecodingError`.
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
}
