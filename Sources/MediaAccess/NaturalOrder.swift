/// Natural sort order: runs of digits by their value, letters without regard to case (ASCII), and equal names by bytes,
/// so that the order is total. Names are bytes in any encoding.
package enum NaturalOrder {
    /// True if `a` sorts before `b`.
    package static func precedes(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        a.withUnsafeBufferPointer { a in b.withUnsafeBufferPointer { b in precedes(a, b) } }
    }

    private static func precedes(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Bool {
        var i = 0
        var j = 0
        while i < a.count, j < b.count {
            if isDigit(a[i]), isDigit(b[j]) {
                while i < a.count, a[i] == zero { i += 1 }
                while j < b.count, b[j] == zero { j += 1 }
                let first = digits(a, i)
                let second = digits(b, j)
                if first != second { return first < second }
                for offset in 0..<first where a[i + offset] != b[j + offset] { return a[i + offset] < b[j + offset] }
                i += first
                j += second
            } else {
                let first = folded(a[i])
                let second = folded(b[j])
                if first != second { return first < second }
                i += 1
                j += 1
            }
        }
        if a.count - i != b.count - j { return a.count - i < b.count - j }
        return a.lexicographicallyPrecedes(b)
    }

    private static let zero = UInt8(ascii: "0")

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- zero < 10 }

    /// Number of digits from `start` on.
    private static func digits(_ text: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        var end = start
        while end < text.count, isDigit(text[end]) { end += 1 }
        return end - start
    }

    private static func folded(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte }
}
