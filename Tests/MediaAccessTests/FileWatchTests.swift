import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import MediaAccess

/// Files that are waited for, in folders that are not there either.
@Suite(.timeLimit(.minutes(8))) struct FileWatchTests {
    init() { LoopThread.start() }

    @PlayerLoop private final class Count {
        var calls = 0
    }

    /// Looks until it holds, at most 20 s. The loop goes on meanwhile.
    @PlayerLoop private func eventually(_ condition: () -> Bool) async -> Bool {
        for _ in 0..<4000 {
            if condition() { return true }
            await LoopThread.wait(seconds: 0.005)
        }
        return false
    }

    @PlayerLoop private func watch(
        _ path: String, _ count: Count, reportsExisting: Bool = false
    ) -> FileWatch {
        let loop = EventLoop.current
        return FileWatch(loop, Workers(loop), FilePath(stringLiteral: path), reportsExisting: reportsExisting) {
            count.calls += 1
        }
    }

    /// True if this process watches a folder, by the `fdinfo` of its inotify descriptors.
    @PlayerLoop private func isWatched(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        let mark = "ino:\(String(status.st_ino, radix: 16)) "
        return TestProcess.run(["sh", "-c", "cat /proc/\(getpid())/fdinfo/* 2>/dev/null"]).text.contains(mark)
    }

    @Test("a file that comes with the folders above it is reported once, when it is written")
    @PlayerLoop func grows() async {
        let folder = TemporaryFolder()
        let count = Count()
        let watched = watch(folder.path("a/b/c.wav"), count)
        #expect(await eventually { isWatched(folder.path) })
        _ = folder.write([1], "other")
        mkdir(folder.path("a"), 0o755)
        #expect(await eventually { isWatched(folder.path("a")) })
        mkdir(folder.path("a/b"), 0o755)
        #expect(await eventually { isWatched(folder.path("a/b")) })
        _ = folder.write([1], "a/b/d.wav")
        rename(folder.path("a/b"), folder.path("a/elsewhere"))
        #expect(await eventually { isWatched(folder.path("a")) })
        #expect(count.calls == 0)
        rename(folder.path("a/elsewhere"), folder.path("a/b"))
        #expect(await eventually { isWatched(folder.path("a/b")) })
        _ = folder.write([1], "a/b/c.wav")
        #expect(await eventually { count.calls == 1 })
        _ = folder.write([1, 2], "a/b/c.wav")
        #expect(!isWatched(folder.path("a/b")))
        withExtendedLifetime(watched) {}
    }

    @Test("a folder that is put there as a whole; a file that was there from the beginning")
    @PlayerLoop func whole() async {
        let folder = TemporaryFolder()
        let count = Count()
        mkdir(folder.path("away"), 0o755)
        _ = folder.write([1], "away/c.wav")
        let watched = watch(folder.path("music/c.wav"), count)
        #expect(await eventually { isWatched(folder.path) })
        let (old, new) = (Count(), Count())
        let known = watch(folder.path("away/c.wav"), old)
        let missed = watch(folder.path("away/c.wav"), new, reportsExisting: true)
        #expect(await eventually { new.calls == 1 })
        rename(folder.path("away"), folder.path("music"))
        #expect(await eventually { count.calls == 1 })
        #expect(old.calls == 0)
        withExtendedLifetime((watched, known, missed)) {}
    }
}
