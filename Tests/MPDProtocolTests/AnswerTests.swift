import Testing

@testable import MPDProtocol

/// Lines of answers, and times in them.
@Suite struct AnswerTests {
    private func text(_ write: (inout AnswerWriter) -> Void) -> String {
        var writer = AnswerWriter()
        write(&writer)
        return String(decoding: writer.take(), as: UTF8.self)
    }

    @Test("lines") func lines() {
        #expect(text { $0.greeting(version: "0.23.5") } == "OK MPD 0.23.5\n")
        #expect(text { $0.pair("elapsed", seconds: 12.3456) } == "elapsed: 12.346\n")
        #expect(text { $0.pair("volume", 5) } == "volume: 5\n")
        #expect(text { $0.pair("repeat", true) } == "repeat: 1\n")
        #expect(text { $0.pair(.albumArtist, "A") } == "AlbumArtist: A\n")
        #expect(text { $0.pair("Last-Modified", unix: 1_000_000_000) } == "Last-Modified: 2001-09-09T01:46:40Z\n")
        #expect(
            text { $0.failure(MPDFailure(.noExist, "No such song"), index: 3, command: "playid") }
                == "ACK [50@3] {playid} No such song\n")
        #expect(text { $0.binary([1, 2, 10]) } == "binary: 3\n\u{1}\u{2}\n\n")
    }

    @Test("no text forges a line") func forgery() {
        #expect(text { $0.pair(.title, "a\nOK\r\nb\0") } == "Title: a OK  b \n")
        #expect(text { $0.failure(MPDFailure(.system, "x\nOK"), index: 0, command: "") } == "ACK [52@0] {} x OK\n")
    }

    @Test(
        "seconds",
        arguments: [
            (0, "0.000"), (0.0004, "0.000"), (59.9996, "60.000"), (-1, "0.000"), (.nan, "0.000"), (3600.05, "3600.050"),
        ] as [(Double, String)])
    func seconds(value: Double, expected: String) { #expect(MPDNumbers.milliseconds(value) == expected) }

    @Test("a day of every month of 2,000 years is written and read again") func days() {
        var expected = -62_135_596_800 / 86_400
        for year in 1...2400 {
            for month in 1...12 {
                guard let date = CivilDate(year: year, month: month, day: 1) else {
                    Issue.record("no \(year)-\(month)"); return
                }
                #expect(date.daysSince1970 == expected)
                #expect(CivilDate(daysSince1970: expected) == date)
                let days = (28...31).last { CivilDate(year: year, month: month, day: $0) != nil } ?? 0
                #expect(CivilDate(daysSince1970: expected + days - 1).day == days)
                expected += days
            }
        }
        #expect(CivilDate(year: 1970, month: 1, day: 1)?.daysSince1970 == 0)
    }

    @Test(
        "times of clients",
        arguments: [
            ("1700000000", 1_700_000_000), ("2026", 1_767_225_600), ("2026-01-01", 1_767_225_600),
            ("2026-01-01T00:00:00Z", 1_767_225_600), ("2026-01-01T01:00:00+01:00", 1_767_225_600),
            ("20260101T000000Z", 1_767_225_600), ("2026-01-01 00:00", 1_767_225_600), ("2026-02", 1_769_904_000),
            ("1969-12-31T23:59:59Z", -1), ("", nil), ("x", nil), ("2026-13-01", nil), ("2026-02-30", nil),
            ("2026-01-01T25:00Z", nil), ("2026-01-01Tx", nil), ("2026-", nil),
        ] as [(String, Int64?)])
    func times(text: String, expected: Int64?) { #expect(MPDNumbers.unix(text) == expected) }

    @Test("parts of a file of any size, read one after the other with any limit, are the file") func parts() throws {
        for size in [0, 1, 63, 64, 65, 128, 1000] {
            for limit in [64, 100, 1000, BinaryPart.maximumLimit] {
                var offset = 0
                var parts = 0
                while true {
                    let part = try BinaryPart(from: offset, of: size, limit: limit)
                    #expect(part.range.lowerBound == offset && part.range.count == min(limit, size - offset))
                    if part.range.isEmpty { break }
                    offset = part.range.upperBound
                    parts += 1
                }
                #expect(offset == size && parts == (size + limit - 1) / limit)
                for beyond in [size + 1, Int.max] {
                    #expect(throws: MPDFailure(.argument, "Bad file offset")) {
                        try BinaryPart(from: beyond, of: size, limit: limit)
                    }
                }
            }
        }
        #expect(throws: MPDFailure(.argument, "Value too small")) { try BinaryPart.limit(Argument("63")) }
        #expect(try BinaryPart.limit(Argument("64")) == 64)
        #expect(try BinaryPart.limit(Argument("4294967295")) == BinaryPart.maximumLimit)
    }
}
