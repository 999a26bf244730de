import Alarms
import NowPlaying

/// Zone files of the system, and what people write about alarms.
extension FuzzTarget {
    /// A zone file. If it can be read, its local time keeps its promises.
    static let timezone = FuzzTarget(
        name: "timezone",
        seeds: {
            [
                zoneFile(version: 0, times: [-5, 1_000_000], width: 4, rule: nil),
                zoneFile(
                    version: 0x32, times: [-2_000_000_000, 1_700_000_000], width: 8, rule: "CET-1CEST,M3.5.0,M10.5.0/3"),
                zoneFile(version: 0x33, times: [], width: 8, rule: "<+1030>-10:30<+11>-11,J60/-2,300/167"),
                zoneFile(version: 0x34, times: [0], width: 8, rule: "XXX3EDT4,0/0,J365/23"),
            ]
        },
        run: { bytes in
            let rules: ZoneRules
            do throws(ZoneFileError) { rules = try ZoneFile.read(bytes) } catch {
                return precondition(!error.message.isEmpty)
            }
            var change = Int64.min
            for _ in 0..<300 {
                guard let next = rules.nextChange(after: change) else { break }
                precondition(next > change, "changes do not ascend")
                change = next
            }
            let daily = AlarmSchedule(TimeOfDay(minutes: 150), .weekly(.daily))
            for seconds in [-1 << 40, -2_000_000_001, -1, 0, 1_700_000_000, 1_774_746_000, 5_000_000_000, 1 << 40]
                as [Int64]
            {
                let reading = LocalTime(seconds: seconds)
                let instant = rules.firstInstant(reading: reading)
                precondition(rules.localTime(at: instant) >= reading && rules.localTime(at: instant - 1) < reading)
                guard let next = daily.next(after: seconds, in: rules), let last = daily.last(until: seconds, in: rules)
                else { preconditionFailure("no date of a daily alarm") }
                precondition(last.instant <= seconds && seconds < next.instant && last.date < next.date)
            }
            for instant in [.min, .max] as [Int64] { _ = rules.localTime(at: instant).text }
        })

    /// A small zone file of two types and one leap second, whose first block is empty.
    private static func zoneFile(version: UInt8, times: [Int64], width: Int, rule: String?) -> [UInt8] {
        func number(_ number: Int64, _ width: Int) -> [UInt8] {
            (0..<width).reversed().map { UInt8(truncatingIfNeeded: number >> Int64(8 * $0)) }
        }
        func header(_ counts: [Int]) -> [UInt8] {
            Array("TZif".utf8) + [version] + [UInt8](repeating: 0, count: 15) + counts.flatMap { number(Int64($0), 4) }
        }
        var bytes = version == 0 ? [] : header([0, 0, 0, 0, 0, 0])
        bytes += header([2, 2, 1, times.count, 2, 4])
        bytes += times.flatMap { number($0, width) } + times.indices.map { UInt8(1 - $0 % 2) }
        bytes += number(3600, 4) + [0, 0] + number(7200, 4) + [1, 0] + Array("ABC\0".utf8)
        bytes += number(78_796_800, width) + number(1, 4) + [0, 1, 0, 1]
        return bytes + (rule.map { Array("\n\($0)\n".utf8) } ?? [])
    }

    /// Times, days, dates, and names of zones and alarms. A value that is written reads back as the same.
    static let alarmText = FuzzTarget(
        name: "alarm-text",
        seeds: {
            [
                "06:30", "mon-fri,sun", "weekends", "2026-12-24", "next", "America/Port-au-Prince", "Etc/GMT+5",
                "../zoneinfo/Europe/Berlin", "für morgen",
            ].map { Array($0.utf8) }
        },
        run: { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            check(text, { text throws(TextMistake) in try TimeOfDay(text) }, \.text)
            check(text, { text throws(TextMistake) in try CivilDate(text) }, \.text)
            check(text, { text throws(TextMistake) in try Weekdays(text) }, \.text)
            check(text, { text throws(TextMistake) in try ZoneName(text) }, \.text)
            check(text, { text throws(TextMistake) in try AlarmName(text) }, \.text)
            check(text, { text throws(TextMistake) in try AlarmDaysRequest(text) }, \.text)
            if let zone = ZoneName(linkTarget: text) {
                precondition(!zone.text.hasPrefix("/") && !zone.text.contains(".."))
            }
        })

    private static func check<Value: Equatable>(
        _ text: String, _ read: (String) throws(TextMistake) -> Value, _ write: (Value) -> String
    ) {
        let value: Value
        do throws(TextMistake) { value = try read(text) } catch {
            let message = error.message
            precondition(message.count < 1000 && message.unicodeScalars.allSatisfy(PrintableText.isHarmless))
            return
        }
        precondition((try? read(write(value))) == value, "what was written is not what was read")
    }
}

extension AlarmDaysRequest {
    /// The text that reads as this request.
    fileprivate var text: String {
        switch self {
        case .weekly(let days): days.text
        case .date(let date): date.text
        case .next: "next"
        }
    }
}
