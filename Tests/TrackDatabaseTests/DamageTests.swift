import Glibc
import TestLibraries
import Testing
import TrackDatabase

/// A damaged file gives errors, and never ends the program.
@Suite struct DamageTests {
    @Test(arguments: seeds(2, nightly: 8)) func aDamagedFileGivesErrorsAlone(seed: UInt64) throws {
        let folder = TestFolder()
        let library = try SmallLibrary(seed: seed, count: 120)
        try library.database.writer().optimize()
        let whole = try Self.bytes(library.database.path)
        var numbers = SeededNumbers(seed: seed)
        var damaged = 0
        for round in 0..<125 {
            var bytes = whole
            if round % 10 == 0 {
                bytes = Array(bytes.prefix(numbers.number(below: bytes.count)))
            } else {
                for _ in 0..<(1 + numbers.number(below: 20)) {
                    bytes[numbers.number(below: bytes.count)] = UInt8(numbers.number(below: 256))
                }
            }
            let path = folder.file("damaged.db")
            for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
            let file = try #require(fopen(path, "w"))
            fwrite(bytes, 1, bytes.count, file)
            fclose(file)
            do {
                try Self.ask(TrackDatabase(path: path))
            } catch {
                damaged += 1
            }
        }
        // More than those that are cut off, one of ten.
        #expect(damaged > 13)
    }

    private static func ask(_ database: TrackDatabase) throws(TrackDatabaseError) {
        let reader = try database.reader(timeLimit: 1)
        _ = try reader.summary()
        for text in ["a", "love night", "ght"] { _ = try reader.search(text) }
        let orders: [TrackSort] = [
            .keys([]), .keys([SortKey(.tag(.title))]), .keys([SortKey(.tag(.artist))]), .random(seed: 1),
            .randomAlbums(seed: 1),
        ]
        for sort in orders { _ = try reader.query(TrackQuery(sort: sort, limit: 50)) }
        _ = try reader.values(ValuesQuery(tag: .artist, group: [.genre]))
        _ = try reader.count(.test(.tag(.title), .contains("love")))
        _ = try reader.browse([])
        try database.writer().batch { batch throws(TrackDatabaseError) in
            try batch.put(TrackRecord(path: TrackPath("a/b")), added: 1)
            try batch.remove(ids: [1, 2, 3])
        }
    }

    private static func bytes(_ path: String) throws -> [UInt8] {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 16_000_000)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes.prefix(count))
    }
}
