import ControlProtocol
import NowPlaying
import Testing

@Suite struct PrintableTextTests {
    @Test(arguments: [
        ("plain é 日本 😀", "plain é 日本 😀"), ("a\nb\tc\r", "a\\u{a}b\\u{9}c\\u{d}"), ("\u{1b}[31mred", "\\u{1b}[31mred"),
        ("\u{7f}\u{85}\u{9b}", "\\u{7f}\\u{85}\\u{9b}"), ("\u{202e}gpj.exe", "\\u{202e}gpj.exe"),
        ("\u{2028}\u{2066}\u{feff}\0", "\\u{2028}\\u{2066}\\u{feff}\\u{0}"), ("", ""),
    ])
    func escapesWhatATerminalObeys(_ text: String, _ expected: String) {
        #expect(PrintableText.escaped(text) == expected)
        #expect(PrintableText.escaped(text).unicodeScalars.allSatisfy(PrintableText.isHarmless))
        #expect(PrintableText.stripped(text, limit: 100).unicodeScalars.allSatisfy(PrintableText.isHarmless))
    }

    @Test func isCut() {
        #expect(PrintableText.escaped("abcdef", limit: 3) == "abc…")
        #expect(PrintableText.escaped("abc", limit: 3) == "abc")
        #expect(PrintableText.stripped("a\u{1b}bcdef", limit: 3) == "abc")
    }
}
