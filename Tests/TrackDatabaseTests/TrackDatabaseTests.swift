import NowPlaying
import TestLibraries
import Testing
import TrackDatabase

@Suite struct TrackDatabaseTests {
    @Test func keepsAllThatARecordHas() throws {
        let folder = TestFolder()
        let database = try TrackDatabase(path: folder.file("library.db"))
        #expect(database.opening == .made)
        var record = TrackRecord(path: TrackPath(Array("Müsic/A".utf8) + [0x2F, 0xFF, 0xFE, 0x27]))
        record.tags = [
            .title: ["Ti'tle\0%_", "Second"], .artist: ["A", "B"], .comment: ["c"], .album: ["Al"],
            .genre: ["x", "x", ""],
        ]
        record.numbers.trackNumber = 3
        record.numbers.movementNumber = -2
        record.numbers.chapterCount = 7
        record.loudness.trackGain = -7.25
        record.loudness.albumPeak = 0.987654
        record.duration = 12.345
        record.format = TrackFormat(codec: "flac", sampleRate: 44_100, bitsPerSample: 16, channels: 2)
        record.file = TrackFile(size: 5, modified: 6, inode: 7)
        record.isCompilation = true
        record.hasLyrics = true
        record.identity = -9
        let writer = try database.writer()
        let id = try writer.batch { batch throws(TrackDatabaseError) in try batch.put(record, added: 99) }
        let reader = try database.reader()
        let stored = try #require(try reader.track(at: record.path))
        record.tags[.genre] = ["x"]
        #expect(stored.record == record)
        #expect(stored.id == id && stored.added == 99 && !stored.isMissing)
        #expect(try reader.tracks(identity: -9) == [stored])
        let number = try #require(stored.album)
        let album = try #require(try reader.album(number))
        #expect(album.title == "Al" && album.isCompilation && album.tracks == 1)
        let files = try reader.scan.files(in: record.path.folder)
        #expect(
            files.count == 1 && files[record.path.name]?.file == record.file && files[record.path.name]?.track == id)
    }

    @Test func countsAndSearchesFollowChanges() throws {
        let folder = TestFolder()
        let database = try TrackDatabase(path: folder.file("library.db"))
        let writer = try database.writer()
        let reader = try database.reader()
        var record = TrackRecord(path: TrackPath("a/b.flac"))
        record.tags = [.title: ["Hyperballad"], .artist: ["Björk"]]
        record.duration = 10
        let id = try writer.batch { batch throws(TrackDatabaseError) in try batch.put(record, added: 1) }
        #expect(try reader.search("bjo").map(\.text) == ["Björk"])
        #expect(try reader.search("ballad").map(\.id) == [id])
        #expect(try reader.values(ValuesQuery(tag: .artist)).rows.map(\.tracks) == [1])
        try writer.batch { batch throws(TrackDatabaseError) in try batch.setMissing(true, ids: [id]) }
        #expect(try reader.search("bjo").isEmpty)
        #expect(try reader.summary().tracks == 0)
        #expect(try reader.query(TrackQuery()).rows.isEmpty)
        record.tags[.artist] = ["Other"]
        try writer.batch { batch throws(TrackDatabaseError) in _ = try batch.put(record, added: 2) }
        #expect(try reader.search("bjo").isEmpty)
        #expect(try reader.values(ValuesQuery(tag: .artist)).rows.map(\.value) == ["Other"])
        #expect(try reader.track(id)?.added == 1)
        var moved = record
        moved.path = TrackPath("c/d/e.flac")
        try writer.batch { batch throws(TrackDatabaseError) in try batch.move(id, to: moved) }
        #expect(try reader.track(at: moved.path)?.id == id)
        try writer.optimize()
        while try writer.tidy() {}
        #expect(try reader.search("hyper").map(\.id) == [id])
        try writer.batch { batch throws(TrackDatabaseError) in try batch.remove(ids: [id]) }
        #expect(try reader.summary().tracks == 0 && reader.search("other").isEmpty)
        #expect(try reader.summary().version == 5)
    }
}
