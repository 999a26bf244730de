import Glibc
import LibraryRuntime
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

/// Watches of real folders.
@Suite struct FolderWatchTests {
    private let place = TemporaryFolder()

    init() { LoopThread.start() }

    private func folder(_ name: String) -> FilePath {
        mkdir(place.path(name), 0o700)
        return FilePath(place.path(name).utf8)!
    }

    @Test("every kind of change names its folder, and no other")
    func kinds() throws {
        let watch = try FolderWatch()
        let (one, other) = (folder("one"), folder("other"))
        #expect(watch.watch(one, as: 7) == .watched)
        #expect(watch.watch(other, as: 9) == .watched)
        #expect(watch.count == 2)
        #expect(watch.take().isEmpty)
        let file = place.write([1], "one/a")
        #expect(watch.take() == FolderWatch.News(folders: [7]))
        let changes: [() -> Int32] = [
            { symlink("/etc", place.path("one/link")) }, { link(file, place.path("one/b")) },
            { chmod(file, 0o600) }, { mkdir(place.path("one/sub"), 0o700) }, { unlink(place.path("one/b")) },
            { rmdir(place.path("one/sub")) },
        ]
        for change in changes {
            #expect(change() == 0)
            #expect(watch.take().folders == [7])
        }
        #expect(rename(file, place.path("other/a")) == 0)
        #expect(watch.take().folders == [7, 9])
        // To read is no change.
        #expect(place.read("other/a") == [1])
        #expect(watch.take().isEmpty)
    }

    @Test("a folder that is forgotten or gone is watched no longer, and may come back")
    func ends() throws {
        let watch = try FolderWatch()
        let one = folder("one")
        _ = watch.watch(one, as: 1)
        watch.forget([1])
        _ = place.write([1], "one/a")
        #expect(watch.take().isEmpty && watch.count == 0)
        #expect(watch.watch(one, as: 2) == .watched)
        #expect(unlink(place.path("one/a")) == 0 && rmdir(place.path("one")) == 0)
        #expect(watch.take().folders == [2])
        #expect(watch.count == 0)
        guard case .refused(let error) = watch.watch(one, as: 2) else {
            Issue.record("a folder that is gone is watched")
            return
        }
        #expect(error.code == ENOENT)
        // The same folder under another number.
        let other = folder("other")
        _ = watch.watch(other, as: 3)
        _ = watch.watch(other, as: 4)
        _ = place.write([1], "other/a")
        #expect(watch.take().folders == [4])
    }

    /// Events that the kernel keeps for one watcher.
    private func queueLimit() throws -> Int {
        let file = try #require(fopen("/proc/sys/fs/inotify/max_queued_events", "r"))
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 32)
        _ = fgets(&line, 32, file)
        return try #require(Int(String(decoding: line.prefix { $0 > 32 }.map(UInt8.init(bitPattern:)), as: UTF8.self)))
    }

    @Test("events that the kernel dropped are reported")
    func overflow() throws {
        let watch = try FolderWatch()
        _ = watch.watch(folder("one"), as: 1)
        let limit = try queueLimit()
        for number in 0...limit { close(open(place.path("one/\(number)"), O_CREAT | O_WRONLY, 0o600)) }
        #expect(watch.take() == FolderWatch.News(folders: [1], isIncomplete: true))
        #expect(watch.take().isEmpty)
    }

    @Test("changes are delivered together, when they rest")
    @PlayerLoop func collected() async throws {
        let watch = try FolderWatch()
        for number in 1...3 { _ = watch.watch(folder("\(number)"), as: Int32(number)) }
        var deliveries: [FolderWatch.News] = []
        let collector = ChangeCollector(EventLoop.current, watch) { deliveries.append($0) }
        let begin = EventLoop.now
        for number in 1...3 {
            for file in 0..<100 { _ = place.write([1], "\(number)/\(file)") }
        }
        while deliveries.isEmpty { await LoopThread.turns(1) }
        #expect(deliveries.map(\.folders) == [[1, 2, 3]])
        #expect(EventLoop.now.seconds(since: begin) >= ChangeCollector.rest)
        _ = place.write([1], "2/x")
        while deliveries.count < 2 { await LoopThread.turns(1) }
        #expect(deliveries.last?.folders == [2])
        withExtendedLifetime(collector) {}
    }
}
