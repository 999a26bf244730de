package import AudioCore
import TrackReading

/// A picture inside a music file: its place in the file. The bytes are read on request only.
package struct EmbeddedPicture: Equatable, Sendable {
    /// Coding of its bytes in the file.
    package enum Coding: Sendable {
        case plain
        /// With a zero after each 0xFF, which the reader drops (ID3v2 §5).
        case unsynchronised
        /// As text (METADATA_BLOCK_PICTURE of Vorbis comments): the text is a FLAC picture block, and the picture is
        /// its end.
        case base64Block
    }

    /// A contiguous range of the file.
    package struct Stretch: Equatable, Sendable {
        /// Offset of the first byte.
        package let offset: Int64
        /// Number of bytes.
        package let length: Int64
    }

    /// Picture type of ID3v2 §4.14 and FLAC: 3 is the front cover, 0 another picture.
    package let kindNumber: Int
    /// Media type in the file, such as `image/jpeg`; empty if the file has none.
    package let mediaType: String
    /// Ranges of the file that hold its bytes, in order.
    package let stretches: [Stretch]
    /// Coding of the bytes there.
    package let coding: Coding

    /// The pictures of a file, in the order of the file, at most 32. Reads headers only; blocks on reading. Throws read
    /// errors.
    package static func all(in file: MediaFile) throws(DecodingError) -> [EmbeddedPicture] {
        var result: [EmbeddedPicture] = []
        var start: Int64 = 0
        while result.count < maximumCount, let length = ID3v2Tag.length(try file.bytes(at: start, count: 10)) {
            result += try ID3v2Tag.pictures(in: file, at: start)
            start += length
        }
        let first = try file.bytes(at: start, count: 4)
        if first.elementsEqual("fLaC".utf8) {
            result += try flacPictures(in: file, at: start + 4)
        } else if first.elementsEqual("OggS".utf8), let headers = try? OggHeaders(in: file, at: start) {
            result += try headers.pictures(in: file)
        } else {
            result += try chunkPictures(in: file, at: start)
        }
        return Array(result.prefix(maximumCount))
    }

    private static let maximumCount = 32

    private static func flacPictures(in file: MediaFile, at start: Int64) throws(DecodingError) -> [EmbeddedPicture] {
        var result: [EmbeddedPicture] = []
        var offset = start
        for _ in 0..<4096 {
            let header = try file.bytes(at: offset, count: 4)
            guard header.count == 4 else { break }
            let length = header[1...].reduce(Int64(0)) { $0 << 8 | Int64($1) }
            if header[0] & 0x7F == 6, let picture = try block(in: file, at: offset + 4, length: length) {
                result.append(picture)
            }
            offset += 4 + length
            if header[0] & 0x80 != 0 { break }
        }
        return result
    }

    /// The picture of a FLAC block (RFC 9639 §8.8): kind, type, description, four numbers, data, each text with its length.
    private static func block(
        in file: MediaFile, at start: Int64, length: Int64
    ) throws(DecodingError) -> EmbeddedPicture? {
        let head = try file.bytes(at: start, count: 8 + 128)
        guard head.count >= 8 else { return nil }
        func number(_ bytes: ArraySlice<UInt8>) -> Int64 { bytes.reduce(0) { $0 << 8 | Int64($1) } }
        let typeLength = Int(number(head[4..<8]))
        guard typeLength <= 100, head.count >= 8 + typeLength else { return nil }
        let type = TagText.text(head[8..<8 + typeLength]) ?? ""
        let description = try file.bytes(at: start + 8 + Int64(typeLength), count: 4)
        let lengthOffset = start + 12 + Int64(typeLength) + number(description[...]) + 16
        let size = number(try file.bytes(at: lengthOffset, count: 4)[...])
        guard description.count == 4, size > 0, lengthOffset + 4 + size <= start + length,
            lengthOffset + 4 + size <= file.size
        else {
            return nil
        }
        return EmbeddedPicture(
            kindNumber: Int(number(head[0..<4])), mediaType: type,
            stretches: [Stretch(offset: lengthOffset + 4, length: size)], coding: .plain)
    }
}

extension OggHeaders {
    /// The pictures in the comments. Throws read errors.
    fileprivate func pictures(in file: MediaFile) throws(DecodingError) -> [EmbeddedPicture] {
        guard let comments else { return [] }
        var result: [EmbeddedPicture] = []
        var position = Int64(Self.commentStart(coding))
        func number() throws(DecodingError) -> Int64? {
            let bytes = try comments.bytes(in: file, at: position, count: 4)
            guard bytes.count == 4 else { return nil }
            position += 4
            return bytes.reversed().reduce(0) { $0 << 8 | Int64($1) }
        }
        guard let vendor = try number() else { return [] }
        position += vendor
        guard let count = try number() else { return [] }
        let name = Array("METADATA_BLOCK_PICTURE=".utf8)
        for _ in 0..<min(count, 4096) {
            guard let length = try number(), position + length <= comments.length else { break }
            let start = try comments.bytes(in: file, at: position, count: name.count)
            if length > name.count, String(decoding: start, as: UTF8.self).uppercased().utf8.elementsEqual(name) {
                let from = position + Int64(name.count)
                let found = comments.stretches(from: from, count: length - Int64(name.count))
                // The block begins with the picture's type; 4 bytes are 6 letters of Base64.
                let head = try comments.bytes(in: file, at: from, count: 8)
                let kind = EmbeddedPicture.decodedBase64(head)?.prefix(4).reduce(0) { $0 << 8 | Int($1) }
                result.append(
                    EmbeddedPicture(
                        kindNumber: kind ?? 0, mediaType: "",
                        stretches: found.map { .init(offset: $0.offset, length: $0.count) }, coding: .base64Block))
            }
            position += length
        }
        return result
    }
}
