import AudioCore
import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import MediaAccess

/// The list of file systems with media.
@Suite struct MediaMountTests {
    private let folder = TemporaryFolder()

    /// Folders that a list knows as mounted once; none of them is mounted now.
    private func away(_ names: [String]) throws -> [Bool] {
        let mounts = MediaMounts(stateDirectory: folder.path, roots: MediaRoots([]))
        return try names.map { name in
            let file = try #require(FilePath(Array(folder.path("\(name)/a.flac").utf8)))
            return mounts.absence(of: file)?.kind == .notMounted
        }
    }

    private func list(_ names: [String]) -> [UInt8] {
        names.flatMap { name in Array(folder.path(name).utf8) + [0] + Array(folder.path(name).utf8) + [0] }
    }

    @Test("a list that the disk was taking when the process was killed counts, as far as it is whole")
    func unfinished() throws {
        let names = ["one", "two", "three"]
        #expect(try away(names) == [false, false, false])
        _ = folder.write(list(["one"]), "mounts")
        #expect(try away(names) == [true, false, false])
        let new = list(["one", "two", "three"])
        _ = folder.write(Array(new.dropLast()), "mounts.new")
        #expect(try away(names) == [true, true, false])
        _ = folder.write(new, "mounts.new")
        #expect(try away(names) == [true, true, true])
        // Nothing of it had reached the disk.
        _ = folder.write([], "mounts.new")
        #expect(try away(names) == [true, false, false])
    }
}
