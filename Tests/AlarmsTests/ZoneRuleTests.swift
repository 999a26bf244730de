import Testing

@testable import Alarms

/// Rules at the end of zone files.
@Suite struct ZoneRuleTests {
    private static let instants = CivilDate(2023, 1, 1).number * 86_400..<CivilDate(2036, 1, 1).number * 86_400

    private static func rules(_ rule: String) throws(ZoneFileError) -> ZoneRules {
        try ZoneFile.read(WrittenZone(rule: rule).bytes)
    }

    @Test(
        "a rule without transitions applies to all times, as in zoneinfo",
        arguments: [
            // Those of RFC 9636 and of tzdata.
            "HST10", "JST-9", "<+13>-13", "<-03>3", "EST5EDT,M3.2.0,M11.1.0", "CET-1CEST,M3.5.0,M10.5.0/3",
            "IST-2IDT,M3.4.4/26,M10.5.0", "IST-1GMT0,M10.5.0,M3.5.0/1", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
            "EET-2EEST,M3.4.4/50,M10.4.4/50", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "EET-2EEST,M4.5.5/0,M10.5.4/24",
            "NZST-12NZDT,M9.5.0,M4.1.0/3", "<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45",
            // Other forms of POSIX.
            "AAA+3BBB,J60/0,J300", "AAA3BBB2:15:30,J58/1:30:15,J365/0", "abc-10def-9,M1.1.0/0,M12.5.6/26",
            "AAA0BBB,M2.5.1/-167,M8.3.3/100:00:01", "<A-1>23:59:59<B+1>-23:59:59,M6.1.1,M7.1.1",
            "AAA05:30:00BBB,M3.1.0,M3.2.0",
        ])
    func beside(_ rule: String) throws {
        try ZoneRulesTests.compare(
            try Self.rules(rule), try ZoneOracle.changes("=" + rule, Self.instants), Self.instants)
    }

    @Test(
        "summer time can last all year",
        arguments: [
            ("XXX3EDT4,0/0,J365/23", -14_400), ("EST5EDT,0/0,J365/25", -14_400),
            ("AAA-24:59:59BBB,0/0,J365/25", 93_599), ("AAA0BBB-1,0/-167,365/167", 3600),
            ("AAA0BBB,M3.1.0,M3.1.0/3", 3600),
        ])
    func allYear(_ rule: String, _ offset: Int32) throws {
        let rules = try Self.rules(rule)
        for instant in stride(from: Self.instants.lowerBound, to: Self.instants.upperBound, by: 3600) {
            guard rules.offset(at: instant) == offset else {
                Issue.record("\(rule): \(rules.offset(at: instant)) at \(instant)")
                return
            }
        }
    }

    @Test("a time can lie outside its year")
    func outside() throws {
        let rules = try Self.rules("AAA0BBB,M1.1.0/0,M12.5.6/167")
        // Summer time of 2026 ends a week after its last Saturday, that of 2027 begins on its first Sunday.
        let end = CivilDate(2027, 1, 1).number * 86_400 + 22 * 3600
        let start = CivilDate(2027, 1, 3).number * 86_400
        #expect([end - 1, end, start - 1, start].map { rules.offset(at: $0) } == [3600, 0, 0, 3600])
        #expect(rules.nextChange(after: end - 86_400) == end && rules.nextChange(after: end) == start)
        let early = try Self.rules("AAA0BBB,M1.1.1/-167,M3.1.1/0")
        // The first Monday of 2024 is 1 January.
        let before = CivilDate(2023, 12, 25).number * 86_400 + 3600
        #expect([before - 1, before].map { early.offset(at: $0) } == [0, 3600])
    }

    @Test("a day by its number counts leap days, and one with J does not")
    func leapDays() throws {
        let early = try Self.rules("AAA0BBB,J59/0,J301/0")
        let (plain, julian) = (try Self.rules("AAA0BBB,59/0,300/0"), try Self.rules("AAA0BBB,J60/0,J301/0"))
        for year in [2023, 2024, 2100, 2400] {
            let march = CivilDate(year, 3, 1).number * 86_400
            let isLeap = CivilDate(year: year, month: 2, day: 29) != nil
            #expect(julian.offset(at: march) == 3600 && julian.offset(at: march - 1) == 0)
            #expect(plain.offset(at: march - (isLeap ? 86_400 : 0)) == 3600)
            #expect(plain.offset(at: march - (isLeap ? 86_400 : 0) - 1) == 0)
            // 28 February has the same number in all years.
            let february = CivilDate(year, 2, 28).number * 86_400
            #expect(early.offset(at: february) == 3600 && early.offset(at: february - 1) == 0)
            // In a leap year day 300 is a day earlier.
            let end = CivilDate(year, 10, isLeap ? 27 : 28).number * 86_400 - 3600
            #expect(plain.offset(at: end - 1) == 3600 && plain.offset(at: end) == 0)
        }
    }

    @Test("the rule applies from the last transition on")
    func afterTransitions() throws {
        let change = CivilDate(2026, 5, 1).number * 86_400
        let zone = WrittenZone(transitions: [(change - 50, 1), (change, 0)], offsets: [600, 1200], rule: "AAA-1")
        let rules = try ZoneFile.read(zone.bytes)
        let found = [-1_000_000_000, -51, -50, -1, 0, 1_000_000_000].map { rules.offset(at: change + $0) }
        #expect(found == [600, 600, 1200, 1200, 3600, 3600])
    }

    @Test(
        "a rule with a fault names its byte",
        arguments: [
            ("A", 1), ("AB1", 2), ("ABC", 3), ("<AB>1", 3), ("<ABC1", 5), ("<AB C>1", 3), ("ABC25", 3), ("ABC1:60", 5),
            ("ABC1:00:60", 8), ("ABC--1", 4), ("ABC1x", 5), ("ABC1DEF", 7), ("ABC1DEF,", 8), ("ABC1DEF,J0,J5", 9),
            ("ABC1DEF,J366,J5", 9), ("ABC1DEF,366,5", 8), ("ABC1DEF,M13.1.1,J5", 9), ("ABC1DEF,M1.0.1,J5", 11),
            ("ABC1DEF,M1.6.1,J5", 11), ("ABC1DEF,M1.1.7,J5", 13), ("ABC1DEF,M1.1.1", 14), ("ABC1DEF,J1,J5/168", 14),
            ("ABC1DEF,J1,J5/", 14), ("ABC1DEF,J1,J5 ", 13), ("ABC1DEF,J1,J5,", 13), ("ABC1DEF,J0011,J5", 12),
            ("ÄÄÄ1", 0),
            ("ABC1\u{0}", 4), (":Europe/Berlin", 0),
        ])
    func faults(_ rule: String, _ byte: Int) {
        #expect(throws: ZoneFileError.wrongRule(byte: byte)) { try Self.rules(rule) }
    }

    @Test("without a rule the last offset stays")
    func noRule() throws {
        let rules = try ZoneFile.read(WrittenZone(transitions: [(5, 1)], offsets: [0, 60], rule: "").bytes)
        #expect([4, 5, 1 << 40].map { rules.offset(at: $0) } == [0, 60, 60])
        #expect(rules.nextChange(after: 5) == nil)
    }
}
