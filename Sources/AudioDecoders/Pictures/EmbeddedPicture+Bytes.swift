package import AudioCore

extension EmbeddedPicture {
    /// The picture's bytes. Blocks on reading; holds all bytes in memory. Throws read errors, and `.unavailable` if the
    /// picture has more than `limit` bytes, is cut off or has an invalid coding.
    package func bytes(in file: MediaFile, limit: Int) throws(DecodingError) -> [UInt8] {
        let length = stretches.reduce(Int64(0)) { $0 + $1.length }
        let most = coding == .base64Block ? Int64(limit) / 3 * 4 + (64 << 10) : Int64(limit)
        guard length <= most else {
            throw DecodingError(.unavailable, "it has more than \(limit >> 20) MiB")
        }
        var raw: [UInt8] = []
        raw.reserveCapacity(Int(length))
        for stretch in stretches {
            let count = Int(stretch.length)
            let part = try file.bytes(at: stretch.offset, count: count)
            guard part.count == count else { throw DecodingError(.unavailable, "it is truncated") }
            raw += part
        }
        switch coding {
        case .plain: return raw
        case .unsynchronised: return Self.synchronised(raw)
        case .base64Block:
            let picture = Self.decodedBase64(raw).flatMap(Self.picture(inBlock:))
            guard let picture, picture.count <= limit else {
                throw DecodingError(.unavailable, "it is not a picture block in Base64")
            }
            return picture
        }
    }

    /// The bytes without the zero after each 0xFF (ID3v2.4 §6.1).
    private static func synchronised(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var last: UInt8 = 0
        for byte in bytes {
            if last != 0xFF || byte != 0 { result.append(byte) }
            last = byte
        }
        return result
    }

    /// Decodes Base64 (RFC 4648 §4) and skips white space; nil: the text is not Base64.
    static func decodedBase64(_ text: [UInt8]) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(text.count / 4 * 3)
        var bits: UInt32 = 0
        var count = 0
        for byte in text {
            let value: UInt8
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = byte - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = byte - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0") + 52
            case UInt8(ascii: "+"): value = 62
            case UInt8(ascii: "/"): value = 63
            case UInt8(ascii: "="), 0x20, 0x09, 0x0A, 0x0D: continue
            default: return nil
            }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return result
    }

    /// The picture at the end of a FLAC picture block (RFC 9639 §8.8).
    private static func picture(inBlock block: [UInt8]) -> [UInt8]? {
        var byteOffset = 4
        func number() -> Int? {
            guard byteOffset + 4 <= block.count else { return nil }
            defer { byteOffset += 4 }
            return block[byteOffset..<byteOffset + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        for _ in 0..<2 {
            guard let length = number(), length <= block.count - byteOffset else { return nil }
            byteOffset += length
        }
        byteOffset += 16
        guard let length = number(), length > 0, length <= block.count - byteOffset else { return nil }
        return Array(block[byteOffset..<byteOffset + length])
    }
}
