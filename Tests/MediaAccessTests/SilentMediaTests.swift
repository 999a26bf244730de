import LinuxSystem
import MediaAccess
import Testing

/// Media that are left alone, until they may have returned.
@Suite struct SilentMediaTests {
    private func table(_ points: String...) -> MountTable {
        MountTable(points.map { "1 2 3:4 / \($0) rw - x y z\n" }.joined().utf8)
    }

    @Test("a medium is the file system of the file, or its folder on the root file system")
    func media() {
        var silent = SilentMedia()
        #expect(silent.isEmpty && !silent.has("/a/b") && !silent.has(nil))
        silent.add("/mnt/disk/album/1.flac", table("/", "/mnt/disk", "/mnt/disk2"))
        #expect(silent.has("/mnt/disk/other//2.flac") && silent.has("/mnt/disk"))
        #expect(!silent.has("/mnt/disk2/1.flac") && !silent.has("/mnt/1.flac"))
        silent.add("/music/album/1.flac", table("/"))
        #expect(silent.has("/music/album/2.flac") && !silent.has("/music/other/2.flac"))
        silent.add("/unknown/1.flac", nil)
        #expect(silent.has("/unknown/2.flac"))
        let first = silent.answered("/music/album/9.flac")
        let second = silent.answered("/music/album/9.flac")
        #expect(first && !second)
        #expect(!silent.has("/music/album/2.flac") && silent.has("/mnt/disk/1"))
    }

    @Test("it may have returned when it is mounted after it was not; a folder that is no mount point with any change")
    func mounts() {
        var silent = SilentMedia()
        silent.add("/mnt/disk/1.flac", table("/", "/mnt/disk"))
        // Another disk comes, and this one goes.
        var isBack = silent.mountsChanged(table("/", "/mnt/disk", "/mnt/other"))
        #expect(!isBack)
        isBack = silent.mountsChanged(table("/", "/mnt/other"))
        #expect(!isBack && silent.has("/mnt/disk/1.flac"))
        isBack = silent.mountsChanged(table("/", "/mnt/other", "/mnt/disk"))
        #expect(isBack && silent.isEmpty)
        silent.add("/away/1.flac", table("/"))
        isBack = silent.mountsChanged(table("/"))
        #expect(isBack && silent.isEmpty)
    }

    @Test("at most 64 are remembered") func bound() {
        var silent = SilentMedia()
        for number in 0..<200 { silent.add("/folder\(number)/1.flac", nil) }
        #expect((0..<200).count { silent.has("/folder\($0)/1.flac") } == 64)
        #expect(silent.has("/folder199/1.flac"))
    }
}
