import ConfigurationFiles
import Glibc
import LibraryRuntime
import LinuxSystem
import TestSupport
import Testing

/// Places of the library's files, and its folders.
@Suite struct LibraryPathsTests {
    private func paths(
        _ settings: LibrarySettings = LibrarySettings(), daemon: String? = nil, uid: UInt32 = 1000,
        in environment: [String: String]
    ) throws -> LibraryPaths {
        try LibraryPaths(settings, daemonSocket: daemon, uid: uid) { environment[$0] }
    }

    @Test func theyAreBesideTheDaemons() throws {
        let user = try paths(in: ["XDG_RUNTIME_DIR": "/run/user/7", "HOME": "/home/a"])
        #expect(user.daemonSocket == "/run/user/7/nowplayingd/control.sock")
        #expect(user.socket == "/run/user/7/nowplayingd/library.sock")
        #expect(user.database == "/home/a/.local/state/nowplayingd/library/tracks.db")
        let system = try paths(in: ["RUNTIME_DIRECTORY": "/run/nowplayingd", "STATE_DIRECTORY": "/var/lib/nowplayingd"])
        #expect(system.socket == "/run/nowplayingd/library.sock")
        #expect(system.stateDirectory == "/var/lib/nowplayingd/library")
        #expect(try paths(uid: 0, in: [:]).socket == "/run/nowplayingd/library.sock")
    }

    @Test func settingsAndOptionsCountMore() throws {
        var settings = LibrarySettings()
        settings.daemonSocket = "/a/d.sock"
        settings.daemonStateDirectory = "/s"
        let found = try paths(settings, in: ["HOME": "/home/a"])
        #expect(found.socket == "/a/library.sock" && found.stateDirectory == "/s/library")
        #expect(try paths(settings, daemon: "/b/e.sock", in: ["HOME": "/h"]).socket == "/b/library.sock")
        settings.socket = "/c/l.sock"
        settings.stateDirectory = "/t"
        let own = try paths(settings, daemon: "/b/e.sock", in: [:])
        #expect(own.socket == "/c/l.sock" && own.daemonSocket == "/b/e.sock" && own.stateDirectory == "/t")
    }

    @Test func withoutAPlaceItSaysSo() throws {
        #expect(throws: ConfigurationError.self) { _ = try paths(uid: 4_000_000, in: ["HOME": "/h"]) }
        #expect(throws: ConfigurationError.self) { _ = try paths(in: ["XDG_RUNTIME_DIR": "/r"]) }
    }

    @Test(
        arguments: [
            ("", "/home/a/Music"), (#"XDG_MUSIC_DIR="$HOME/Musik""#, "/home/a/Musik"),
            ("# x\nXDG_DESKTOP_DIR=\"$HOME/D\"\nXDG_MUSIC_DIR=\"/mnt/a b/\"\n", "/mnt/a b"),
            (#"XDG_MUSIC_DIR="$HOME/""#, nil), (#"XDG_MUSIC_DIR="$HOME""#, nil),
            (#"XDG_MUSIC_DIR=Musik"#, "/home/a/Music"),
            ("XDG_MUSIC_DIR=\"$HOME/A\"\nXDG_MUSIC_DIR=\"$HOME/B\"", "/home/a/B"),
        ] as [(String, String?)])
    func theMusicFolderOfAUser(_ text: String, _ wanted: String?) {
        #expect(MusicFolder.path(Array(text.utf8), home: "/home/a")?.text == wanted)
    }

    @Test func foldersByTheSettings() {
        var settings = LibrarySettings()
        let user = ["HOME": "/nowhere/a", "XDG_RUNTIME_DIR": "/run/user/7"]
        func folders(_ uid: UInt32, _ environment: [String: String]) -> [String] {
            LibraryRoots.folders(settings, uid: uid) { environment[$0] }.map(\.text)
        }
        #expect(folders(1000, user) == ["/nowhere/a/Music"])
        #expect(folders(0, ["HOME": "/root"]) == [])
        #expect(folders(1000, ["HOME": "/var/lib/x", "STATE_DIRECTORY": "/var/lib/x"]) == [])
        settings.mediaRoots = ["/srv/music"]
        #expect(folders(1000, user) == ["/srv/music"])
        settings.folders = ["/a", "/b"]
        #expect(folders(0, [:]) == ["/a", "/b"])
    }

    @Test func namesAreKept() {
        let file = TemporaryFolder().path("folders.json")
        let folder = TemporaryFolder()
        let kept = folder.path("folders.json")
        func names(_ paths: [FilePath]) -> [String] {
            LibraryRoots.named(paths, file: kept).map { String(decoding: $0.name, as: UTF8.self) }
        }
        #expect(names(["/a/Music", "/b/Music"]) == ["Music", "Music (2)"])
        #expect(names(["/b/Music", "/a/Music"]) == ["Music (2)", "Music"])
        #expect(names(["/b/Music"]) == ["Music (2)"])
        #expect(names(["/a/Music", "/b/Music"]) == ["Music", "Music (2)"])
        // A file that is no JSON, or can't be written, keeps nothing and harms nothing.
        _ = folder.write(Array("{".utf8), "folders.json")
        #expect(names(["/b/Music"]) == ["Music"])
        #expect(LibraryRoots.named(["/a/Music"], file: file).count == 1)
    }
}
