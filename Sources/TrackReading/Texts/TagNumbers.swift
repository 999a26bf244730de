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

    /// The date in a text as `1999`, `1999-05` or `1999-05-03`; nil: there is none. It is at the start of the text, with `-`,
    /// `/` or `.` between its parts; or the day is first, as in `24.12.1985` and `12/1985`; or a year of two digits follows
    /// an apostrophe, as in `'85`. Of `03/05/1999`, which may be a day in March or in May, only the year counts.
    package static func date(_ text: String) -> String? {
        yearFirst(text) ?? yearLast(text) ?? shortYear(text)
    }

    /// A text that begins with a year stays; another one is replaced by its `date`, if it has one.
    static func usualDate(_ text: String) -> String { yearFirst(text) != nil ? text : date(text) ?? text }

    /// The last two digits of the years of this century up to which `'24` is one of them.
    private static let lastShortYear = 39

    private static func shortYear(_ text: String) -> String? {
        let rest = text.drop { $0 == " " }
        guard let mark = rest.first, "'’‘`´".contains(mark) else { return nil }
        let year = rest.dropFirst().prefix { $0 != " " }
        guard digits(year, 2), let number = Int(year) else { return nil }
        return String((number > lastShortYear ? 1900 : 2000) + number)
    }

    private static func yearLast(_ text: String) -> String? {
        let whole = text.drop { $0 == " " }.prefix { $0 != " " }
        let separator = whole.first { "-/.".contains($0) }
        let parts = whole.split(omittingEmptySubsequences: false) { $0 == separator }
        guard separator != nil, (2...3).contains(parts.count), let year = parts.last, digits(year, 4), year != "0000",
            parts.dropLast().allSatisfy({ digits($0, 1) || digits($0, 2) })
        else { return nil }
        let numbers = parts.dropLast().compactMap { Int($0) }
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
        if numbers.count == 1 { return (1...12).contains(numbers[0]) ? "\(year)-\(two(numbers[0]))" : String(year) }
        var (day, month) = (numbers[0], numbers[1])
        // Dots stand after days, and slashes after days or months.
        if separator != ".", month > 12 { swap(&day, &month) }
        guard (1...12).contains(month), (1...31).contains(day) else { return String(year) }
        if separator == "/", day <= 12, day != month { return String(year) }
        return "\(year)-\(two(month))-\(two(day))"
    }

    private static func yearFirst(_ text: String) -> String? {
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
