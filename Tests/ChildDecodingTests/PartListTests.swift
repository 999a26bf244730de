import ChildDecoding
import Testing

/// Playlists of parts, and those that begin in their middle.
@Suite struct PartListTests {
    private static let text = """
        #EXTM3U
        #EXT-X-VERSION:7
        #EXT-X-TARGETDURATION:5
        #EXT-X-MEDIA-SEQUENCE:40
        #EXT-X-PLAYLIST-TYPE:VOD
        #EXT-X-MAP:URI="init.mp4"
        #EXTINF:4.5,a title, with a comma
        #EXT-X-BYTERANGE:100@50
        all.mp4
        #EXTINF:5.0,
        #EXT-X-BYTERANGE:200
        all.mp4
        #EXT-X-DISCONTINUITY
        #EXT-X-MAP:URI="other.mp4"
        #EXTINF:2
        other1.mp4
        #EXTINF:3,
        other2.mp4
        #EXT-X-ENDLIST
        """

    private func lines(_ bytes: [UInt8]) -> [Substring] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }

    @Test("the part at a second, its range and what holds from before it", arguments: ["\n", "\r\n"])
    func middle(_ newline: String) throws {
        let text = Self.text.split(separator: "\n").joined(separator: newline)
        let list = try #require(PartList(Array(text.utf8)))
        #expect(list.isWhole && list.duration == 14.5 && list.last == 3 && list.longest == 5)
        let starts = [0, 4.4, 4.5, 9.4, 9.5, 11.5, 14, 99].map { list.beginning(at: $0).seconds }
        #expect(starts == [0, 0, 4.5, 4.5, 9.5, 11.5, 11.5, 11.5])
        let head = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:5", "#EXT-X-PLAYLIST-TYPE:VOD"]
        #expect(
            lines(list.beginning(at: 5).bytes) == head.map { $0[...] } + [
                "#EXT-X-MEDIA-SEQUENCE:41", "#EXT-X-MAP:URI=\"init.mp4\"", "#EXTINF:5.0,", "#EXT-X-BYTERANGE:200@150",
                "all.mp4", "#EXT-X-DISCONTINUITY", "#EXT-X-MAP:URI=\"other.mp4\"", "#EXTINF:2.0,", "other1.mp4",
                "#EXTINF:3.0,", "other2.mp4", "#EXT-X-ENDLIST",
            ])
        #expect(
            lines(list.beginning(at: 12).bytes) == head.map { $0[...] } + [
                "#EXT-X-MEDIA-SEQUENCE:43", "#EXT-X-MAP:URI=\"other.mp4\"", "#EXTINF:3.0,", "other2.mp4",
                "#EXT-X-ENDLIST",
            ])
        // The written text is a playlist again.
        #expect(PartList(list.beginning(at: 0).bytes)?.beginning(at: 5).bytes == list.beginning(at: 5).bytes)
    }

    @Test("one that grows says how long its parts are")
    func growing() throws {
        let list = try #require(PartList(Array("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:5.9,\na.ts\n".utf8)))
        #expect(!list.isWhole && list.last == 5.9 && list.longest == 6)
        #expect(!lines(list.beginning(at: 0).bytes).contains("#EXT-X-ENDLIST"))
    }

    @Test(
        "what is none, or makes no sense",
        arguments: [
            "", "#EXTM3U\n", "http://a/\n", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlist.m3u8\n",
            "#EXTM3U\n#EXTINF:nan,\na.ts\n", "#EXTM3U\n#EXTINF:-1,\na.ts\n", "#EXTM3U\n#EXTINF:1e9,\na.ts\n",
            "#EXTM3U\n#EXTINF:1,\n#EXT-X-BYTERANGE:x\na.ts\n", "#EXTM3U\n#EXTINF:1,\n#EXT-X-BYTERANGE:-1@4\na.ts\n",
            "#EXTM3U\n#EXTINF:1,\n#EXT-X-BYTERANGE:9223372036854775807@9223372036854775807\na.ts\n",
            "#EXTM3U\n#EXTINF:1,\n#EXT-X-BYTERANGE:1@2@3\na.ts\n", "#EXTM3U\na.ts\n#EXT-X-ENDLIST\n",
        ])
    func nonsense(_ text: String) { #expect(PartList(Array(text.utf8)) == nil) }

    /// A growing playlist with parts of these names from a number on.
    private static func growing(_ number: Int64?, _ links: [String]) -> [UInt8] {
        let lines =
            ["#EXTM3U", "#EXT-X-TARGETDURATION:4"] + (number.map { ["#EXT-X-MEDIA-SEQUENCE:\($0)"] } ?? [])
            + links.flatMap { ["#EXTINF:4,", $0] }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    @Test("an encoder that began again is told from an older copy of the playlist, and its parts get the next numbers")
    func falls() throws {
        let before = try #require(PartList(Self.growing(7, ["a7", "a8", "a9"])))
        let rows: [(number: Int64?, links: [String], beginsAgain: Bool)] = [
            (8, ["a8", "a9", "a10"], false), (7, ["a7", "a8", "a9"], false), (6, ["a6", "a7", "a8"], false),
            (0, ["b0", "b1"], true), (nil, ["b0"], true), (5, ["b5", "b6", "b7"], true),
        ]
        for row in rows {
            let bytes = Self.growing(row.number, row.links)
            let read = try #require(PartList(bytes))
            #expect(read.beginsAgain(after: before) == row.beginsAgain, "\(row)")
            let shifted = PartList.renumbered(bytes, by: before.end - read.first)
            let shown = try #require(PartList(shifted))
            #expect(shown.first == 10 && shown.end == 10 + Int64(row.links.count), "\(row)")
            #expect(shown.last == 4 && !shown.isWhole)
        }
    }
}
