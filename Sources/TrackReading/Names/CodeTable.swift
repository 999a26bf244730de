/// Values by the names of frames, boxes and chunks: numbers of up to four letters, found in one or two steps.
struct CodeTable<Value: Sendable>: Sendable {
    private var codes: [Int]
    private var values: [Value?]
    private let mask: Int

    /// A table of these values; of equal codes, the last counts. No code is 0.
    init(_ rows: [(code: Int, value: Value)]) {
        var capacity = 16
        while capacity < rows.count * 4 { capacity *= 2 }
        mask = capacity - 1
        codes = [Int](repeating: 0, count: capacity)
        values = [Value?](repeating: nil, count: capacity)
        for row in rows {
            var index = Self.hash(row.code) & mask
            while codes[index] != 0, codes[index] != row.code { index = (index + 1) & mask }
            codes[index] = row.code
            values[index] = row.value
        }
    }

    /// The value of a code; nil: there is none.
    subscript(code: Int) -> Value? {
        guard code != 0 else { return nil }
        var index = Self.hash(code) & mask
        while codes[index] != 0 {
            if codes[index] == code { return values[index] }
            index = (index + 1) & mask
        }
        return nil
    }

    private static func hash(_ code: Int) -> Int { Int(UInt32(truncatingIfNeeded: code) &* 0x9E37_79B1 >> 12) }
}
