import ControlProtocol
import NowPlayingClient
import Testing

@Suite struct TextTests {
    @Test(
        arguments: [
            ("83", 83), ("83.5", 83.5), ("0", 0), ("1:23.5", 83.5), ("01:23", 83), ("1:02:03", 3723), ("90:00", 5400),
            (".5", 0.5), ("5.", 5), ("0:00.001", 0.001),
        ] as [(String, Double)])
    func timesAreRead(text: String, seconds: Double) {
        #expect(ClockText.seconds(text).map { ($0 * 1e6).rounded() } == (seconds * 1e6).rounded())
    }

    @Test(arguments: [
        "", ":", "1:", ":5", "1:60", "1:75", "1:2:3:4", "1:99:00", "-1", "+1", "1e3", "abc", "1,5", "1.2.3", " 1",
        "0x10",
        "inf", "nan", "1:-2", "٣", ".",
    ])
    func whatIsNoTimeIsRefused(text: String) { #expect(ClockText.seconds(text) == nil) }

    @Test(
        arguments: [
            ("83", .absolute(83)), ("1:23.5", .absolute(83.5)), ("+10", .relative(10)), ("-15", .relative(-15)),
            ("10+", .relative(10)), ("10-", .relative(-10)), ("-1:00", .relative(-60)), ("50%", .fraction(0.5)),
            ("+5%", .relativeFraction(0.05)), ("5%-", .relativeFraction(-0.05)), ("101%", nil), ("", nil), ("-", nil),
            ("%", nil), ("+-1", nil),
        ] as [(String, Amount?)])
    func positionsAreRead(text: String, amount: Amount?) { #expect(Amount(time: text) == amount) }

    @Test(
        arguments: [
            ("50", .absolute(50)), ("50%", .absolute(50)), ("+5", .relative(5)), ("-5", .relative(-5)),
            ("5-", .relative(-5)), ("+2.5%", .relative(2.5)), ("1:00", nil), ("loud", nil), ("", nil),
            ("0.5", nil), ("+0.05", nil), ("1.0", nil), ("0.5%", .absolute(0.5)),
        ] as [(String, Amount?)])
    func volumesAreRead(text: String, amount: Amount?) { #expect(Amount(percent: text) == amount) }

    @Test(
        arguments: [
            (0, "0:00"), (7.999, "0:07"), (83.5, "1:23"), (3599.9, "59:59"), (3723, "1:02:03"), (360_000, "100:00:00"),
            (-3, "0:00"), (.infinity, "--:--"), (.nan, "--:--"),
        ] as [(Double, String)])
    func clocksAreWritten(seconds: Double, text: String) { #expect(ClockText.clock(seconds) == text) }

    @Test(
        arguments: [
            (0, "0"), (80, "80"), (0.5, "0.5"), (-0.25, "-0.25"), (83.204512, "83.204512"), (1.0000004, "1"),
            (0.9999999, "1"), (-0.0000001, "0"), (12_345_678_901, "12345678901"), (1.05, "1.05"), (.nan, ""),
        ] as [(Double, String)])
    func numbersHaveNoExponent(value: Double, text: String) { #expect(ClockText.number(value) == text) }

    @Test(arguments: [
        ("So What", "So What"), ("Björk – Jóga", "Björk – Jóga"), ("a\nb\tc\r\nd", "a b c  d"),
        ("\u{1B}[31mred\u{07}", "\u{FFFD}[31mred\u{FFFD}"), ("\u{9B}31m", "\u{FFFD}31m"), ("a\u{7F}b", "a\u{FFFD}b"),
        ("abc\u{202E}fed", "abcfed"), ("\u{2066}x\u{2069}", "x"), ("a\u{2028}b\u{2029}c\u{85}d", "a b c d"),
        ("zero\u{200B}width\u{FEFF}", "zerowidth"), ("tag\u{E0041}", "tag"),
        ("👨\u{200D}👩\u{200D}👧", "👨\u{200D}👩\u{200D}👧"),
        ("می\u{200C}خواهم", "می\u{200C}خواهم"), ("❤\u{FE0F}", "❤\u{FE0F}"), ("", ""), ("\0", "\u{FFFD}"),
    ])
    func foreignTextIsMadeSafe(text: String, safe: String) { #expect(TerminalText.safe(text) == safe) }

    @Test func everyControlCharacterIsCaught() {
        for value in UInt32(0)...0x2FFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let isHarmful = scalar.properties.generalCategory == .control || scalar.properties.isBidiControl
            guard isHarmful else { continue }
            let safe = TerminalText.safe("a" + String(scalar) + "b")
            #expect(!safe.unicodeScalars.contains(scalar), "U+\(String(value, radix: 16))")
        }
    }

    @Test func jsonStaysTheSameButIsHarmless() throws {
        let value: JSONValue = ["title": "a\u{202E}b\u{1B}\u{9B}c\u{E0041}\u{2028}d–é"]
        let text = TerminalText.escapedJSON(JSONWriter.text(value))
        #expect(TerminalText.safe(text) == text)
        #expect(try JSONReader.read(text) == value)
    }

    @Test(arguments: [
        ("abc", 3), ("日本", 4), ("é", 1), ("e\u{301}", 1), ("❤\u{FE0F}", 2), ("👨\u{200D}👩\u{200D}👧", 2), ("–", 1),
        ("", 0),
    ])
    func columnsAreCounted(text: String, columns: Int) { #expect(TerminalText.width(of: text) == columns) }

    @Test(arguments: [
        ("abcdef", 6, "abcdef"), ("abcdef", 4, "abc…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("abc", 0, ""),
    ])
    func textIsFitted(text: String, columns: Int, fitted: String) {
        #expect(TerminalText.fitted(text, columns: columns) == fitted)
    }

    @Test func namesOfFilesKeepTheirBytes() {
        let latin1: [UInt8] = Array("/music/caf".utf8) + [0xE9] + Array(" 1.flac".utf8)
        #expect(FileName.uri(ofAbsolutePath: latin1) == "file:///music/caf%E9%201.flac")
        #expect(FileName.uri(ofAbsolutePath: Array("/a b/ü%41.flac".utf8)) == "/a b/ü%41.flac")
    }

    @Test(arguments: [
        ("a.flac", "/w/a.flac"), ("./a.flac", "/w/a.flac"), ("../a", "/w/../a"), ("/x//y/", "/x/y"), (".", "/w"),
        ("a/./b", "/w/a/b"), ("/", "/"),
    ])
    func relativePathsBecomeAbsolute(name: String, path: String) {
        #expect(FileName.absolute(Array(name.utf8), in: Array("/w".utf8)) == Array(path.utf8))
    }
}
