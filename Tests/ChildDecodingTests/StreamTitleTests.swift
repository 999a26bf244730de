import Testing

@testable import ChildDecoding

/// Titles of stations as they are found outside.
@Suite struct StreamTitleTests {
    private static let iHeart =
        #"StreamTitle='Some Body - text="It&apos;s One" song_spot="M" MediaBaseId="1" itunesTrackId="0" "#
        + #"amgArtworkURL="http://image.test/a.jpg" length="00:03:35" unsID="-1" spotInstanceId="-1"';StreamUrl='';"#
    private static let spot = #"StreamTitle='text="Buy this" song_spot="T" spotInstanceId="12"';"#
    private static let attributes = #"StreamTitle='title="One",artist="Some Body",url="song_spot=\"M\""';"#

    @Test(
        "artist and title are what a person would read",
        arguments: [
            ("StreamTitle='Some Body - It's one';StreamUrl='x';", "Some Body", "It's one"),
            ("StreamTitle='A';", nil, "A"), ("StreamTitle='';", nil, nil), ("StreamUrl='x';", nil, nil), ("", nil, nil),
            ("StreamTitle='open", nil, "open"), ("StreamTitle='open'", nil, "open"),
            ("StreamTitle='open;", nil, "open"),
            ("StreamTitle=\"A - B\";StreamUrl=\"\";", "A", "B"), ("StreamTitle=A - B;StreamUrl=;", "A", "B"),
            ("StreamTitle='A - 'B';c';StreamUrl='x';", "A", "'B';c"), ("StreamTitle='Don';t';", nil, "Don';t"),
            ("StreamTitle=' - ';", nil, nil), ("StreamTitle='-';", nil, nil), ("StreamTitle=' - - ';", nil, nil),
            ("StreamTitle='A - ';", nil, "A"), ("StreamTitle=' - B';", nil, "B"), ("StreamTitle='A -  - B';", "A", "B"),
            ("StreamTitle='A-B';", nil, "A-B"), ("StreamTitle='A - B - C';", "A", "B - C"),
            ("StreamTitle='Tom &amp; Co - R&#38;B &quot;x&#x22; &eacute; &';", "Tom & Co", "R&B \"x\" &eacute; &"),
            ("StreamTitle='a &rsquo;n&#8217; b &#0; &#xD800;';", nil, "a ’n’ b &#0; &#xD800;"),
            (Self.iHeart, "Some Body", "It's One"), (Self.spot, nil, "Buy this"),
            (Self.attributes, "Some Body", "One"),
            ("StreamTitle='The text=\"x\" trick';", nil, "The text=\"x\" trick"),
        ] as [(String, String?, String?)])
    func words(_ text: String, _ artist: String?, _ title: String?) {
        let found = StreamTitle(Array(text.utf8))
        #expect(found.artist.map { String(decoding: $0, as: UTF8.self) } == artist)
        #expect(found.title.map { String(decoding: $0, as: UTF8.self) } == title)
    }

    @Test("a picture is one; a homepage is none")
    func pictures() {
        func artwork(_ text: String) -> String? {
            StreamTitle(Array(text.utf8)).artwork.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(artwork("StreamTitle='A';StreamUrl='https://x.test/a.JPG?b=1';") == "https://x.test/a.JPG?b=1")
        #expect(artwork("StreamTitle='A';StreamUrl='https://x.test/';") == nil)
        #expect(artwork(Self.iHeart) == "http://image.test/a.jpg")
    }

    @Test("a title in Latin-1 keeps its bytes: an entity beyond ASCII would mix encodings")
    func latin() {
        let found = StreamTitle(Array("StreamTitle='".utf8) + [0xC4, 0x20] + Array("&amp; &rsquo;';".utf8))
        #expect(found.title == [0xC4, 0x20] + Array("& &rsquo;".utf8))
    }
}
