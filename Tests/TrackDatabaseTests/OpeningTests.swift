import Glibc
import TestLibraries
import TestSupport
import Testing
import TrackDatabase

@Suite struct OpeningTests {
    @Test func setsADamagedFileAside() throws {
        let folder = TestFolder()
        let path = folder.file("library.db")
        let file = try #require(fopen(path, "w"))
        fputs(String(repeating: "This is no database. ", count: 500), file)
        fclose(file)
        let database = try TrackDatabase(path: path)
        guard case .remade(let message) = database.opening else {
            Issue.record("not set aside: \(database.opening)")
            return
        }
        #expect(message.contains(path + ".damaged") && access(path + ".damaged", F_OK) == 0)
        #expect(try database.reader().summary().tracks == 0)
        #expect(try TrackDatabase(path: path).opening == .asItWas)
    }

    @Test func refusesANewerVersionInWords() throws {
        let folder = TestFolder()
        let path = folder.file("library.db")
        _ = try TrackDatabase(path: path)
        try Self.write(path, at: 60, [0, 0, 0, 99])
        let error = #expect(throws: TrackDatabaseError.self) { try TrackDatabase(path: path) }
        #expect(error == .newerVersion(found: 99, known: 1))
        #expect(error?.message.contains("version 99") == true && error?.message.contains("newer program") == true)
    }

    @Test func refusesADatabaseOfAnotherProgram() throws {
        let folder = TestFolder()
        let path = folder.file("library.db")
        _ = try TrackDatabase(path: path)
        try Self.write(path, at: 68, [1, 2, 3, 4])
        #expect(throws: TrackDatabaseError.foreign) { try TrackDatabase(path: path) }
    }

    /// A child that is killed in the middle of a batch leaves the whole batches before it.
    @Test(arguments: [0, 1, 5]) func aKilledWriterLeavesWholeBatches(batches: Int) throws {
        let folder = TestFolder()
        let path = folder.file("library.db")
        let program = try #require(Self.built("TestLibraryWriter"))
        let child = TestProcess([program, path, "\(batches)"], output: true)
        var line = [UInt8](repeating: 0, count: 13)
        #expect(read(child.output, &line, line.count) == line.count)
        child.end()
        let database = try TrackDatabase(path: path)
        #expect(database.opening == .asItWas)
        let reader = try database.reader()
        #expect(try reader.summary().tracks == Int64(batches * 40))
        #expect(try reader.summary().version == Int64(batches))
        #expect(try reader.query(TrackQuery(limit: 10_000)).rows.count == batches * 40)
        // And a new writer goes on.
        let writer = try database.writer()
        try writer.batch { batch throws(TrackDatabaseError) in
            _ = try batch.put(TrackRecord(path: TrackPath("a/b")), added: 1)
        }
        #expect(try reader.summary().tracks == Int64(batches * 40 + 1))
    }

    /// The path of a program of this build.
    private static func built(_ name: String) -> String? {
        for candidate in CommandLine.arguments + ["/proc/self/exe"] {
            var buffer = [CChar](repeating: 0, count: 4096)
            let path = realpath(candidate, &buffer).map { String(cString: $0) } ?? candidate
            guard let range = path.firstRange(of: "/debug/") ?? path.firstRange(of: "/release/") else { continue }
            let program = path[..<range.upperBound] + name
            if access(String(program), X_OK) == 0 { return String(program) }
        }
        return nil
    }

    private static func write(_ path: String, at offset: Int, _ bytes: [UInt8]) throws {
        let file = open(path, O_WRONLY)
        #expect(file >= 0 && pwrite(file, bytes, bytes.count, offset) == bytes.count)
        close(file)
    }
}
