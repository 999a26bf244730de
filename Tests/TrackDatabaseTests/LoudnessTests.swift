import Glibc
import NowPlaying
import TestLibraries
import TestSupport
import Testing
import TrackDatabase

/// The measured loudness of tracks and albums in the database, beside a model of it.
@Suite struct LoudnessTests {
    private let folder = TestFolder()

    private static func record(
        _ place: String, album: String? = nil, gain: Double? = nil, file: Int64 = 1
    ) -> TrackRecord {
        var record = TrackRecord(path: TrackPath(place))
        record.file = TrackFile(size: 1000 + file, modified: file * 1_000_000_000, inode: file)
        record.tags = [.artist: ["Ann"], .title: [place]]
        if let album { record.tags[.album] = [album] }
        record.loudness.trackGain = gain
        record.duration = 10
        return record
    }

    private static func blocks(_ loudness: Double, count: Int = 20) -> LoudnessBlocks {
        var blocks = LoudnessBlocks()
        for _ in 0..<count { blocks.add(loudness) }
        return blocks
    }

    private static func measured(_ loudness: Double, peak: Double = 0.5) -> LoudnessFinding {
        .measured(blocks(loudness), truePeak: peak)
    }

    @Test("what is to be measured: tracks without tags, and all of their albums") func plan() throws {
        let database = try TrackDatabase(path: folder.file("t.db"))
        let writer = try database.writer()
        let ids = try writer.batch { batch throws(TrackDatabaseError) in
            var ids: [Int64] = []
            for record in [
                Self.record("m/a/1", album: "A"), Self.record("m/a/2", album: "A", gain: -3),
                Self.record("m/a/3", album: "A"),
                Self.record("m/b/1", album: "B", gain: -3), Self.record("m/b/2", album: "B", gain: 2),
                Self.record("m/1"),
                Self.record("m/2", gain: 0), Self.record("m/a/gone", album: "A"),
            ] { ids.append(try batch.put(record, added: 1)) }
            var unreadable = Self.record("m/a/text", album: "A")
            unreadable.isUnreadable = true
            try batch.put(unreadable, added: 1)
            try batch.setMissing(true, ids: [ids[7]])
            return ids
        }
        let reader = try database.reader()
        let plan = try reader.loudness.plan(includesTagged: false)
        #expect(plan.total == 4 && plan.done == 0 && Set(plan.waiting) == Set([ids[0], ids[1], ids[2], ids[5]]))
        // Those of an album follow each other.
        let places = plan.waiting.enumerated().filter { ids[0...2].contains($0.element) }.map(\.offset)
        #expect(places.last! - places.first! == 2)
        let all = try reader.loudness.plan(includesTagged: true)
        #expect(all.total == 7 && Set(all.waiting) == Set(ids[0...6]))
        let file = try #require(try reader.loudness.file(of: ids[0]))
        #expect(file.path == TrackPath("m/a/1") && file.file.size == 1001 && file.album != nil)
        #expect(try reader.loudness.file(of: ids[7]) == nil)
        #expect(try reader.loudness.file(of: ids[5])?.album == nil)
    }

    @Test("an album has a value when its last track is measured, and another when a track changes") func album() throws
    {
        let database = try TrackDatabase(path: folder.file("t.db"))
        let writer = try database.writer()
        let records = (1...3).map { Self.record("m/a/\($0)", album: "A", file: Int64($0)) }
        let ids = try writer.batch { batch throws(TrackDatabaseError) in
            var ids: [Int64] = []
            for record in records { ids.append(try batch.put(record, added: 1)) }
            return ids
        }
        let reader = try database.reader()
        let album = try #require(try reader.track(ids[0])?.album)
        func set(_ index: Int, _ finding: LoudnessFinding) throws -> [MeasuredLoudness] {
            try writer.batch { batch throws(TrackDatabaseError) in
                try batch.setLoudness(finding, of: ids[index], records[index].file)
                return try batch.settleLoudness(ofAlbum: album).map(\.loudness)
            }
        }
        let before = writer.version
        #expect(try set(0, Self.measured(-20, peak: 0.25)).isEmpty)
        #expect(try reader.track(ids[0])?.loudness?.album == nil)
        #expect(try set(1, Self.measured(-10, peak: 0.75)).isEmpty)
        let settled = try set(2, .failed("it is too damaged to decode"))
        #expect(settled.count == 2 && writer.version == before)
        for (id, level, peak) in [(ids[0], -20.0, 0.25), (ids[1], -10, 0.75)] {
            let found = try #require(try reader.track(id)?.loudness)
            // The quiet track is below the relative gate of the album: −20 is 10 LU below −12.6 only at −22.6.
            #expect(abs(found.track - level) < 0.06 && found.truePeak == peak && found.albumPeak == 0.75)
            #expect(abs((found.album ?? 0) - -12.6) < 0.1, "\(found)")
        }
        #expect(try reader.track(ids[2])?.loudness == nil)
        var plan = try reader.loudness.plan(includesTagged: false)
        #expect(plan.total == 3 && plan.done == 3 && plan.failed == 1 && plan.waiting.isEmpty && plan.unsettled.isEmpty)
        // A track that joins makes the album incomplete; one that leaves changes its value without a look at any file.
        let fourth = try writer.batch { batch throws(TrackDatabaseError) in
            try batch.put(Self.record("m/a/4", album: "A", file: 4), added: 1)
        }
        #expect(try reader.loudness.plan(includesTagged: false).waiting == [fourth])
        try writer.batch { batch throws(TrackDatabaseError) in try batch.remove(ids: [fourth, ids[1]]) }
        plan = try reader.loudness.plan(includesTagged: false)
        #expect(plan.total == 2 && plan.waiting.isEmpty && plan.unsettled == [album])
        try writer.batch { batch throws(TrackDatabaseError) in _ = try batch.settleLoudness(ofAlbum: album) }
        #expect(abs((try reader.track(ids[0])?.loudness?.album ?? 0) - -20) < 0.06)
        #expect(try reader.loudness.plan(includesTagged: false).unsettled.isEmpty)
        #expect(SQLiteCheck.rows(folder.file("t.db"), "SELECT count(*) FROM loudness") == ["2"])
    }

    @Test("a file that changes loses its loudness, one that moves or is missing for a time keeps it") func changes()
        throws
    {
        let database = try TrackDatabase(path: folder.file("t.db"))
        let writer = try database.writer()
        var record = Self.record("m/1")
        let id = try writer.batch { batch throws(TrackDatabaseError) in
            let id = try batch.put(record, added: 1)
            // A finding about another file than the present one is worth nothing.
            try batch.setLoudness(Self.measured(-9), of: id, TrackFile(size: 1, modified: 1, inode: 1))
            try batch.setLoudness(Self.measured(-9), of: id + 1, record.file)
            return id
        }
        let reader = try database.reader()
        #expect(try reader.loudness.plan(includesTagged: false).done == 0)
        try writer.batch { batch throws(TrackDatabaseError) in
            try batch.setLoudness(Self.measured(-20), of: id, record.file)
            batch.noteLoudness()
        }
        func level() throws -> Double? { try reader.track(id)?.loudness.map { ($0.track * 10).rounded() / 10 } }
        #expect(try level() == -20 && writer.version == 2)
        record.path = TrackPath("m/other/2")
        record.file.inode = 77
        try writer.batch { batch throws(TrackDatabaseError) in
            try batch.move(id, to: record)
            try batch.setMissing(true, ids: [id])
        }
        #expect(try reader.loudness.plan(includesTagged: false).total == 0)
        try writer.batch { batch throws(TrackDatabaseError) in try batch.setMissing(false, ids: [id]) }
        #expect(try level() == -20 && reader.loudness.plan(includesTagged: false).done == 1)
        var known: [TrackFile] = []
        try reader.loudness.all { file, _ in known.append(file) }
        #expect(known == [record.file])
        record.file.modified += 1
        try writer.batch { batch throws(TrackDatabaseError) in _ = try batch.put(record, added: 1) }
        #expect(try level() == nil && reader.loudness.plan(includesTagged: false).waiting == [id])
        try reader.loudness.all { _, _ in Issue.record("a changed file has a loudness") }
    }

    @Test("silence is measured and has no loudness; a pause lasts") func silence() throws {
        let path = folder.file("t.db")
        let database = try TrackDatabase(path: path)
        let writer = try database.writer()
        let record = Self.record("m/1", album: "A")
        let id = try writer.batch { batch throws(TrackDatabaseError) in
            let id = try batch.put(record, added: 1)
            try batch.setLoudness(.measured(LoudnessBlocks(), truePeak: 0), of: id, record.file)
            try batch.setLoudnessPaused(true)
            return id
        }
        let reader = try TrackDatabase(path: path).reader()
        let plan = try reader.loudness.plan(includesTagged: false)
        #expect(plan.done == 1 && plan.failed == 0 && plan.unsettled.count == 1)
        let album = plan.unsettled[0]
        try writer.batch { batch throws(TrackDatabaseError) in
            #expect(try batch.settleLoudness(ofAlbum: album).isEmpty)
        }
        #expect(try reader.loudness.plan(includesTagged: false).unsettled.isEmpty)
        #expect(try reader.track(id)?.loudness == nil && reader.loudness.isPaused())
        try writer.batch { batch throws(TrackDatabaseError) in try batch.setLoudnessPaused(false) }
        #expect(try !reader.loudness.isPaused())
    }

    @Test("made histories: the values are those of all blocks of each album", arguments: seeds(4, nightly: 60))
    func histories(seed: UInt64) throws {
        let database = try TrackDatabase(path: folder.file("t.db"))
        let (writer, reader) = (try database.writer(), try database.reader())
        var numbers = SeededNumbers(seed: seed)
        /// The measured tracks, by their numbers.
        var model: [Int64: (file: TrackFile, level: Double?)] = [:]
        var files: [Int64: TrackRecord] = [:]
        var last: Int64 = 0
        for _ in 0..<120 {
            let pick = files.keys.sorted().randomElement(using: &numbers)
            switch (numbers.number(below: 6), pick) {
            case (0, _), (1, _), (_, nil):
                last += 1
                let album = "album \(numbers.number(below: 5))"
                let record = Self.record("m/\(album)/\(last)", album: album, file: last)
                let id = try writer.batch { batch throws(TrackDatabaseError) in try batch.put(record, added: 1) }
                files[id] = record
            case (2, let id?):
                try writer.batch { batch throws(TrackDatabaseError) in try batch.remove(ids: [id]) }
                files[id] = nil
                model[id] = nil
            case (3, let id?):
                last += 1
                files[id]?.file.modified = last * 1_000_000_000
                let record = files[id]!
                try writer.batch { batch throws(TrackDatabaseError) in _ = try batch.put(record, added: 1) }
                model[id] = nil
            default:
                // The next of the plan, as the library does it.
                guard let id = try reader.loudness.plan(includesTagged: false).waiting.first,
                    let (_, file, album) = try reader.loudness.file(of: id)
                else { continue }
                let level = numbers.percent(15) ? nil : -Double(5 + numbers.number(below: 40))
                try writer.batch { batch throws(TrackDatabaseError) in
                    try batch.setLoudness(level.map { Self.measured($0) } ?? .failed("broken"), of: id, file)
                    if let album { try batch.settleLoudness(ofAlbum: album) }
                }
                model[id] = (file, level)
            }
            let plan = try reader.loudness.plan(includesTagged: false)
            #expect(Set(plan.waiting) == Set(files.keys).subtracting(model.keys))
            #expect(plan.total == files.count && plan.done == model.count)
        }
        for album in try reader.loudness.plan(includesTagged: false).unsettled {
            try writer.batch { batch throws(TrackDatabaseError) in _ = try batch.settleLoudness(ofAlbum: album) }
        }
        let albums = Dictionary(grouping: files) { $0.value.tags[.album]![0] }
        for tracks in albums.values where tracks.allSatisfy({ model[$0.key] != nil }) {
            var sum = LoudnessBlocks()
            for track in tracks { if let level = model[track.key]?.level { sum.add(Self.blocks(level)) } }
            for track in tracks {
                let found = try reader.track(track.key)?.loudness
                #expect((found != nil) == (model[track.key]?.level != nil))
                guard let found else { continue }
                #expect(abs((found.album ?? 0) - (sum.integrated ?? 0)) < 0.01)
            }
        }
        #expect(SQLiteCheck.words(folder.file("t.db")) == ["ok"])
    }

    @Test("a database of version 4 gets the table, and keeps all else") func upgrade() throws {
        let path = folder.file("t.db")
        try TrackDatabase(path: path).writer().batch { batch throws(TrackDatabaseError) in
            _ = try batch.put(Self.record("m/1"), added: 1)
        }
        EarlierDatabase.make(4, path)
        #expect(TrackDatabase.earlier(path: path)?.tables == 4)
        let reader = try TrackDatabase(path: path).reader()
        #expect(try reader.loudness.plan(includesTagged: false).total == 1)
        #expect(SQLiteCheck.rows(path, "PRAGMA user_version") == ["5"])
    }
}
