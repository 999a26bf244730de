/// Searches for short, known texts. The standard library has them beside its regular expressions, a megabyte of code and tables
/// that each start of the daemon would load: its targets are compiled without those.
extension StringProtocol {
    /// The first place of these characters; nil: there is none. The time is that of comparing them at each place.
    package func place(of text: String) -> Range<Index>? {
        guard let first = text.first else { return startIndex..<startIndex }
        var start = startIndex
        while let found = self[start...].firstIndex(of: first) {
            if self[found...].starts(with: text) { return found..<index(found, offsetBy: text.count) }
            start = index(after: found)
        }
        return nil
    }

    /// True if these characters are in it.
    package func holds(_ text: String) -> Bool { place(of: text) != nil }

    /// The same with `other` in each place of these characters.
    package func replacing(each text: String, by other: String) -> String {
        var result = ""
        var start = startIndex
        while let place = self[start...].place(of: text) {
            result += self[start..<place.lowerBound]
            result += other
            start = place.upperBound
        }
        result += self[start...]
        return result
    }
}
