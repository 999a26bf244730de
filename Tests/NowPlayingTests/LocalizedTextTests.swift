import NowPlaying
import Testing

/// Choice among several languages.
@Suite struct LocalizedTextTests {
    private func title(_ texts: [(String, String)], _ languages: [String], given: String? = nil) -> String? {
        var metadata = MediaMetadata()
        metadata.title = given
        metadata.texts = texts.map { LocalizedText(key: .title, language: $0.0, value: $0.1) }
        return metadata.localized(in: languages).title
    }

    @Test(
        "the dearest language that there is, the same, with more said, with less said, else what fits everybody",
        arguments: [
            (["de"], "Lied"), (["en"], "Song"), (["DE"], "Lied"), (["de-AT"], "Lied"), (["pt"], "Canção"),
            (["pt-PT"], "any"), (["fr", "en"], "Song"), (["fr"], "any"), ([], "any"), (["de-AT-1996", "en"], "Lied"),
            (["zh-Hant-TW"], "歌"), (["zh"], "歌"), (["zh-Hans"], "any"), (["e"], "any"),
        ] as [([String], String)])
    func best(languages: [String], expected: String) {
        let texts = [("en", "Song"), ("de", "Lied"), ("pt-BR", "Canção"), ("zh-Hant", "歌"), ("und", "any")]
        #expect(title(texts, languages) == expected)
        #expect(title(texts.reversed(), languages) == expected)
        #expect(title(texts, languages, given: "given") == expected)
    }

    @Test("without one that fits it is what was given, and without that any") func none() {
        #expect(title([("de", "Lied")], ["fr"], given: "given") == "given")
        #expect(title([("de", "Lied"), ("en", "Song")], ["fr"]) == "Lied")
        #expect(title([], ["fr"], given: "given") == "given")
    }

    @Test("each key by itself; a name in another language takes the list of names with it") func keys() {
        var metadata = MediaMetadata()
        metadata.artist = "A, B"
        metadata.artists = ["A", "B"]
        metadata.summary = "given"
        metadata.texts = [
            LocalizedText(key: .artist, language: "ja", value: "あ"),
            LocalizedText(key: .description, language: "de", value: "Beschreibung"),
        ]
        let german = metadata.localized(in: ["de"])
        #expect(german.summary == "Beschreibung")
        #expect(german.artists == ["A", "B"])
        let japanese = metadata.localized(in: ["ja"])
        #expect(japanese.artist == "あ")
        #expect(japanese.artists.isEmpty)
        #expect(japanese.summary == "given")
    }
}
