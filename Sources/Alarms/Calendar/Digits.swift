/// Whole numbers in texts of people, in decimal digits.
enum Digits {
    /// The number in `text`, which consists of digits, as many as `count` allows; nil: it does not.
    static func number(_ text: Substring, _ count: ClosedRange<Int>) -> Int? {
        guard count.contains(text.utf8.count) else { return nil }
        var number = 0
        for byte in text.utf8 {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return number
    }

    /// The number with zeros before it, so that it has `count` digits at least.
    static func text(_ number: Int, _ count: Int) -> String {
        let digits = String(number.magnitude)
        return (number < 0 ? "-" : "") + String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }
}
