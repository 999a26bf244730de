import Glibc
import TestSupport
import Testing

@testable import nowplaying_hooks

/// Rules for files that may run.
@Suite struct HookFileTests {
    private let folder = TemporaryFolder()

    private func file(_ name: String, mode: mode_t, owner: UInt32? = nil) -> String {
        let path = folder.path(name)
        let file = fopen(path, "w")!
        fputs("#!/bin/sh\n", file)
        fclose(file)
        chmod(path, mode)
        if let owner { chown(path, owner, owner) }
        return path
    }

    private func refusal(_ path: String, user: UInt32 = geteuid()) -> String? {
        do throws(HookFile.Refusal) {
            _ = try HookFile(path, user: user)
            return nil
        } catch { return error.reason }
    }

    @Test func onlyWhatNobodyElseCouldHaveWrittenIsRun() throws {
        chmod(folder.path, 0o755)
        #expect(refusal(file("good", mode: 0o755)) == nil)
        #expect(refusal(file("group", mode: 0o775))?.contains("is writable by others; try: chmod go-w '/") == true)
        #expect(refusal(file("world", mode: 0o757))?.contains("is writable by others") == true)
        #expect(refusal(file("plain", mode: 0o644))?.contains("not executable") == true)
        #expect(refusal(folder.path("none"))?.contains("No such file") == true)
        #expect(refusal(folder.path)?.contains("not a regular file") == true)
        mkfifo(folder.path("pipe"), 0o755)
        #expect(refusal(folder.path("pipe"))?.contains("not a regular file") == true)
    }

    @Test(.enabled(if: geteuid() == 0, "files of other users can be made by root only"))
    func onlyRootAndTheHooksUserCount() {
        chmod(folder.path, 0o755)
        let foreign = file("foreign", mode: 0o755, owner: 12345)
        #expect(refusal(foreign)?.contains("belongs to user 12345") == true)
        let own = file("own", mode: 0o755)
        #expect(refusal(own, user: 12345) == nil)
        chown(folder.path, 12345, 12345)
        #expect(refusal(own)?.contains("the folder \(folder.path) belongs to user 12345") == true)
        #expect(refusal(foreign, user: 12345) == nil)
    }

    @Test func foldersOnTheWayCount() {
        chmod(folder.path, 0o755)
        mkdir(folder.path("a"), 0o755)
        mkdir(folder.path("a/b"), 0o755)
        let hook = file("a/b/hook", mode: 0o755)
        #expect(refusal(hook) == nil)
        chmod(folder.path("a"), 0o777)
        #expect(refusal(hook)?.contains("the folder \(folder.path("a")) is writable") == true)
        // Others may write, but put nothing in the place of ours.
        chmod(folder.path("a"), 0o1777)
        #expect(refusal(hook) == nil)
        chmod(folder.path("a/b"), 0o1777)
        #expect(refusal(hook)?.contains("a/b is writable") == true)
        chmod(folder.path("a/b"), 0o755)
        // A link is judged where it lies and where it leads.
        symlink(hook, folder.path("link"))
        #expect(refusal(folder.path("link")) == nil)
        chmod(hook, 0o777)
        #expect(refusal(folder.path("link"))?.contains("is writable") == true)
        chmod(hook, 0o755)
        chmod(folder.path, 0o777)
        #expect(refusal(folder.path("link")) != nil)
    }

    @Test(arguments: [
        ("amplifier", true), ("10-led.sh", true), ("A_b-9", true), (".hidden", false), ("x~", false),
        ("x.sample", false),
        ("x.disabled", false), ("x.dpkg-old", false), ("a b", false), ("ä", false), ("x;y", false),
    ])
    func names(name: String, isOne: Bool) { #expect(HookDirectory.isHookName(name) == isOne) }
}
