/// Search for a part of a text (Knuth, Morris and Pratt). Both may come from a stranger, so its time grows with the sum of the
/// lengths, not with their product.
package enum TextSearch {
    /// True if the bytes of a text contain those of another one.
    package static func contains(_ text: String, _ part: String) -> Bool {
        var (text, part) = (text, part)
        return text.withUTF8 { text in part.withUTF8 { part in contains(text, part) } }
    }

    private static func contains(_ text: UnsafeBufferPointer<UInt8>, _ part: UnsafeBufferPointer<UInt8>) -> Bool {
        guard !part.isEmpty else { return true }
        guard part.count <= text.count else { return false }
        // For each beginning of the part: the length of the longest shorter beginning with which it ends.
        var overlaps = [Int](repeating: 0, count: part.count)
        var length = 0
        for index in 1..<part.count {
            while length > 0, part[index] != part[length] { length = overlaps[length - 1] }
            if part[index] == part[length] { length += 1 }
            overlaps[index] = length
        }
        length = 0
        for byte in text {
            while length > 0, byte != part[length] { length = overlaps[length - 1] }
            if byte == part[length] { length += 1 }
            if length == part.count { return true }
        }
        return false
    }
}
