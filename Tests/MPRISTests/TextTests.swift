import ControlProtocol
import Testing

@testable import MPRISBridge

/// Text from strangers, on its way to the bus.
@Suite struct TextTests {
    @Test(arguments: [
        ("So What", "So What"), ("a\nb\tc", "a b c"), ("a\u{1B}[31mb\u{0}c", "a\u{FFFD}[31mb\u{FFFD}c"),
        ("\u{202E}abc", "abc"), ("Ænima 日本 🎵", "Ænima 日本 🎵"),
    ])
    func controlCharacters(text: String, clean: String) { #expect(BusText.clean(text) == clean) }

    /// sd-bus refuses a message in which one of them stands.
    @Test(arguments: [0xFFFE, 0xFDD0, 0xFDEF, 0x1FFFF, 0x10FFFE] as [UInt32])
    func noncharacters(number: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(number))
        #expect(BusText.clean("a" + String(scalar)) == "a\u{FFFD}")
    }

    @Test func nothingIsNoText() {
        #expect(BusText.clean(nil) == nil)
        #expect(BusText.clean("") == nil)
        #expect(BusText.clean("\u{200B}") == nil)
    }

    @Test func longTextsAreCutBetweenCharacters() throws {
        let clean = try #require(BusText.clean(String(repeating: "日", count: 5000)))
        #expect(clean.utf8.count == 4095)
        #expect(clean.allSatisfy { $0 == "日" })
    }

    @Test(
        arguments: [
            ("/m/a b.flac", "file:///m/a%20b.flac"), ("/m/50%#?.flac", "file:///m/50%25%23%3F.flac"),
            ("/m/ä.flac", "file:///m/%C3%A4.flac"), ("file:///m/a%20b.flac", "file:///m/a%20b.flac"),
            ("http://radio/x?y=ü", "http://radio/x?y=%C3%BC"), ("http://r/\u{1B}x", "http://r/%1Bx"),
            ("no uri", nil), ("", nil), ("1a:x", nil),
        ] as [(String, String?)])
    func uris(text: String, uri: String?) { #expect(BusText.uri(text) == uri) }

    @Test func picturesAreNoFilesOfAnotherMachine() {
        #expect(BusText.pictureURI("https://a/b.jpg") == "https://a/b.jpg")
        #expect(BusText.pictureURI("file:///etc/shadow") == nil)
        #expect(BusText.pictureURI("/etc/shadow") == nil)
        #expect(BusText.pictureURI("javascript:alert(1)") == nil)
    }

    @Test func tracksAsPaths() {
        #expect(TrackPath.id(TrackPath.of(12)) == 12)
        for path in [TrackPath.none, "/nowplayingd/track/", "/nowplayingd/track/012", "/nowplayingd/track/x"] {
            #expect(TrackPath.id(path) == nil)
        }
    }
}
