import Testing
import TrackDatabase

@Suite struct FoldingTests {
    @Test(arguments: [
        ("Björk", "bjork"), ("BJÖRK", "bjork"), ("Bjo\u{308}rk", "bjork"), ("Søren Łódź", "soren lodz"),
        ("Straße", "strasse"), ("STRASSE", "strasse"), ("ẞ", "ss"), ("Ægir Œuvre", "aegir oeuvre"),
        ("İstanbul", "istanbul"),
        ("ISTANBUL ılık", "istanbul ilik"), ("Ёлка", "елка"), ("ΣΊΣΥΦΟΣ", "σισυφοσ"), ("Σίσυφος", "σισυφοσ"),
        ("ＡＢＣ１２３", "abc123"), ("ﾒﾛﾃﾞｨｰ", "めろでぃー"), ("メロディー", "めろでぃー"), ("めろでぃー", "めろでぃー"),
        ("ｶﾞｷﾞﾊﾟ", "がぎぱ"), ("か\u{3099}", "が"), ("カ\u{3099}", "が"), ("東京事変", "東京事変"),
        ("\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}", "한글"), ("한글", "한글"), ("ﬁn ½", "fin 1/2"),
        ("Motörhead", "motorhead"),
        ("Don’t — “x”", "don't - \"x\""), ("a\u{AD}b\u{200B}c\u{200D}d", "abcd"), ("a\u{A0}b\tc\0d", "a b c d"),
        ("مُحَمَّد", "محمد"), ("أحمد", "احمد"), ("שָׁלוֹם", "שלום"), ("हिन्दी", "हिन्दी"), ("ไทย", "ไทย"), ("Đorđe Þór", "dorde thor"),
        ("x²", "x2"), ("🎵 A", "🎵 a"), ("", ""), ("𝒜𝓫", "ab"), ("Ǆ", "dz"), ("AC/DC", "ac/dc"), ("ñ", "n"), ("Й", "и"),
        ("Ŵŷ", "wy"), ("Ảnh Đẹp", "anh dep"),
    ])
    func folds(text: String, folded: String) {
        #expect(Array(Folding.fold(text).unicodeScalars) == Array(folded.decomposedIndic.unicodeScalars))
    }

    @Test func isIdempotentAndTheSameForEquivalentTexts() {
        for value in UInt32(1)..<0x30000 {
            guard let scalar = Unicode.Scalar(value), !(0xE000...0xF8FF).contains(value) else { continue }
            let once = Folding.fold(String(scalar))
            #expect(Array(Folding.fold(once).utf8) == Array(once.utf8), "U+\(String(value, radix: 16))")
            let upper = Folding.fold(scalar.properties.uppercaseMapping)
            let lower = Folding.fold(scalar.properties.lowercaseMapping)
            if scalar.properties.uppercaseMapping != String(scalar),
                scalar.properties.lowercaseMapping != String(scalar)
            {
                #expect(upper == lower, "U+\(String(value, radix: 16))")
            }
        }
    }

    @Test func takesNamesThatAreNotUTF8() {
        #expect(Folding.fold(bytes: [0x41, 0xFF, 0x42]) == "a\u{FFFD}b")
    }
}

extension String {
    /// As it stands: the tables above hold no other form.
    fileprivate var decomposedIndic: String { self }
}
