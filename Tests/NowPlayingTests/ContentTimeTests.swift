import NowPlaying
import Testing

/// The time of a file and of its content.
@Suite struct ContentTimeTests {
    private let time = ContentTime([
        AdTimeRange(start: 0, duration: 5), AdTimeRange(start: 20, duration: 10), AdTimeRange(start: 30, duration: 2),
    ])

    @Test("without advertisements both are the same") func plain() {
        #expect(ContentTime().content(ofMedia: 12.5) == 12.5)
        #expect(ContentTime().media(ofContent: 12.5) == 12.5)
        #expect(ContentTime().range(atMedia: 0) == nil)
        #expect(ItemMark.marks(of: ContentTime(), []).isEmpty)
    }

    @Test(
        "the content stands still inside of a range",
        arguments: [
            (0, 0, 0), (4.9, 0, 0), (5, 0, nil), (12, 7, nil), (20, 15, 1), (25, 15, 1), (30, 15, 2), (31.5, 15, 2),
            (32, 15, nil), (40, 23, nil),
        ] as [(Double, Double, Int?)])
    func content(media: Double, content: Double, range: Int?) {
        #expect(abs(time.content(ofMedia: media) - content) < 1e-9)
        #expect(time.range(atMedia: media) == range)
    }

    @Test(
        "a place where a range lies means behind it",
        arguments: [(0, 5), (7, 12), (14.999, 19.999), (15, 32), (23, 40)] as [(Double, Double)])
    func media(content: Double, media: Double) {
        #expect(abs(time.media(ofContent: content) - media) < 1e-9)
    }

    @Test("every place of the content is found again") func roundTrip() {
        for step in 0..<4000 {
            let content = Double(step) / 100
            #expect(abs(time.content(ofMedia: time.media(ofContent: content)) - content) < 1e-9)
        }
    }

    @Test("marks come in the order in which they are heard") func marks() {
        let chapters = [Chapter(start: 0), Chapter(start: 7), Chapter(start: 15), Chapter(start: 16)]
        let marks = ItemMark.marks(of: time, chapters)
        #expect(
            marks.map(\.kind) == [
                .adBegan(0), .adEnded(0), .chapter(1), .adBegan(1), .adEnded(1), .adBegan(2), .adEnded(2), .chapter(2),
                .chapter(3),
            ])
        #expect(marks.map(\.media) == [0, 5, 12, 20, 30, 30, 32, 32, 33])
    }
}
