import NowPlaying

/// Numbers and times as MPD writes and reads them.
package enum MPDNumbers {
    /// Seconds with three decimals, as `12.300`.
    package static func milliseconds(_ seconds: Double) -> String {
        let all = Int64(clamping: max(0, min(seconds.isFinite ? seconds : 0, 1e12)) * 1000 + 0.5)
        let rest = String(all % 1000)
        return "\(all / 1000)." + String(repeating: "0", count: 3 - rest.utf8.count) + rest
    }

    /// A number with at most six decimals and without trailing zeros: `0`, `-17.5`.
    package static func short(_ number: Double) -> String {
        let all = Int64(clamping: (max(-1e9, min(number.isFinite ? number : 0, 1e9)) * 1e6).rounded())
        let digits = String(all.magnitude % 1_000_000)
        var rest = String(repeating: "0", count: 6 - digits.utf8.count) + digits
        while rest.hasSuffix("0") { rest.removeLast() }
        return (all < 0 ? "-" : "") + String(all.magnitude / 1_000_000) + (rest.isEmpty ? "" : "." + rest)
    }

    /// A time in UTC as `2026-11-23T22:30:00Z`. `unix`: seconds since 1970.
    package static func time(_ unix: Int64) -> String {
        let (days, rest) = Int(clamping: unix).quotientAndRemainder(flooring: 86_400)
        let date = CivilDate(daysSince1970: days)
        let clock = [rest / 3600, rest / 60 % 60, rest % 60].map(two).joined(separator: ":")
        return "\(four(date.year))-\(two(date.month))-\(two(date.day))T\(clock)Z"
    }

    /// Seconds since 1970 of a client's time: a number of these seconds, or ISO 8601 with or without a clock and a zone
    /// (`2026`, `2026-11`, `2026-11-23`, `2026-11-23T22:30Z`, `2026-11-23T22:30:00+01:00`); nil: it is not a time.
    package static func unix(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        if bytes.count > 4, bytes.allSatisfy(ASCII.isDigit) { return Int64(text) }
        var reader = DateReader(bytes)
        return reader.unix()
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }

    private static func four(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }
}

/// A day of the Gregorian calendar.
struct CivilDate: Equatable {
    let year: Int
    /// 1 to 12.
    let month: Int
    /// 1 to 31.
    let day: Int

    /// A day by its parts; nil: the calendar has no such day.
    init?(year: Int, month: Int, day: Int) {
        guard (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day) else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// The day that is `days` days after 1970-01-01.
    ///
    /// Years begin in March here, so that the leap day is their last: each era of 400 years has 146,097 days.
    init(daysSince1970 days: Int) {
        let (era, dayOfEra) = (days + 719_468).quotientAndRemainder(flooring: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shifted + 2) / 5 + 1
        month = shifted < 10 ? shifted + 3 : shifted - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Days after 1970-01-01.
    var daysSince1970: Int {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).quotientAndRemainder(flooring: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func days(in month: Int, of year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }
}

extension Int {
    /// The quotient rounded down, and the non-negative remainder.
    func quotientAndRemainder(flooring divisor: Int) -> (Int, Int) {
        let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
    }
}

/// Reads a date of ISO 8601.
private struct DateReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Seconds since 1970 of the whole text; nil: it is not a date.
    mutating func unix() -> Int64? {
        guard let year = digits(4) else { return nil }
        var (month, day) = (1, 1)
        let isParted = take("-")
        if let number = digits(2) {
            month = number
            if !isParted || take("-") {
                guard let number = digits(2) else { return nil }
                day = number
            }
        } else if isParted {
            return nil
        }
        guard let date = CivilDate(year: year, month: month, day: day) else { return nil }
        guard index < bytes.count else { return Int64(date.daysSince1970) * 86_400 }
        guard take("T") || take(" "), let seconds = clock(), let offset = zone(), index == bytes.count else {
            return nil
        }
        return Int64(date.daysSince1970) * 86_400 + Int64(clamping: seconds - offset)
    }

    private mutating func clock() -> Int? {
        guard let hours = digits(2), hours < 24 else { return nil }
        var seconds = hours * 3600
        for unit in [60, 1] {
            let isParted = take(":")
            guard let number = digits(2) else { return isParted ? nil : seconds }
            guard number < 60 else { return nil }
            seconds += number * unit
        }
        return seconds
    }

    /// Seconds east of Greenwich; a date without a zone is in UTC.
    private mutating func zone() -> Int? {
        if index == bytes.count || take("Z") { return 0 }
        let isEast = take("+")
        guard isEast || take("-"), let hours = digits(2), hours < 24 else { return nil }
        _ = take(":")
        let minutes = digits(2) ?? 0
        guard minutes < 60 else { return nil }
        return (hours * 3600 + minutes * 60) * (isEast ? 1 : -1)
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func digits(_ count: Int) -> Int? {
        guard index + count <= bytes.count, bytes[index..<index + count].allSatisfy(ASCII.isDigit) else { return nil }
        defer { index += count }
        return bytes[index..<index + count].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}
