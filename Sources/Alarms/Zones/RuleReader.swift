/// The reader of rules of zones: the form of POSIX for the variable TZ, with the times of RFC 9636 from a week before a
/// day to a week after it. These are valid in each version of a file: a reader that refuses them would lose the whole
/// zone.
struct RuleReader {
    private let text: [UInt8]
    private var place = 0

    /// Reads a whole rule, such as `CET-1CEST,M3.5.0,M10.5.0/3`.
    static func read(_ text: [UInt8]) throws(ZoneFileError) -> YearlyRule {
        var reader = RuleReader(text: text)
        let rule = try reader.rule()
        guard reader.place == text.count else { throw reader.fault }
        return rule
    }

    private init(text: [UInt8]) { self.text = text }

    private var fault: ZoneFileError { .wrongRule(byte: place) }
    private var next: UInt8? { place < text.count ? text[place] : nil }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        place += 1
        return true
    }

    private mutating func rule() throws(ZoneFileError) -> YearlyRule {
        try name()
        // POSIX counts west of Greenwich.
        let standard = -(try time(hours: 24))
        guard next != nil else { return YearlyRule(standard: standard, saving: nil) }
        try name()
        let isUsual = next == nil || next == UInt8(ascii: ",")
        let offset = isUsual ? standard + 3600 : -(try time(hours: 24))
        // Without dates the implementation of a system chooses them: a zone file has none of these rules.
        guard take(",") else { throw fault }
        let start = try moment()
        guard take(",") else { throw fault }
        let end = try moment()
        return YearlyRule(standard: standard, saving: YearlyRule.Saving(offset: offset, start: start, end: end))
    }

    /// A name of three letters at least, or with digits and signs between < and >.
    private mutating func name() throws(ZoneFileError) {
        let isQuoted = take("<")
        let start = place
        while let byte = next, Self.isLetter(byte) || isQuoted && Self.isDigitOrSign(byte) { place += 1 }
        guard place - start >= 3, !isQuoted || take(">") else { throw fault }
    }

    private mutating func moment() throws(ZoneFileError) -> YearlyRule.Moment {
        let day = try day()
        return YearlyRule.Moment(day: day, time: take("/") ? try time(hours: 167) : 7200)
    }

    private mutating func day() throws(ZoneFileError) -> YearlyRule.Day {
        if take("J") { return .julian(try number(1...365)) }
        guard take("M") else { return .afterNewYear(try number(0...365)) }
        let month = try number(1...12)
        guard take(".") else { throw fault }
        let week = try number(1...5)
        guard take(".") else { throw fault }
        return .weekday(month: month, week: week, weekday: try number(0...6))
    }

    /// Seconds of a time with a sign, minutes and seconds that may be missing; `hours`: maximum hours.
    private mutating func time(hours: Int) throws(ZoneFileError) -> Int32 {
        let isNegative = take("-")
        if !isNegative { _ = take("+") }
        var seconds = 3600 * (try number(0...hours))
        if take(":") {
            seconds += 60 * (try number(0...59))
            if take(":") { seconds += try number(0...59) }
        }
        return Int32(isNegative ? -seconds : seconds)
    }

    /// A number of three digits at most in this range.
    private mutating func number(_ range: ClosedRange<Int>) throws(ZoneFileError) -> Int {
        let start = place
        var number = 0
        while let byte = next, Self.isDigit(byte), place - start < 3 {
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
            place += 1
        }
        guard place > start, range.contains(number) else {
            place = start
            throw fault
        }
        return number
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isDigitOrSign(_ byte: UInt8) -> Bool {
        isDigit(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
    }
}
