/// Ogg files taken apart and put together by hand.
extension AudioMaterial {
    /// The pages of an Ogg file (RFC 3533 §6).
    package static func oggPages(_ bytes: [UInt8]) -> [Range<Int>] {
        var result: [Range<Int>] = []
        var place = 0
        while place + 27 <= bytes.count {
            let segments = Int(bytes[place + 26])
            let length = bytes[(place + 27)..<(place + 27 + segments)].reduce(0) { $0 + Int($1) }
            result.append(place..<place + 27 + segments + length)
            place = result.last!.upperBound
        }
        return result
    }

    /// Writes the right checksum into the first page.
    package static func setOggChecksum(_ bytes: inout [UInt8]) {
        guard let first = oggPages(bytes).first else { return }
        bytes.replaceSubrange(first, with: withChecksum(Array(bytes[first])))
    }

    /// The file with these comments instead of its own; nil if its headers are not as those of Vorbis or Opus.
    package static func oggWithComments(_ bytes: [UInt8], _ comments: [[UInt8]]) -> [UInt8]? {
        let pages = oggPages(bytes)
        guard let first = pages.first, pages.count > 2 else { return nil }
        let serial = Array(bytes[(first.lowerBound + 14)..<(first.lowerBound + 18)])
        let isVorbis = bytes[28..<35].elementsEqual([1] + Array("vorbis".utf8)) || bytes[29] == UInt8(ascii: "v")
        // Packets of the headers behind the first, and the pages that they fill.
        var packets: [[UInt8]] = [[]]
        var next = 1
        while packets.count <= (isVorbis ? 2 : 1), next < pages.count {
            let start = pages[next].lowerBound
            var place = start + 27 + Int(bytes[start + 26])
            for length in bytes[(start + 27)..<(start + 27 + Int(bytes[start + 26]))] {
                packets[packets.count - 1] += bytes[place..<place + Int(length)]
                place += Int(length)
                if length < 255 { packets.append([]) }
            }
            next += 1
        }
        let content = vorbisComments(comments).content
        packets[0] = isVorbis ? [3] + Array("vorbis".utf8) + content + [1] : Array("OpusTags".utf8) + content
        var result = Array(bytes[first])
        var number = 1
        let all = Array(packets.dropLast())
        var lacing: [UInt8] = []
        for packet in all {
            lacing += [UInt8](repeating: 255, count: packet.count / 255) + [UInt8(packet.count % 255)]
        }
        let body = all.flatMap { $0 }
        var taken = 0
        for segment in stride(from: 0, to: lacing.count, by: 255) {
            let part = lacing[segment..<min(segment + 255, lacing.count)]
            let length = part.reduce(0) { $0 + Int($1) }
            var page: [UInt8] = Array("OggS".utf8) + [0, segment > 0 && lacing[segment - 1] == 255 ? 1 : 0]
            page += [UInt8](repeating: part.contains { $0 < 255 } ? 0 : 255, count: 8) + serial
            page += littleEndian(number) + [0, 0, 0, 0, UInt8(part.count)] + part + body[taken..<taken + length]
            taken += length
            number += 1
            result += withChecksum(page)
        }
        for page in pages[next...] {
            var copy = Array(bytes[page])
            copy.replaceSubrange(18..<22, with: littleEndian(number))
            number += 1
            result += withChecksum(copy)
        }
        return result
    }

    private static func littleEndian(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    private static let oggTable = (0..<256 as Range<UInt32>).map { byte in
        (0..<8).reduce(byte << 24) { sum, _ in sum & 0x8000_0000 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
    }

    private static func withChecksum(_ page: [UInt8]) -> [UInt8] {
        var page = page
        for index in 22..<26 { page[index] = 0 }
        let sum = page.reduce(0 as UInt32) { $0 << 8 ^ oggTable[Int($0 >> 24 ^ UInt32($1))] }
        page.replaceSubrange(22..<26, with: littleEndian(Int(sum)))
        return page
    }
}
