import Testing

@testable import Alarms

/// Alarms over weeks in which clocks are set, zones change and the daemon ends, beside the rule in its plainest form.
@Suite struct AlarmHistoryTests {
    @Test("generated histories")
    func histories() throws {
        let zones = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]
        let tables = Dictionary(uniqueKeysWithValues: try zones.map { ($0, try AlarmTable($0)) })
        let rules = Dictionary(uniqueKeysWithValues: try zones.map { ($0, try ZoneOracle.rules($0)) })
        var counts: [AlarmWorld.Event: Int] = [:]
        for seed in 1...200 as ClosedRange<UInt64> {
            var world = AlarmWorld(seed: seed, tables, rules)
            for _ in 0..<300 where world.complaints.isEmpty { world.act() }
            #expect(world.complaints.isEmpty, "seed \(seed)")
            counts.merge(world.counts, uniquingKeysWith: +)
        }
        for event in AlarmWorld.Event.allCases { #expect(counts[event, default: 0] > 100, "\(event)") }
    }
}
