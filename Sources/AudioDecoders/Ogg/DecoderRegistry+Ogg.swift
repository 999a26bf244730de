import AudioCore

extension DecoderRegistry {
    /// Opens the Ogg stream or chain that begins at `start`: with the library of its coding, which plays most chains as
    /// one, or link by link. Throws every kind of `DecodingError`.
    static func openOgg(_ file: MediaFile, from start: Int64) throws(DecodingError) -> any AudioDecoder {
        let headers = try OggHeaders(in: file, at: start)
        if headers.coding == .flac {
            let links = try OggChain.links(in: file, from: start)
            return links.count > 1
                ? try ChainedOggDecoder(file, links: links) : try openOggLink(file, start..<file.size)
        }
        // A library would keep the headers of later links, of any size.
        let links = try OggChain.links(in: file, from: start)
        for link in links.dropFirst() {
            // The library skips a link of another kind.
            guard let headers = try? OggHeaders(in: file, at: link.lowerBound) else { continue }
            if headers.areLarge(before: link.upperBound) { return try ChainedOggDecoder(file, links: links) }
        }
        do throws(DecodingError) {
            let stream = try open(headers, file, start..<file.size)
            let rates = Set(stream.links.map(\.sampleRate))
            if rates.count == 1 { return try OggDecoder(stream, codec: name(of: headers.coding)) }
        } catch {
            // The libraries refuse a chain with links of another coding.
            guard error.kind == .broken, links.count > 1 else { throw error }
        }
        return try ChainedOggDecoder(file, links: links)
    }

    /// Opens a single link, in these bytes of the file. Throws every kind of `DecodingError`.
    static func openOggLink(_ file: MediaFile, _ bytes: Range<Int64>) throws(DecodingError) -> any AudioDecoder {
        let headers = try OggHeaders(in: file, at: bytes.lowerBound)
        guard headers.coding == .flac else {
            return try OggDecoder(open(headers, file, bytes), codec: name(of: headers.coding))
        }
        let source = try OggSource(file: file, bytes, headers: headers)
        return try OggFLACDecoder(source, headers: headers, fields: headers.fields(in: file))
    }

    private static func open(
        _ headers: OggHeaders, _ file: MediaFile, _ bytes: Range<Int64>
    ) throws(DecodingError) -> any LinkedStream {
        let source = try OggSource(file: file, bytes, headers: headers)
        let fields = try headers.fields(in: file)
        return headers.coding == .opus
            ? try OpusStream(source, fields: fields) : try VorbisStream(source, fields: fields)
    }

    private static func name(of coding: OggHeaders.Coding) -> String { coding == .opus ? "Opus" : "Vorbis" }
}
