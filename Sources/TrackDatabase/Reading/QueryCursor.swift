/// The position after a page, as opaque letters for clients. It belongs to one query; any other query refuses it.
struct QueryCursor: Equatable {
    /// Values of the columns of the last row.
    var values: [SQLiteValue]

    /// Letters of a cursor, at most.
    static let longest = 65_536

    /// The position after a row with these values.
    init(_ values: [SQLiteValue]) { self.values = values }

    /// The cursor as letters; `question` describes the query.
    func text(_ question: String) -> String {
        var bytes = Self.hash(question)
        for value in values {
            switch value {
            case .null, .ids: bytes.append(0)
            case .integer(let number): Self.append(1, UInt64(bitPattern: number), to: &bytes)
            case .real(let number): Self.append(2, number.bitPattern, to: &bytes)
            case .text(let text):
                Self.append(3, UInt64(text.utf8.count), to: &bytes)
                bytes += text.utf8
            case .blob(let blob):
                Self.append(4, UInt64(blob.count), to: &bytes)
                bytes += blob
            }
        }
        return bytes.map { Self.hexadecimal[Int($0 >> 4)] + Self.hexadecimal[Int($0 & 15)] }.joined()
    }

    private static let hexadecimal = "0123456789abcdef".map { String($0) }

    /// The cursor in these letters. Throws if it belongs to another query.
    init(_ text: String, question: String) throws(TrackDatabaseError) {
        guard text.utf8.count <= Self.longest, text.utf8.count % 2 == 0 else { throw .invalidCursor }
        var bytes: [UInt8] = []
        var high: UInt8?
        for letter in text.utf8 {
            let digit: UInt8
            switch letter {
            case 0x30...0x39: digit = letter - 0x30
            case 0x61...0x66: digit = letter - 0x61 + 10
            default: throw .invalidCursor
            }
            if let first = high { bytes.append(first << 4 | digit) }
            high = high == nil ? digit : nil
        }
        guard bytes.starts(with: Self.hash(question)) else { throw .invalidCursor }
        var rest = bytes.dropFirst(8)
        values = []
        while let kind = rest.popFirst() {
            if kind == 0 {
                values.append(.null)
                continue
            }
            guard rest.count >= 8 else { throw .invalidCursor }
            let number = rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            rest = rest.dropFirst(8)
            switch kind {
            case 1: values.append(.integer(Int64(bitPattern: number)))
            case 2: values.append(.real(Double(bitPattern: number)))
            case 3, 4:
                guard number <= UInt64(rest.count) else { throw .invalidCursor }
                let part = rest.prefix(Int(number))
                rest = rest.dropFirst(Int(number))
                values.append(kind == 3 ? .text(String(decoding: part, as: UTF8.self)) : .blob(Array(part)))
            default: throw .invalidCursor
            }
        }
    }

    private static func append(_ kind: UInt8, _ number: UInt64, to bytes: inout [UInt8]) {
        bytes.append(kind)
        for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    /// FNV-1a.
    private static func hash(_ text: String) -> [UInt8] {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return (0..<8).map { UInt8(truncatingIfNeeded: hash >> ($0 * 8)) }
    }
}
