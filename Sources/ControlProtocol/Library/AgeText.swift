/// Reads ages in filters: a number and its unit, such as `30d`.
package enum AgeText {
    /// Seconds of each unit. A year has 365.25 days and a month a twelfth of that, slightly more than the Gregorian means.
    private static let units: [(name: String, seconds: Int64)] = [
        ("h", 3600), ("d", 86_400), ("w", 604_800), ("mo", 2_629_800), ("y", 31_557_600),
    ]

    /// Maximum number of an age.
    private static let most: Int64 = 9999

    /// Seconds of an age such as `12h`, `30d`, `2w`, `6mo` or `1y`; nil: the text is not an age.
    package static func seconds(_ text: String) -> Int64? {
        let digits = text.utf8.prefix { (0x30...0x39).contains($0) }
        guard let number = Int64(String(decoding: digits, as: UTF8.self)), number <= most else { return nil }
        let unit = String(decoding: text.utf8.dropFirst(digits.count), as: UTF8.self)
        return units.first { $0.name == unit }.map { number * $0.seconds }
    }
}
