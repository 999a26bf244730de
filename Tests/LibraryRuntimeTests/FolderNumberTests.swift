import LinuxSystem
import TestSupport
import Testing
import TrackDatabase

@testable import LibraryRuntime

/// Numbers of watched folders after very many scans.
@Suite struct FolderNumberTests {
    @Test("before the numbers of folders run out they begin anew, and changes lead to the right folders")
    func anew() async throws {
        let place = TemporaryFolder()
        place.folder("music/a/b")
        _ = place.write(ScanHouse.flac("One"), "music/a/b/1.flac")
        let database = try TrackDatabase(path: place.path("library.db"))
        let writer = try await LoopThread.run { LibraryWriter(EventLoop.current, try database.writer()) }
        let root = RootNames.Root(path: FilePath(place.path("music").utf8)!, name: Array("music".utf8))
        let watch = try FolderWatch()
        let memory = ScanMemory()
        memory.restart(at: .max - 1)
        // The watch of an earlier scan, of a folder that is there no longer.
        #expect(watch.watch(FilePath(place.folder("away").utf8)!, as: .max - 2) == .watched)
        var order = ScanOrder()
        order.isFull = true
        for first: Int32 in [1, 4] {
            let context = ScanContext(
                database: database, writer: writer, roots: [root], watch: watch, progress: ScanProgress {},
                pace: ScanPace(), abandoned: AbandonFlag(), silent: [], readers: 1, program: ScannedFolder.built,
                daemonFolder: nil, reading: 0)
            guard case .success = ScanWalk.run(order, context, memory).result else {
                Issue.record("the scan failed")
                return
            }
            #expect(memory.folders.first == first && memory.folders.count == 3 && watch.count == 3)
            place.file("away/x")
            place.file("music/a/b/notes \(first).txt")
            let places = watch.take().folders.map { memory.folders.place(of: $0)?.relative }
            #expect(places == [Array("a/b".utf8)])
        }
        #expect(try database.reader().summary().tracks == 1)
    }
}
