import Testing
import TrackReading

/// Texts in character sets that their sources do not name.
@Suite struct LegacyTextTests {
    @Test(
        "a character set of the C library, by the names that people write",
        arguments: [
            (
                "shift-jis", "春の歌 〜ソ表能",
                [0x8F, 0x74, 0x82, 0xCC, 0x89, 0xCC, 0x20, 0x81, 0x60, 0x83, 0x5C, 0x95, 0x5C, 0x94, 0x5C]
            ),
            ("Shift_JIS", "ﾊﾙ①", [0xCA, 0xD9, 0x87, 0x40]),
            ("gbk", "春江花月夜", [0xB4, 0xBA, 0xBD, 0xAD, 0xBB, 0xA8, 0xD4, 0xC2, 0xD2, 0xB9]),
            ("GB2312", "€", [0xA2, 0xE3]),
            (
                "cp1251", "Ночь – “Кино”",
                [0xCD, 0xEE, 0xF7, 0xFC, 0x20, 0x96, 0x20, 0x93, 0xCA, 0xE8, 0xED, 0xEE, 0x94]
            ),
            ("windows-1251", "Ёж", [0xA8, 0xE6]), ("koi8-r", "Ночь", [0xEE, 0xCF, 0xDE, 0xD8]),
            ("big5", "春", [0xAC, 0x4B]),
            ("euc-kr", "봄", [0xBA, 0xBD]), ("euc-jp", "春", [0xBD, 0xD5]), ("iso-8859-1", "“é”", [0x93, 0xE9, 0x94]),
            ("iso-8859-2", "ž", [0xBE]), ("cp1250", "ž", [0x9E]), ("cp437", "é", [0x82]),
        ] as [(String, String, [UInt8])])
    func charsets(name: String, text: String, bytes: [UInt8]) throws {
        let charset = try #require(LegacyCharset(name))
        // Two characters of JIS have two characters of Unicode each: programs of Microsoft use the wide ones.
        #expect(charset.text(bytes) == text.replacing("〜", with: "～"))
        #expect(LegacyText.decoded(bytes, charset) == charset.text(bytes))
        #expect(charset.text([]) == "")
        #expect(charset.text(Array("AC/DC \\ ~".utf8)) == "AC/DC \\ ~")
        for _ in 0..<3 { #expect(charset.text(bytes) == text.replacing("〜", with: "～")) }
    }

    @Test(arguments: [
        "", "none", "utf-16", "utf-16le", "ucs-4", "ebcdic-us", "cp1252//TRANSLIT", "a,b", "x y", "\u{E9}",
    ])
    func noCharsets(name: String) { #expect(LegacyCharset(name) == nil) }

    @Test("UTF-8 wins, then the character set, then Windows-1252") func order() throws {
        let cyrillic = try #require(LegacyCharset("cp1251"))
        let japanese = try #require(LegacyCharset("shift-jis"))
        #expect(LegacyText.decoded(Array("Ночь".utf8), japanese) == "Ночь")
        #expect(LegacyText.decoded([0xCD, 0xEE], cyrillic) == "Но")
        // No Shift-JIS: the last byte begins a character.
        #expect(LegacyText.decoded(Array("Caf".utf8) + [0xE9], japanese) == "Café")
        #expect(LegacyText.decoded(Array("Don".utf8) + [0x92, 0x74], nil) == "Don’t")
        #expect(LegacyText.latin1([0xC3, 0xA9], nil) == "Ã©")
        #expect(LegacyText.latin1([0xC3, 0xA9], cyrillic) == "é")
        #expect(LegacyText.windows1252(0...255).unicodeScalars.count == 256)
    }

    @Test("a field of fixed length ends with a whole character") func cutFields() throws {
        let japanese = try #require(LegacyCharset("shift-jis"))
        let text: [UInt8] = [0x8F, 0x74, 0x82, 0xCC, 0x89]
        #expect(Array(LegacyText.wholeCharacters(text, japanese)) == [0x8F, 0x74, 0x82, 0xCC])
        #expect(Array(LegacyText.wholeCharacters(text, nil)) == text)
        for count in 1...12 {
            let cut = Array("春の歌𝄞é".utf8.prefix(count))
            let whole = LegacyText.wholeCharacters(cut, nil)
            #expect(count < 3 || String(validating: whole, as: UTF8.self) != nil && whole.count > count - 4)
        }
        let latin = Array("Le caf".utf8) + [0xE9]
        #expect(Array(LegacyText.wholeCharacters(latin, nil)) == latin)
    }

    @Test("punctuation of Windows-1252 stays, whichever way it comes") func punctuation() {
        let bytes: [UInt8] = [0x44, 0x6F, 0x6E, 0x92, 0x74, 0x20, 0x96, 0x20, 0x93, 0x78, 0x94, 0x85]
        #expect(TagText.text(bytes) == "Don’t – “x”…")
        // Taken for Latin-1 by another program, and written as UTF-8.
        #expect(TagText.text(Array("Don\u{92}t \u{96} \u{93}x\u{94}".utf8)) == "Don’t – “x”")
        // The five positions without a character.
        for gap: UInt8 in [0x81, 0x8D, 0x8F, 0x90, 0x9D] { #expect(TagText.text([0x61, gap, 0x62, 0xE9]) == "a bé") }
        for control in (0..<0x20).map({ UInt8($0) }) + [0x7F] { #expect(TagText.text([0x61, control, 0xE9]) == "a é") }
    }

    @Test("each text has one normal form") func normalForm() throws {
        for (text, form) in [
            ("Bjo\u{308}rk", "Bj\u{F6}rk"), ("Sigur Ro\u{301}s", "Sigur R\u{F3}s"),
            ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"),
            ("\u{304B}\u{3099}", "\u{304C}"), ("\u{212B}", "\u{C5}"), ("\u{2126}", "\u{3A9}"),
            ("\u{1E0D}\u{307}", "\u{1E0D}\u{307}"), ("d\u{307}\u{323}", "\u{1E0D}\u{307}"), ("plain", "plain"),
            ("春の歌", "春の歌"),
        ] {
            let read = try #require(TagText.text(Array(text.utf8)))
            #expect(Array(read.utf8) == Array(form.utf8), "\(form)")
            #expect(Array(form.composed.utf8) == Array(form.utf8))
        }
    }

    @Test("the order of UTF-16 without a mark") func utf16() {
        for text in ["Hello", "Zoë — 音", "Ночь", "春の歌", "é", "Zoë — 音楽 𝄞", "Ελλάδα", "a", "The Café O’Clock"] {
            let units = Array(text.utf16)
            let little = units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
            let big = units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
            #expect(!LegacyText.looksBigEndian(little), "\(text)")
            #expect(LegacyText.looksBigEndian(big), "\(text)")
        }
    }
}
