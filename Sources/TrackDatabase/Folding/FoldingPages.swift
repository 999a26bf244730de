/// The table of `Folding` in memory, made from its runs at the first fold of a text that is not ASCII.
///
/// A run is: varint of the distance to the previous run; varint of the number of target scalars, shifted by 1, with bit
/// 0 for a count above 1; if so, varint of the count and varint of the step, shifted by 2, with the target's step in
/// bits 0 and 1; then each target as the zigzag varint of its distance from the first code point.
struct FoldingPages: Sendable {
    /// The only one.
    static let shared = FoldingPages()

    /// By the upper bits of a code point: the number of its block; 0: a block without changes.
    private var pages = [UInt16](repeating: 0, count: 0x110000 >> 7)
    /// 128 entries a block: 0 for no change, a scalar, or `isSequence` with offset and length in `sequences`.
    private var blocks = [UInt32](repeating: 0, count: 128)
    private var sequences: [UInt32] = []

    private static let isSequence: UInt32 = 0x8000_0000

    private init() {
        var bytes = Base64Bytes(FoldingTable.runs)
        var first: UInt32 = 0
        while let distance = bytes.varint() {
            first += distance
            let shape = bytes.varint() ?? 0
            var (count, step, grows): (UInt32, UInt32, UInt32) = (1, 1, 0)
            if shape & 1 == 1 {
                count = bytes.varint() ?? 1
                let steps = bytes.varint() ?? 4
                (step, grows) = (steps >> 2, steps & 3)
            }
            let targets = (0..<(shape >> 1)).map { _ in
                let zigzag = bytes.varint() ?? 0
                return zigzag & 1 == 0 ? first &+ zigzag >> 1 : first &- (zigzag + 1) >> 1
            }
            for index in 0..<count {
                set(first + index * step, to: targets.map { $0 + index * grows })
            }
        }
    }

    private mutating func set(_ code: UInt32, to targets: [UInt32]) {
        let page = Int(code >> 7)
        guard page < pages.count else { return }
        if pages[page] == 0 {
            pages[page] = UInt16(blocks.count / 128)
            blocks += [UInt32](repeating: 0, count: 128)
        }
        let entry = Int(pages[page]) * 128 + Int(code & 127)
        if targets.count == 1 {
            blocks[entry] = targets[0]
        } else {
            blocks[entry] = Self.isSequence | UInt32(sequences.count) << 6 | UInt32(targets.count)
            sequences += targets
        }
    }

    /// Appends the folded scalars of a code point.
    func append(_ code: UInt32, to result: inout [UInt32]) {
        let entry = blocks[Int(pages[Int(code >> 7)]) * 128 + Int(code & 127)]
        if entry == 0 {
            result.append(code)
        } else if entry & Self.isSequence == 0 {
            result.append(entry)
        } else {
            let start = Int(entry & ~Self.isSequence) >> 6
            result.append(contentsOf: sequences[start..<(start + Int(entry & 63))])
        }
    }
}

/// Reads numbers of seven bits a byte from a text in Base64.
private struct Base64Bytes {
    private let text: StaticString
    private var offset = 0
    private var bits: UInt32 = 0
    private var count = 0

    init(_ text: StaticString) { self.text = text }

    private mutating func byte() -> UInt8? {
        while count < 8 {
            guard offset < text.utf8CodeUnitCount, let six = Self.six(text.utf8Start[offset]) else { return nil }
            bits = bits << 6 | six
            count += 6
            offset += 1
        }
        count -= 8
        return UInt8(truncatingIfNeeded: bits >> UInt32(count))
    }

    mutating func varint() -> UInt32? {
        var (result, shift): (UInt32, UInt32) = (0, 0)
        while let byte = byte() {
            result |= UInt32(byte & 0x7F) << shift
            if byte < 0x80 { return result }
            shift += 7
        }
        return nil
    }

    private static func six(_ letter: UInt8) -> UInt32? {
        switch letter {
        case 0x41...0x5A: UInt32(letter - 0x41)
        case 0x61...0x7A: UInt32(letter - 0x61 + 26)
        case 0x30...0x39: UInt32(letter - 0x30 + 52)
        case 0x2B: 62
        case 0x2F: 63
        default: nil
        }
    }
}
