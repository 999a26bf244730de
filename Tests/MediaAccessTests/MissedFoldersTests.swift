import AudioCore
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import MediaAccess

/// Missed folders, and the expectations at their return.
struct MissedFoldersTests {
    private let start = EventLoop.now

    private func after(_ seconds: Double) -> MonotonicTime { start.advanced(bySeconds: seconds) }

    @Test("a folder that is copied into is waited for until an hour has gone by without a file of it")
    func copied() throws {
        let folder = TemporaryFolder()
        let music = try #require(FilePath(Array(folder.path("music").utf8)))
        let file = music.appending("a.flac")
        var missed = MissedFolders()
        #expect(missed.absence(of: file, at: start) == nil)
        missed.miss(music)
        mkdir(folder.path("music"), 0o755)
        #expect(missed.absence(of: file, at: after(1))?.kind == .notMounted)
        missed.found(music.appending("b.flac"), at: after(3000))
        missed.found("/elsewhere/b.flac", at: after(5000))
        #expect(missed.absence(of: file, at: after(6599))?.kind == .notMounted)
        #expect(missed.absence(of: "/elsewhere/a.flac", at: after(10)) == nil)
        #expect(missed.absence(of: file, at: after(6601)) == nil)
        #expect(missed.absence(of: file, at: after(6602)) == nil)
    }

    @Test(
        "a file system that was mounted has a minute to show its files",
        .enabled(if: geteuid() == 0, "a file system can only be mounted by root"))
    func mounted() throws {
        let folder = TemporaryFolder()
        let music = try #require(FilePath(Array(folder.path("music").utf8)))
        mkdir(folder.path("music"), 0o755)
        var missed = MissedFolders()
        missed.miss(music)
        guard mount("tmpfs", folder.path("music"), "tmpfs", 0, "size=64k") == 0 else {
            withKnownIssue("nothing can be mounted here: \(String(cString: strerror(errno)))") { Issue.record() }
            return
        }
        defer { umount2(folder.path("music"), Int32(MNT_DETACH)) }
        missed.found(music.appending("b.flac"), at: after(1))
        #expect(missed.absence(of: music.appending("a.flac"), at: after(2))?.kind == .mediaGone)
        missed.found(music.appending("b.flac"), at: after(60))
        #expect(missed.absence(of: music.appending("a.flac"), at: after(62)) == nil)
    }
}
