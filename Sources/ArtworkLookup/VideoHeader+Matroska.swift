import AudioCore
import AudioDecoders

/// WebM (RFC 9559, over EBML, RFC 8794).
extension VideoHeader {
    private struct Element {
        var id: UInt64
        var content: Range<Int64>
    }

    /// Elements of one level that are read, at most.
    private static let mostElements = 512

    /// Reads the size of the first video track, the length of the film, and the frames a second if the header has them.
    mutating func readMatroska(_ file: MediaFile) throws(DecodingError) {
        let top = try Self.elements(in: 0..<file.size, file)
        guard let segment = top.first(where: { $0.id == 0x1853_8067 })?.content else { return }
        // The frames begin with the first cluster.
        for element in try Self.elements(in: segment, file, until: 0x1F43_B675) {
            switch element.id {
            case 0x1549_A966: try readInformation(element.content, file)
            case 0x1654_AE6B where width == 0:
                for track in try Self.elements(in: element.content, file) where track.id == 0xAE && width == 0 {
                    try readEntry(track.content, file)
                }
            default: break
            }
        }
    }

    private mutating func readInformation(_ range: Range<Int64>, _ file: MediaFile) throws(DecodingError) {
        var scale: UInt64 = 1_000_000
        var units: Double?
        for element in try Self.elements(in: range, file) {
            if element.id == 0x2AD7B1 { scale = try Self.number(element, file) }
            guard element.id == 0x4489 else { continue }
            let bytes = try file.bytes(at: element.content.lowerBound, count: Int(min(8, element.content.count)))
            let bits = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            units =
                bytes.count == 4
                ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))) : Double(bitPattern: bits)
        }
        setDuration(units.map { $0 * Double(scale) / 1e9 })
    }

    private mutating func readEntry(_ range: Range<Int64>, _ file: MediaFile) throws(DecodingError) {
        var isFilm = false
        var size = (0, 0)
        var period: UInt64 = 0
        for element in try Self.elements(in: range, file) {
            switch element.id {
            case 0x83: isFilm = try Self.number(element, file) == 1
            case 0x23E383: period = try Self.number(element, file)
            case 0xE0:
                for part in try Self.elements(in: element.content, file) {
                    let value = try Self.number(part, file)
                    if part.id == 0xB0 { size.0 = Int(min(value, 1 << 20)) }
                    if part.id == 0xBA { size.1 = Int(min(value, 1 << 20)) }
                }
            default: break
            }
        }
        guard isFilm else { return }
        setSize(size.0, size.1)
        if period > 0 { setFrameRate(1e9 / Double(period)) }
    }

    private static func number(_ element: Element, _ file: MediaFile) throws(DecodingError) -> UInt64 {
        guard element.content.count <= 8 else { return 0 }
        return try file.bytes(at: element.content.lowerBound, count: element.content.count)
            .reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The elements of one level, up to the first with the id `until`.
    private static func elements(
        in range: Range<Int64>, _ file: MediaFile, until: UInt64? = nil
    ) throws(DecodingError) -> [Element] {
        var result: [Element] = []
        var offset = range.lowerBound
        while result.count < mostElements, offset < range.upperBound {
            let header = try file.bytes(at: offset, count: 12)
            guard let (id, idBytes) = variable(header[...], keepsMark: true), idBytes <= 4,
                let (length, lengthBytes) = variable(header[idBytes...], keepsMark: false)
            else { break }
            let start = offset + Int64(idBytes + lengthBytes)
            // All ones: the element ends with its parent.
            let isOpen = length == 1 << (7 * UInt64(lengthBytes)) - 1
            guard start <= range.upperBound, isOpen || length <= UInt64(range.upperBound - start) else { break }
            let end = isOpen ? range.upperBound : start + Int64(length)
            if id == until { break }
            result.append(Element(id: id, content: start..<end))
            offset = end
        }
        return result
    }

    /// A number of variable length and its count of bytes (RFC 8794 §4).
    private static func variable(_ bytes: ArraySlice<UInt8>, keepsMark: Bool) -> (UInt64, Int)? {
        guard let first = bytes.first, first != 0 else { return nil }
        let count = first.leadingZeroBitCount + 1
        guard bytes.count >= count else { return nil }
        let head = keepsMark ? UInt64(first) : UInt64(first) & (1 << UInt64(8 - count) - 1)
        return (bytes.dropFirst().prefix(count - 1).reduce(head) { $0 << 8 | UInt64($1) }, count)
    }
}
