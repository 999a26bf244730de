import ControlProtocol
import MPDProtocol
import NowPlaying
import TestSupport
import Testing

@testable import MPDBridge

/// Lines of songs of the queue that are kept between listings.
@Suite(.timeLimit(.minutes(5)), .serialized) struct QueueRowsTests {
    private static let basis = QueueRows.Basis(tags: .all, caller: .own, names: SongNames(), library: 1)

    private static func ids(_ ids: some Sequence<Int32>) -> JSONValue {
        ["ids": .array(ids.map { .integer(Int64($0)) })]
    }

    private static func lines(_ rows: QueueRows, _ id: Int32, at index: Int) -> String? {
        var writer = AnswerWriter()
        guard rows.write(id, at: index, &writer) else { return nil }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func keep(
        _ id: Int32, _ facts: Int, size: Int = 8, in rows: inout QueueRows, of queue: ShadowQueue
    ) {
        let head = Array("file: \(id)\nTitle: \(facts)\(String(repeating: "x", count: size))\n".utf8)
        let tail = Array("Id: \(id)\n".utf8)
        rows.keep(id, head[...], tail[...], of: queue)
    }

    @Test("lines that are kept are those of the present facts, over histories of edits") func histories() {
        for seed in 1...200 as ClosedRange<UInt64> {
            var random = SeededRandom(seed: seed)
            var queue = ShadowQueue(ids: Array(1...8), revision: 1)
            var facts: [Int32: Int] = [:]
            var rows = QueueRows(Self.basis, version: queue.version)
            var next: Int32 = 9
            for step in 1...60 {
                let some = queue.ids.filter { _ in Bool.random(using: &random) }
                var edit: JSONValue = ["update": Self.ids(some)]
                switch Int.random(in: 0..<4, using: &random) {
                case 0 where queue.ids.count > 4: edit = ["remove": Self.ids(some.prefix(2))]
                case 1:
                    edit = ["insert": Self.ids([next])]
                    next += 1
                case _: for id in some { facts[id] = step }
                }
                let isUnderstood = queue.apply([edit], to: queue.revision + 1)
                #expect(isUnderstood)
                // Several edits come between two listings.
                guard step % 3 == 0 else { continue }
                rows.follow(queue)
                for (index, id) in queue.ids.enumerated() {
                    let present = "file: \(id)\nTitle: \(facts[id] ?? 0)xxxxxxxx\nPos: \(index)\nId: \(id)\n"
                    if let known = Self.lines(rows, id, at: index) { #expect(known == present, "seed \(seed)") }
                    if Bool.random(using: &random) {
                        Self.keep(id, facts[id] ?? 0, in: &rows, of: queue)
                        #expect(Self.lines(rows, id, at: index) == present)
                    }
                }
            }
        }
    }

    @Test("a queue that was listed anew keeps no lines of before") func anew() {
        var rows = QueueRows(Self.basis, version: 1)
        let queue = ShadowQueue(ids: [1, 2], revision: 1)
        Self.keep(1, 0, in: &rows, of: queue)
        rows.follow(queue)
        #expect(rows.has(1))
        rows.follow(ShadowQueue(ids: [2, 1], revision: 2, earlier: queue.version))
        #expect(!rows.has(1))
    }

    @Test("the text is bounded, and songs that are gone make room") func bounds() {
        var queue = ShadowQueue(ids: Array(1...4000), revision: 1)
        var rows = QueueRows(Self.basis, version: queue.version)
        for id in queue.ids { Self.keep(id, 0, size: 4000, in: &rows, of: queue) }
        let known = queue.ids.count { rows.has($0) }
        #expect(known > 900 && known < 1100)
        #expect(rows.has(1) && !rows.has(4000))
        let isUnderstood = queue.apply([["remove": Self.ids(1...500)]], to: 2)
        #expect(isUnderstood)
        rows.follow(queue)
        Self.keep(4000, 7, size: 4000, in: &rows, of: queue)
        #expect(rows.has(4000) && rows.has(900) && !rows.has(1))
        let title = "Title: 0\(String(repeating: "x", count: 4000))"
        #expect(Self.lines(rows, 900, at: 3) == "file: 900\n\(title)\nPos: 3\nId: 900\n")
    }

    @Test("a table has the lines of two kinds of client, and of the present library alone") func table() {
        let queue = ShadowQueue(ids: [1], revision: 1)
        let table = QueueRowTable()
        func has(_ basis: QueueRows.Basis) -> Bool {
            var result = false
            table.with(basis, queue) { result = $0.has(1) }
            return result
        }
        func keep(_ basis: QueueRows.Basis) {
            table.with(basis, queue) { Self.keep(1, 0, in: &$0, of: queue) }
        }
        let other = QueueRows.Basis(tags: .all, caller: .user(1000), names: SongNames(), library: 1)
        keep(Self.basis)
        #expect(!has(other))
        keep(other)
        #expect(has(other) && has(Self.basis))
        let few = QueueRows.Basis(tags: .none, caller: .own, names: SongNames(), library: 1)
        #expect(!has(few))
        // The one that asked longest ago made room.
        #expect(has(Self.basis))
        #expect(!has(QueueRows.Basis(tags: .all, caller: .own, names: SongNames(), library: 2)))
        #expect(!has(Self.basis))
    }

    // MARK: Beside the real programs

    private let folder = TemporaryFolder()

    private func write(_ number: Int, title: String) {
        var options = FLACOptions()
        let tags = ["TITLE=\(title)", "ARTIST=artist \(number % 3)", "TRACKNUMBER=\(number)"]
        options.blocks = [AudioMaterial.vorbisComments(tags.map { Array($0.utf8) })]
        let sound = AudioMaterial(
            sampleRate: 44_100, channels: 1, bits: 16, samples: Array(repeating: 0, count: 44_100))
        folder.folder("music")
        _ = folder.write(sound.flac(options), "music/\(number).flac")
    }

    @Test("a listing is the same with and without lines that were kept") func listings() async throws {
        for number in 1...6 { write(number, title: "title \(number)") }
        let outside = folder.silence("outside.wav", seconds: 3)
        let house = await MPDHouse.start(in: folder, music: (folder.path("music"), 6))
        let (whole, few) = (try house.client(), try house.client())
        #expect(try few.ask("tagtypes clear") == ["OK"])
        #expect(try few.ask("tagtypes enable Title") == ["OK"])
        // Songs that a filter judges are always asked for anew.
        func compare(_ after: String) throws {
            for client in [whole, few] {
                let anew = try client.ask(#"playlistfind "(prio >= 0)""#)
                #expect(try client.ask("playlistinfo") == anew, "\(after)")
                #expect(try client.ask("playlistinfo") == anew, "again, \(after)")
                #expect(try client.ask("plchanges 0") == anew, "changes, \(after)")
            }
        }
        for command in [
            "add 1.flac", "add 2.flac", "add \(outside)", "add 3.flac", "add 4.flac", "add 2.flac", "prio 7 0:2",
            "move 0 3", "delete 1", "shuffle", "add 5.flac", "swap 0 2", "prio 0 0:9", "addid 6.flac 1", "play 1",
            "clear", "add 1.flac", "add 6.flac",
        ] {
            let answer = try whole.ask(command)
            #expect(answer.last == "OK", "\(command): \(answer)")
            try compare(command)
        }
        #expect(try whole.ask("playlistinfo").contains("Title: title 6"))
        write(6, title: "another title of this song")
        #expect(try whole.ask("update").last == "OK")
        #expect(becomes { (try? whole.ask("status").contains { $0.hasPrefix("updating_db") }) == false })
        #expect(becomes { (try? whole.ask("playlistinfo").contains("Title: another title of this song")) == true })
        try compare("update")
        let id = try #require(try whole.value("Id", of: "playlistinfo 1"))
        #expect(try whole.ask("playlistid \(id)").contains("Pos: 1"))
    }
}
