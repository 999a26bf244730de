import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing
import TrackDatabase

@testable import LibraryRuntime

/// The folders that the measuring may read, and the items that it follows for that.
@Suite(.timeLimit(.minutes(5)), .serialized, .enabled(if: BuiltProgram.find("nowplaying-decode") != nil))
struct LoudnessDeskTests {
    init() { LoopThread.start() }

    /// A desk with files in folders, all of them in its database.
    @PlayerLoop private final class House {
        let folder = TemporaryFolder()
        let desk: LoudnessDesk
        private(set) var changes = 0

        /// `seconds`: the length of each file.
        init(_ folders: [String], seconds: Double = 1, program: String = BuiltProgram.path("nowplaying-decode")) throws
        {
            let database = try TrackDatabase(path: folder.path("library.db"))
            let made = try database.writer()
            let sound = AudioMaterial.waves(frames: Int(seconds * 44_100))
            for name in folders {
                folder.folder("music/\(name)")
                var status = stat()
                try #require(stat(folder.write(sound.wave(), "music/\(name)/1.wav"), &status) == 0)
                var record = TrackRecord(path: TrackPath("music/\(name)/1.wav"))
                record.file = TrackFile(status)
                let track = record
                try made.batch { batch throws(TrackDatabaseError) in _ = try batch.put(track, added: 1) }
            }
            let root = RootNames.Root(path: FilePath(folder.path("music").utf8)!, name: Array("music".utf8))
            let box = Box()
            desk = LoudnessDesk(
                EventLoop.current, database, LibraryWriter(EventLoop.current, made), [root], LibrarySettings(),
                tablePath: folder.path("loudness"), program: program
            ) { box.house?.changes += 1 }
            box.house = self
        }

        isolated deinit { desk.end() }

        @PlayerLoop private final class Box { weak var house: House? }

        /// A folder that was walked.
        static func walked(_ name: String, isTree: Bool = false) -> [WalkedFolder] {
            [WalkedFolder(folder: Array("music\(name.isEmpty ? "" : "/")\(name)".utf8), isTree: isTree)]
        }

        /// Returns when the desk rests; its state and the measured files.
        func rest() async -> (activity: LoudnessReport.Activity, done: Int) {
            while desk.report.activity == .measuring { await LoopThread.turns(1) }
            return (desk.report.activity, desk.report.figures?.done ?? -1)
        }
    }

    @Test("a file waits while its folder is asleep, until a scan or a play") @PlayerLoop func asleep() async throws {
        let house = try House(["a", "b", "c"])
        #expect(!house.desk.needsPlays)
        house.desk.scanned(House.walked("a"))
        #expect(await house.rest() == (.waiting, 1))
        #expect(house.desk.needsPlays && house.desk.report.figures?.total == 3)
        house.desk.played(Array("music/b/other.wav".utf8))
        #expect(await house.rest() == (.waiting, 2))
        // A folder that is awake has no more work.
        house.desk.played(Array("music/b/1.wav".utf8))
        #expect(house.desk.report.activity == .waiting)
        house.desk.scanned(House.walked("", isTree: true))
        #expect(await house.rest() == (.complete, 3))
        #expect(!house.desk.needsPlays)
        // One report for each of the three passes.
        while house.changes < 3 { await LoopThread.turns(1) }
        #expect(house.changes == 3)
    }

    @Test("a program that cannot start costs no file, one that dies at a file costs that file")
    @PlayerLoop func dying() async throws {
        let folder = TemporaryFolder()
        func script(_ text: String) -> String {
            let path = folder.file("program", "#!/bin/sh\n" + text)
            chmod(path, 0o755)
            return path
        }
        let broken = try House(["a"], program: script("exit 127\n"))
        broken.desk.scanned(House.walked("a"))
        let (activity, done) = await broken.rest()
        guard case .unavailable(let problem) = activity else {
            Issue.record("\(activity)")
            return
        }
        #expect(done == 0 && problem.contains("does not start"), "\(problem)")
        let dying = try House(["a", "b"], program: script("[ \"$1\" = --version ] || kill -9 $$\n"))
        dying.desk.scanned(House.walked("", isTree: true))
        #expect(await dying.rest() == (.complete, 2))
        #expect(dying.desk.report.figures?.failed == 2)
    }

    @Test("a folder that plays during the work is measured, too") @PlayerLoop func meanwhile() async throws {
        let house = try House(["a", "b"], seconds: 20)
        house.desk.scanned(House.walked("b"))
        while house.desk.report.figures?.path == nil { await LoopThread.turns(1) }
        house.desk.played(Array("music/a/1.wav".utf8))
        #expect(await house.rest() == (.complete, 2))
    }

    @Test("items are followed while that is wanted, and not afterwards") func items() async throws {
        let house = try await DaemonHouse()
        let songs = (1...4).map { house.wave("\($0).wav", seed: UInt64($0)) }
        await house.start()
        let found = try await LoopThread.run { try Found(house) }
        let client = try RawClient(house.socket)
        _ = try client.call("queue.add", ["items": .array(songs.map { .string($0) })])
        await LoopThread.run { found.link.followItems(true) }
        #expect(await LoopThread.holds { found.link.messageCount == 5 })
        _ = try client.call("play")
        #expect(await LoopThread.holds { found.uris.last == "file://" + songs[0] })
        _ = try client.call("nextTrack")
        #expect(await LoopThread.holds { found.uris.last == "file://" + songs[1] })
        let count = await LoopThread.run {
            found.link.followItems(false)
            return found.link.messageCount
        }
        #expect(await LoopThread.holds { found.link.messageCount > count })
        _ = try client.call("nextTrack")
        _ = try client.call("pause")
        // The pause comes; the item before it did not come by itself.
        #expect(await LoopThread.holds { found.uris.last == "file://" + songs[2] })
        #expect(await LoopThread.run { found.link.messageCount } == count + 2)
        await LoopThread.run { found.link.end() }
    }

    /// A link with the items that it reports.
    @PlayerLoop private final class Found {
        let link: DaemonLink
        private(set) var uris: [String] = []

        init(_ house: DaemonHouse) throws {
            let writer = house.writer
            let mirror = FeedbackMirror { change, then in writer.perform(change, then: then) }
            link = try DaemonLink(EventLoop.current, paths: [house.socket], mirror: mirror)
            link.onItem = { [unowned self] in uris.append($0) }
        }
    }
}

extension LoopThread {
    /// True as soon as something holds on the loop; false: it did not within 20 s.
    fileprivate static func holds(_ condition: @escaping @PlayerLoop @Sendable () -> Bool) async -> Bool {
        let end = EventLoop.now.advanced(bySeconds: 20)
        while EventLoop.now < end {
            if await run({ condition() }) { return true }
            await Task.yield()
        }
        return false
    }
}
