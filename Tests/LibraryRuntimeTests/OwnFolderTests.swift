import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// A library that has its own state or the daemon's among its music.
@Suite(.timeLimit(.minutes(5))) struct OwnFolderTests {
    init() { LoopThread.start() }

    /// Words before the library's own: disks that others mount wake it, so it gets a table of mounts of its own where that is
    /// allowed.
    private static let alone: [String] = {
        let words = ["unshare", "--user", "--map-root-user", "--mount", "--propagation", "private"]
        return AudioMaterial.run(words[0], Array(words[1...]) + ["true"]) == 0 ? words : []
    }()

    @Test("a library whose state lies among the music rests, and finds changes beside it", arguments: [false, true])
    func rests(inRoot: Bool) async throws {
        let house = ScanHouse()
        house.folder.folder("music/state")
        // Another path leads to the same folder.
        #expect(symlink(inRoot ? "music" : "music/state", house.folder.path("state")) == 0)
        house.track("music/album/a.flac", "a")
        house.track("music/state/own.flac", "own")
        await house.start(Self.alone)
        #expect(try house.hasScanned())
        #expect(try house.reaches { $0["scan"] == .null })
        // In a folder of its own nothing is music.
        #expect(try house.tracks().values.sorted() == (inRoot ? ["a", "own"] : ["a"]))
        let library = try #require(house.library)
        #expect(hasNoRhythm { library.contextSwitches })
        house.track("music/album/b.flac", "b")
        if inRoot { #expect(try house.update()) }
        let count = Int64(inRoot ? 3 : 2)
        #expect(try house.reaches { $0["tracks"] == .integer(count) && $0["scan"] == .null })
        #expect(hasNoRhythm { library.contextSwitches })
        let root = try house.root(0)
        #expect(root.mode == (inRoot ? "walked" : "watched"))
        #expect(root.reason.contains("state-directory in [library]") == inRoot)
    }

    @Test(
        "a library that has the daemon's state among its music does not scan when the daemon saves",
        arguments: [false, true])
    func restsBesideTheDaemon(inRoot: Bool) async throws {
        let house = ScanHouse(daemonState: inRoot ? "music" : "music/daemon")
        let song = house.track("music/album/a.flac", "a")
        house.track("music/daemon/own.flac", "own")
        await house.startDaemon()
        await house.start(Self.alone)
        #expect(try house.hasScanned())
        #expect(try house.reaches { $0["scan"] == .null })
        #expect(try house.tracks().values.sorted() == (inRoot ? ["a", "own"] : ["a"]))
        let (daemon, library) = (try RawClient(house.daemonSocket), try RawClient(house.socket))
        // The queue in each turn, and the number of the last scan.
        var saved: [[UInt8]] = []
        let rests = hasNoRhythm {
            _ = try? daemon.call("queue.add", ["items": [.string("file://" + song)]])
            #expect(becomes { house.folder.read(inRoot ? "music/queue" : "music/daemon/queue") != saved.last ?? [] })
            saved.append(house.folder.read(inRoot ? "music/queue" : "music/daemon/queue"))
            return (try? library.call("library.status"))?["result"]?["lastScan"]?["finished"]
        }
        #expect(rests && saved.count > 1)
        house.track("music/album/b.flac", "b")
        if inRoot { #expect(try house.update()) }
        let count = Int64(inRoot ? 3 : 2)
        #expect(try house.reaches { $0["tracks"] == .integer(count) && $0["scan"] == .null })
        let root = try house.root(0)
        #expect(root.mode == (inRoot ? "walked" : "watched"))
        #expect(root.reason.contains("state-directory in [daemon]") == inRoot)
    }
}
