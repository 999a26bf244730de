import Glibc
import LibraryRuntime
import LinuxSystem
import TestSupport
import Testing
import TrackDatabase

/// The one writer of the database.
@Suite struct LibraryWriterTests {
    private let place = TemporaryFolder()

    init() { LoopThread.start() }

    @Test("changes are made in order, and their callers get the version on the loop")
    @PlayerLoop func order() async throws {
        let database = try TrackDatabase(path: place.path("db"))
        let writer = LibraryWriter(EventLoop.current, try database.writer())
        var versions: [Int64] = []
        for number in 0..<50 {
            writer.perform { batch throws(TrackDatabaseError) in
                try batch.put(TrackRecord(path: TrackPath("a/\(number)")), added: 1)
            } then: {
                if case .success(let version) = $0 { versions.append(version) }
            }
        }
        while versions.count < 50 { await LoopThread.turns(1) }
        #expect(versions == Array(1...50))
        #expect(try database.reader().summary().tracks == 50)
    }

    @Test("a change that fails changes nothing, and those after it are made")
    @PlayerLoop func failure() async throws {
        let database = try TrackDatabase(path: place.path("db"))
        let writer = LibraryWriter(EventLoop.current, try database.writer())
        var outcomes: [LibraryWriter.Outcome] = []
        for number in 0..<3 {
            writer.perform { batch throws(TrackDatabaseError) in
                try batch.put(TrackRecord(path: TrackPath("a/\(number)")), added: 1)
                if number == 1 { throw .full }
            } then: {
                outcomes.append($0)
            }
        }
        while outcomes.count < 3 { await LoopThread.turns(1) }
        #expect(outcomes == [.success(1), .failure(.full), .success(2)])
        #expect(
            try database.reader().scan.files(in: Array("a".utf8)).keys.sorted { $0[0] < $1[0] } == [[0x30], [0x32]])
    }

    @Test("threads wait for their changes, many at once, also after the writer rested")
    @PlayerLoop func waiting() async throws {
        let database = try TrackDatabase(path: place.path("db"))
        let writer = LibraryWriter(EventLoop.current, try database.writer())
        let workers = Workers(EventLoop.current)
        var done = 0
        for round in 0..<2 {
            for number in 0..<8 {
                workers.submit {
                    for index in 0..<20 {
                        _ = try? writer.write { batch throws(TrackDatabaseError) in
                            try batch.put(TrackRecord(path: TrackPath("\(round)/\(number)/\(index)")), added: 1)
                        }
                    }
                } _: {
                    done += 1
                }
            }
            while done < 8 * (round + 1) { await LoopThread.turns(1) }
            #expect(try database.reader().summary().tracks == Int64(160 * (round + 1)))
            if round == 0 { while isRunning() { await LoopThread.turns(1) } }
        }
    }

    /// True while the writer's thread exists.
    private func isRunning() -> Bool {
        guard let folder = opendir("/proc/self/task") else { return false }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let number = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let file = fopen("/proc/self/task/\(number)/comm", "r") else { continue }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 32)
            guard fgets(&line, 32, file) != nil else { continue }
            if line.starts(with: "writer".utf8.map(CChar.init)) { return true }
        }
        return false
    }
}
