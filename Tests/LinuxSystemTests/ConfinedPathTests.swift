import Glibc
import LinuxSystem
import Testing

@Suite struct ConfinedPathTests {
    private func temporaryFolder() -> String {
        var template = Array("/tmp/nowplayingd-test.XXXXXX\0".utf8).map(CChar.init(bitPattern:))
        return String(cString: mkdtemp(&template)!)
    }

    @Test func whatTakesThePlaceOfAFileIsJudgedAnew() throws {
        let folder = temporaryFolder()
        let root = folder + "/root"
        mkdir(root, 0o755)
        defer { for name in ["/root/a", "/secret", "/root", ""] { remove(folder + name) } }
        for path in [root + "/a", folder + "/secret"] { fclose(fopen(path, "w")!) }
        let place = ConfinedPath(root: "\(root)", relative: "a")
        #expect(place.path == "\(root)/a")
        let opened = place.openFile()
        #expect(opened >= 0)
        close(opened)
        unlink(root + "/a")
        #expect(place.openFile() == -ENOENT)
        symlink("../secret", root + "/a")
        #expect(place.openFile() == -EXDEV)
        unlink(root + "/a")
        mkfifo(root + "/a", 0o644)
        // A FIFO without a writer would block the opening thread.
        #expect(place.openFile() == -EINVAL)
        let found = place.locate()
        #expect(found >= 0)
        close(found)
        #expect(ConfinedPath(root: "\(root)", relative: "").openFile() == -EINVAL)
        #expect(ConfinedPath(root: "/", relative: "etc").path == "/etc")
    }
}
