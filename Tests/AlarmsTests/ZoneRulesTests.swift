import TestSupport
import Testing

@testable import Alarms

/// Local times of zones beside Python's zoneinfo.
@Suite struct ZoneRulesTests {
    /// Zones, and the first of ten years.
    static let decades = ZoneOracle.zones.map { ($0, 2026) } + [("Pacific/Apia", 2005), ("Europe/Berlin", 1973)]

    private static func instants(from year: Int) -> Range<Int64> {
        CivilDate(year, 1, 1).number * 86_400..<CivilDate(year + 10, 1, 1).number * 86_400
    }

    @Test("the offset of each hour of ten years, and each of its changes to the second", arguments: decades)
    func offsets(_ zone: String, _ year: Int) throws {
        let instants = Self.instants(from: year)
        let expected = try ZoneOracle.changes(zone, instants)
        try Self.compare(try ZoneOracle.rules(zone), expected, instants)
        #expect(zone == "Pacific/Apia" && year == 2026 || expected.count >= 4)
    }

    /// Compares rules with all changes in these instants.
    static func compare(_ rules: ZoneRules, _ expected: [ZoneOracle.Change], _ instants: Range<Int64>) throws {
        var found = [
            ZoneOracle.Change(instant: instants.lowerBound, offset: Int64(rules.offset(at: instants.lowerBound)))
        ]
        var instant = instants.lowerBound
        while let next = rules.nextChange(after: instant), next < instants.upperBound {
            try #require(next > instant)
            let offset = Int64(rules.offset(at: next))
            // A rule may have a change to the same offset.
            if offset != found[found.count - 1].offset {
                found.append(ZoneOracle.Change(instant: next, offset: offset))
            }
            instant = next
        }
        #expect(found == expected)
        var index = 0
        var wrong = 0
        for instant in stride(from: instants.lowerBound, to: instants.upperBound, by: 3600) {
            while index + 1 < expected.count, expected[index + 1].instant <= instant { index += 1 }
            if Int64(rules.offset(at: instant)) != expected[index].offset { wrong += 1 }
        }
        #expect(wrong == 0)
    }

    @Test("the first instant of each reading of ten years, in gaps and overlaps too", arguments: decades)
    func readings(_ zone: String, _ year: Int) throws {
        let rules = try ZoneOracle.rules(zone)
        let minutes = [0, 30, 90, 105, 119, 120, 135, 150, 179, 180, 390, 1439]
        let days = CivilDate(year, 1, 1).number..<CivilDate(year + 10, 1, 1).number
        let expected = try ZoneOracle.instants(zone, days, minutes)
        try #require(expected.count == days.count)
        var (skipped, twice) = (0, 0)
        for (day, instants) in zip(days, expected) {
            for (minute, instant) in zip(minutes, instants) {
                let reading = LocalTime(CivilDate(number: day), TimeOfDay(minutes: minute))
                #expect(rules.firstInstant(reading: reading) == instant, "\(reading.text) in \(zone)")
                if rules.localTime(at: instant) != reading { skipped += 1 }
                // A later instant with the same reading.
                if (1...4).contains(where: { rules.localTime(at: instant + $0 * 1800) == reading }) { twice += 1 }
            }
        }
        // Half of the zones change their clocks in these hours, in both directions.
        if zone != "Pacific/Apia" || year == 2005 { #expect(skipped >= 4 && twice >= 4) }
    }

    @Test("a day that a zone skips is the jump over it")
    func skippedDay() throws {
        let apia = try ZoneOracle.rules("Pacific/Apia")
        let jump = LocalTime(CivilDate(2011, 12, 30), TimeOfDay(minutes: 0)).seconds + 10 * 3600
        #expect(apia.localTime(at: jump - 1).text == "2011-12-29 23:59")
        #expect(apia.localTime(at: jump).text == "2011-12-31 00:00")
        for minute in [0, 390, 1439] {
            let skipped = LocalTime(CivilDate(2011, 12, 30), TimeOfDay(minutes: minute))
            #expect(apia.firstInstant(reading: skipped) == jump)
        }
        #expect(apia.nextChange(after: jump - 1) == jump && apia.nextChange(after: jump) != jump)
    }

    @Test("every zone of the system can be read, and has its offset of today")
    func everyZone() throws {
        let names = try ZoneOracle.allZones()
        try #require(names.count > 300)
        for name in names {
            let rules = try ZoneOracle.rules(name)
            // As of the start of 2026 all clocks of the world are between -12 and +14 hours.
            #expect((-12 * 3600...14 * 3600).contains(rules.offset(at: 1_767_225_600)), "\(name)")
        }
    }

    @Test(
        "instants and readings at the edges of their types do not trap",
        arguments: ["Europe/Berlin", "Africa/Casablanca"])
    func edges(_ zone: String) throws {
        let rules = try ZoneOracle.rules(zone)
        for instant in [.min, .min + 1, -1 << 62, -1 << 41, -1, 0, 1 << 41, 1 << 62, .max - 1, .max] as [Int64] {
            #expect((0...7200).contains(rules.offset(at: instant)) || instant < 0)
            #expect(rules.nextChange(after: instant) ?? .max >= instant)
            _ = rules.localTime(at: instant).text
            _ = rules.firstInstant(reading: LocalTime(seconds: instant))
        }
        #expect(ZoneRules.utc.offset(at: 0) == 0 && ZoneRules.utc.nextChange(after: .min) == nil)
        #expect(ZoneRules.utc.firstInstant(reading: LocalTime(seconds: 5)) == 5)
    }
}
