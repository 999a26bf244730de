import TestSupport
import Testing

@testable import Alarms

/// Zone files of all versions, and bytes that are none.
@Suite struct ZoneFileTests {
    @Test(
        "versions 1 to 4, and those to come",
        arguments: [0, UInt8(ascii: "2"), UInt8(ascii: "3"), UInt8(ascii: "4"), 0x39])
    func versions(_ version: UInt8) throws {
        var zone = WrittenZone(
            version: version, transitions: [(-5, 1), (100, 2)], offsets: [0, 3600, -7200], rule: "")
        let rules = try ZoneFile.read(zone.bytes)
        #expect([-6, -5, 99, 100].map { rules.offset(at: $0) } == [0, 3600, 3600, -7200])
        zone.rule = "AAA-5"
        #expect(try ZoneFile.read(zone.bytes).offset(at: 100) == (version == 0 ? -7200 : 18_000))
    }

    @Test("transition times that count leap seconds lose them", arguments: [0, UInt8(ascii: "4")])
    func leapSeconds(_ version: UInt8) throws {
        let leaps: [(Int64, Int32)] = [(1000, 1), (2001, 2), (3001, 1)]
        let zone = WrittenZone(
            version: version, transitions: [(900, 1), (1500, 0), (2500, 1), (4000, 0)], offsets: [0, 60],
            leapSeconds: leaps)
        let rules = try ZoneFile.read(zone.bytes)
        let changes = [900, 1499, 2498, 3999] as [Int64]
        var instant: Int64 = 0
        for change in changes {
            #expect(rules.nextChange(after: instant) == change)
            instant = change
        }
    }

    @Test("each fault has its name")
    func faults() {
        let shown = CivilDate(2026, 1, 1).number * 86_400
        let cases: [(ZoneFileError, [UInt8])] = [
            (.truncated(.header), []), (.otherFormat, Array("TZig".utf8)), (.otherFormat, Array("#!/bin/sh\n".utf8)),
            (.tooLong, [UInt8](repeating: 0, count: ZoneFile.limit + 1)),
            (.wrongCount(.offsets), WrittenZone(offsets: []).bytes),
            (.wrongCount(.offsets), WrittenZone(offsets: [Int32](repeating: 0, count: 257)).bytes),
            (.wrongCount(.designations), WrittenZone(claims: [5: 0]).bytes),
            (.wrongCount(.indicators), WrittenZone(claims: [0: 2]).bytes),
            (.wrongCount(.indicators), WrittenZone(claims: [1: 9]).bytes),
            (.disordered(.times), WrittenZone(transitions: [(5, 0), (5, 0)]).bytes),
            (.disordered(.times), WrittenZone(transitions: [(shown, 0), (-shown, 0)]).bytes),
            (.disordered(.times), WrittenZone(transitions: [(10, 0), (11, 0)], leapSeconds: [(11, 1)]).bytes),
            (.disordered(.leapSeconds), WrittenZone(leapSeconds: [(9, 1), (9, 2)]).bytes),
            (.outOfRange(.leapSeconds), WrittenZone(transitions: [(.min, 0)], leapSeconds: [(.min, 1)]).bytes),
            (.outOfRange(.types), WrittenZone(transitions: [(5, 1)]).bytes),
            (.outOfRange(.offsets), WrittenZone(offsets: [93_600]).bytes),
            (.outOfRange(.offsets), WrittenZone(offsets: [.min]).bytes),
            (.outOfRange(.offsets), WrittenZone(offsets: [0, -93_600]).bytes),
            (.truncated(.rule), WrittenZone(rule: nil).bytes),
            (.wrongRule(byte: 3), WrittenZone(rule: "ABC").bytes),
        ]
        for (error, bytes) in cases { #expect(throws: error) { try ZoneFile.read(bytes) } }
        // Each reason has other words.
        #expect(Set(cases.map(\.0.message)).count == Set(cases.map(\.0)).count)
    }

    @Test("counts that no file has end at once", arguments: 0..<6)
    func claims(_ index: Int) {
        for claim in [65_536, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF] as [UInt32] {
            for version in [0, UInt8(ascii: "3")] {
                let zone = WrittenZone(version: version, transitions: [(5, 0)], claims: [index: claim])
                #expect(throws: ZoneFileError.self) { try ZoneFile.read(zone.bytes) }
            }
            // In the first of two headers.
            var bytes = WrittenZone().bytes
            for byte in 0..<4 {
                bytes[20 + 4 * index + byte] = UInt8(truncatingIfNeeded: claim >> UInt32(24 - 8 * byte))
            }
            #expect(throws: ZoneFileError.truncated(.header)) { try ZoneFile.read(bytes) }
        }
    }

    @Test("a file that ends anywhere is none", arguments: ZoneOracle.zones)
    func truncations(_ zone: String) throws {
        let bytes = try ZoneOracle.file(zone)
        for count in 0..<bytes.count {
            let error = #expect(throws: ZoneFileError.self) { try ZoneFile.read(Array(bytes.prefix(count))) }
            guard case .truncated = error else {
                Issue.record("\(count) bytes of \(zone): \(error?.message ?? "a file")")
                return
            }
        }
    }

    @Test(
        "damaged files do not trap, and local time keeps its promises in those that can be read",
        arguments: ZoneOracle.zones)
    func damaged(_ zone: String) throws {
        let files = [try ZoneOracle.file(zone), WrittenZone(rule: "CET-1CEST,M3.5.0,M10.5.0/3").bytes]
        var random = SeededRandom(seed: 53)
        var read = 0
        for turn in 0..<4000 {
            var bytes = files[turn % 2]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
                case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
                case _: bytes.remove(at: place)
                }
            }
            guard let rules = try? ZoneFile.read(bytes) else { continue }
            read += 1
            for _ in 0..<4 {
                let local = LocalTime(seconds: Int64.random(in: -3_000_000_000...5_000_000_000, using: &random))
                let instant = rules.firstInstant(reading: local)
                #expect(rules.localTime(at: instant) >= local && rules.localTime(at: instant - 1) < local)
            }
        }
        #expect(read > 100)
    }
}
