import Foundation
import TestSupport
import Testing

@testable import Alarms

/// Python's zoneinfo, by which the local times of this module are judged.
enum ZoneOracle {
    /// The zones of the tests: summer time on both sides of the equator, by an hour and by half an hour, one that
    /// pauses for Ramadan, and one that lost a day.
    static let zones = [
        "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia",
    ]

    /// The file of a zone, as zoneinfo finds it.
    static func file(_ zone: String) throws -> [UInt8] {
        Array(try #require(FileManager.default.contents(atPath: "/usr/share/zoneinfo/" + zone), "install tzdata"))
    }

    /// The rules of a zone, by our reader.
    static func rules(_ zone: String) throws -> ZoneRules { try ZoneFile.read(try file(zone)) }

    /// A change of the offset, or the first offset.
    struct Change: Equatable {
        let instant: Int64
        /// Seconds east of UTC from there on.
        let offset: Int64
    }

    /// The first offset and all changes in these instants. `zone`: a name, or = and a rule.
    static func changes(_ zone: String, _ instants: Range<Int64>) throws -> [Change] {
        let numbers = try run(["changes", zone, "\(instants.lowerBound)", "\(instants.upperBound)"])
        return stride(from: 0, to: numbers.count, by: 2).map { Change(instant: numbers[$0], offset: numbers[$0 + 1]) }
    }

    /// The first instants of these minutes on each date, date by date. A minute that does not exist is the instant of
    /// the jump.
    static func instants(_ zone: String, _ dates: Range<Int64>, _ minutes: [Int]) throws -> [[Int64]] {
        let words = minutes.map(String.init).joined(separator: ",")
        let numbers = try run(["alarms", zone, "\(dates.lowerBound)", "\(dates.upperBound)", words])
        return stride(from: 0, to: numbers.count, by: minutes.count).map { Array(numbers[$0..<$0 + minutes.count]) }
    }

    /// Names of all zones of the system.
    static func allZones() throws -> [String] {
        let (status, text) = TestProcess.run([
            "python3", "-c", "import zoneinfo; print(*(n for n in zoneinfo.available_timezones() if n != 'localtime'))",
        ])
        try #require(status == 0)
        return text.split(whereSeparator: \.isWhitespace).map(String.init).sorted()
    }

    private static func run(_ words: [String]) throws -> [Int64] {
        let (status, text) = TestProcess.run(["python3", "-c", script] + words)
        try #require(status == 0, "python3 with zoneinfo and tzdata is needed")
        return text.split(whereSeparator: \.isWhitespace).compactMap { Int64($0) }
    }

    private static let script = """
        import datetime, io, struct, sys, zoneinfo

        EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)

        def read(name):
            if not name.startswith("="):
                return zoneinfo.ZoneInfo(name)
            block = b"TZif3" + bytes(15) + struct.pack(">6l", 0, 0, 0, 0, 1, 4) + struct.pack(">lbb", 0, 0, 0) + b"UTC\\0"
            return zoneinfo.ZoneInfo.from_file(io.BytesIO(block * 2 + b"\\n" + name[1:].encode() + b"\\n"))

        def local(zone, instant):
            return (EPOCH + datetime.timedelta(seconds=instant)).astimezone(zone)

        def offset(zone, instant):
            return int(local(zone, instant).utcoffset().total_seconds())

        def change(zone, low, high):
            "The first instant after `low` at which the offset is that of `high`."
            before = offset(zone, low)
            while high - low > 1:
                middle = (low + high) // 2
                if offset(zone, middle) == before:
                    low = middle
                else:
                    high = middle
            return high

        def first(zone, reading):
            instant = int(reading.replace(tzinfo=zone).timestamp())
            if local(zone, instant).replace(tzinfo=None) == reading:
                return instant
            return change(zone, int(reading.replace(tzinfo=zone, fold=1).timestamp()), instant)

        mode, zone, start, end = sys.argv[1], read(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
        if mode == "changes":
            before = offset(zone, start)
            print(start, before)
            for instant in range(start + 3600, end, 3600):
                after = offset(zone, instant)
                if after != before:
                    print(change(zone, instant - 3600, instant), after)
                    before = after
        else:
            minutes = [int(word) for word in sys.argv[5].split(",")]
            for day in range(start, end):
                date = datetime.datetime(1970, 1, 1) + datetime.timedelta(days=day)
                print(*(first(zone, date + datetime.timedelta(minutes=m)) for m in minutes))
        """
}

extension CivilDate {
    /// A date that a test writes, which the calendar has.
    init(_ year: Int, _ month: Int, _ day: Int) {
        guard let date = CivilDate(year: year, month: month, day: day) else {
            preconditionFailure("no such date: \(year)-\(month)-\(day)")
        }
        self = date
    }
}
