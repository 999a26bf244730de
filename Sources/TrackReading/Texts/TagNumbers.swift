/// Numbers and dates as users write them into tags.
package enum TagNumbers {
    /// `3/11` → 3 of 11, `07` → 7.
    package static func numberAndCount(_ text: String?) -> (number: Int?, count: Int?) {
        guard let text else { return (nil, nil) }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        return (number(parts.first), parts.count > 1 ? number(parts[1]) : nil)
    }

    /// The number if it is between 1 and 99,999; nil: it is not. Some programs write 0 for none.
    package static func number(_ text: (some StringProtocol)?) -> Int? {
        guard let text else { return nil }
        let digits = text.drop { $0 == " " }.prefix { $0 != " " }
        guard digits.utf8.count <= 8, let number = Int(digits), (1...99_999).contains(number) else { return nil }
        return number
    }

    /// `1999`, `1999-05` or `1999-05-03` from the start of a text, with `-`, `/` or `.` between; nil: it has another
    /// form.
    package static func date(_ text: String) -> String? {
        let parts = text.prefix { $0 != "T" && $0 != " " }.split(omittingEmptySubsequences: false) {
            "-/.".contains($0)
        }
        guard let year = parts.first, digits(year, 4), year != "0000" else { return nil }
        guard parts.count > 1, digits(parts[1], 2), (1...12).contains(Int(parts[1]) ?? 0) else { return String(year) }
        guard parts.count > 2, digits(parts[2], 2), (1...31).contains(Int(parts[2]) ?? 0) else {
            return "\(year)-\(parts[1])"
        }
        return "\(year)-\(parts[1])-\(parts[2])"
    }

    private static func digits(_ text: Substring, _ count: Int) -> Bool {
        text.utf8.count == count && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
