import LinuxSystem
import NowPlaying
import Testing

@testable import LibraryRuntime

/// The hour for which the files of a folder may be read.
@Suite struct AwakeFoldersTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private static func at(_ seconds: Double) -> MonotonicTime { start.advanced(bySeconds: seconds) }

    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test(
        "a scan wakes a folder with all below it, a play the folder alone",
        arguments: [
            ("music", true, ["music", "music/a", "music/a/b"], ["", "musical", "other", "musi"]),
            ("", true, ["", "music", "music/a"], []),
            ("music/a", true, ["music/a", "music/a/b"], ["music", "music/ab", "music/b"]),
            ("music/a", false, ["music/a"], ["music/a/b", "music", "music/ab", ""]), ("", false, [""], ["music"]),
        ])
    func folders(noted: String, isTree: Bool, awake: [String], asleep: [String]) {
        var folders = AwakeFolders()
        for folder in awake + asleep { #expect(!folders.contains(Self.bytes(folder), at: Self.at(0))) }
        folders.note(Self.bytes(noted), isTree: isTree, at: Self.at(0))
        for second in [0.0, 1, 3599.9] {
            for folder in awake { #expect(folders.contains(Self.bytes(folder), at: Self.at(second)), "\(folder)") }
            for folder in asleep { #expect(!folders.contains(Self.bytes(folder), at: Self.at(second)), "\(folder)") }
        }
        for folder in awake { #expect(!folders.contains(Self.bytes(folder), at: Self.at(3600)), "\(folder)") }
    }

    @Test("each note counts from its own time; the play of a folder does not shorten the scan around it") func times() {
        var folders = AwakeFolders()
        folders.note(Self.bytes("music"), isTree: true, at: Self.at(0))
        folders.note(Self.bytes("music"), isTree: false, at: Self.at(10))
        folders.note(Self.bytes("music/a"), isTree: false, at: Self.at(3000))
        #expect(folders.contains(Self.bytes("music/b"), at: Self.at(3599)))
        #expect(!folders.contains(Self.bytes("music/b"), at: Self.at(3601)))
        #expect(folders.contains(Self.bytes("music"), at: Self.at(3605)))
        #expect(!folders.contains(Self.bytes("music"), at: Self.at(3611)))
        #expect(folders.contains(Self.bytes("music/a"), at: Self.at(6599)))
        folders.note(Self.bytes("music/a"), isTree: false, at: Self.at(6000))
        #expect(folders.contains(Self.bytes("music/a"), at: Self.at(9000)))
    }

    @Test("thousands of folders are kept, the newest of them, and no more") func bound() {
        var folders = AwakeFolders()
        for number in 0..<5000 {
            folders.note(Self.bytes("m/\(number)"), isTree: false, at: Self.at(Double(number) / 100))
        }
        #expect(!folders.contains(Self.bytes("m/0"), at: Self.at(60)))
        #expect((5000 - 2048..<5000).allSatisfy { folders.contains(Self.bytes("m/\($0)"), at: Self.at(60)) })
    }
}
