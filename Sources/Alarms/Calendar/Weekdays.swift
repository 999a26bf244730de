/// A set of days of the week.
package struct Weekdays: OptionSet, Hashable, Sendable {
    /// A bit for each day; Monday has the lowest.
    package let rawValue: UInt8

    /// The days of these bits; Monday has the lowest.
    package init(rawValue: UInt8) { self.rawValue = rawValue & 0x7F }

    /// All seven days.
    package static let daily = Weekdays(rawValue: 0x7F)
    /// Monday to Friday.
    package static let weekdays = Weekdays(rawValue: 0x1F)
    /// Saturday and Sunday.
    package static let weekends = Weekdays(rawValue: 0x60)

    /// Names of the days on the wire, Monday first.
    package static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    private static let longNames = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    /// Maximum bytes of a text with days.
    private static let longest = 128

    /// Reads `mon-fri`, `sat,sun`, `fri-mon`, `weekdays`, `weekends`, `daily`. Names can be shortened to two letters, and
    /// case does not matter. Throws if the text names no day, or something else.
    package init(_ text: String) throws(TextMistake) {
        guard text.utf8.count <= Self.longest, let days = Self.days(text.lowercased()), !days.isEmpty else {
            throw TextMistake("days", text, "mon-fri, sat,sun, daily, weekdays, weekends, or the like")
        }
        self = days
    }

    /// Days by their names, as the wire has them. Throws at the first that is none, and for an empty list.
    package init(names: some Sequence<String>) throws(TextMistake) {
        var days: Weekdays = []
        for name in names {
            guard let index = Self.names.firstIndex(of: name) else {
                throw TextMistake("day", name, Self.names.joined(separator: ", "))
            }
            days.formUnion(Self.day(index))
        }
        guard !days.isEmpty else { throw TextMistake("days", "", Self.names.joined(separator: ", ")) }
        self = days
    }

    private static func day(_ index: Int) -> Weekdays { Weekdays(rawValue: 1 << UInt8(index % 7)) }

    private static func days(_ text: String) -> Weekdays? {
        var days: Weekdays = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let word = part.trimmed
            switch word {
            case "daily": days = .daily
            case "weekdays": days.formUnion(.weekdays)
            case "weekends": days.formUnion(.weekends)
            case _:
                guard let range = range(word) else { return nil }
                days.formUnion(range)
            }
        }
        return days
    }

    /// A day, or days from one to another one.
    private static func range(_ text: Substring) -> Weekdays? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count <= 2, let first = index(ends[0].trimmed) else { return nil }
        guard ends.count == 2 else { return day(first) }
        guard let last = index(ends[1].trimmed) else { return nil }
        var days: Weekdays = []
        for step in 0...(last - first + 7) % 7 { days.formUnion(day(first + step)) }
        return days
    }

    private static func index(_ word: Substring) -> Int? {
        guard word.utf8.count >= 2 else { return nil }
        return longNames.firstIndex { $0.hasPrefix(word) }
    }

    /// True if the day of this date is one of them.
    package func contains(_ date: CivilDate) -> Bool { contains(Self.day(date.weekday)) }

    /// Names of its days on the wire, Monday first.
    package var names: [String] { Self.names.indices.filter { contains(Self.day($0)) }.map { Self.names[$0] } }

    /// `daily`, or its days with runs of three or more as ranges: `mon-fri`, `sat,sun`, `mon,wed-fri`.
    package var text: String {
        if self == .daily { return "daily" }
        var parts: [String] = []
        var index = 0
        while index < 7 {
            let first = index
            while index < 7, contains(Self.day(index)) { index += 1 }
            switch index - first {
            case 0: index += 1
            case 1, 2: parts += Self.names[first..<index]
            case _: parts.append(Self.names[first] + "-" + Self.names[index - 1])
            }
        }
        return parts.joined(separator: ",")
    }
}

extension Substring {
    /// The text without blanks at its ends.
    fileprivate var trimmed: Substring {
        var text = self.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return text
    }
}
