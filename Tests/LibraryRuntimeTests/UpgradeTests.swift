import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// The real library at its first start after a version with other tables.
@Suite(.timeLimit(.minutes(5))) struct UpgradeTests {
    init() { LoopThread.start() }

    /// True if disks can be mounted here.
    private static let mayMount: Bool = {
        let folder = TemporaryFolder()
        guard geteuid() == 0, mount("tmpfs", folder.path, "tmpfs", 0, "size=64k") == 0 else { return false }
        return umount2(folder.path, Int32(MNT_DETACH)) == 0
    }()

    /// A library that has read so many tracks and ended, with the tables of an earlier version.
    private static func house(_ version: Int, tracks: Int) async throws -> ScanHouse {
        let house = ScanHouse()
        for number in 0..<tracks { house.track("music/\(number % 20)/\(number).flac", "Title \(number)") }
        await house.start()
        #expect(try house.hasScanned())
        #expect(house.end() == 0)
        EarlierDatabase.make(version, house.database)
        return house
    }

    @Test("the database of an earlier version is brought up to date at the start", arguments: [1, 2, 3])
    func start(version: Int) async throws {
        let house = try await Self.house(version, tracks: 100)
        await house.start()
        #expect(try house.reaches { $0["scan"] == .null && $0["lastScan"]?["files"] == 100 })
        #expect(try house.status()["lastScan"]?["added"] == 0)
        #expect(try house.tracks().count == 100)
        #expect(house.log.contains("bringing the database up to date"))
        #expect(house.end() == 0)
        #expect(SQLiteCheck.words(house.database) == ["ok"])
    }

    @Test(
        "without room for it the library says so, keeps the database as it was, and ends; with room it does the work",
        .enabled(if: mayMount, "NOT TESTED: a full disk at an update; it needs root, to mount a disk"),
        arguments: [SIGTERM, SIGKILL])
    func full(signal: Int32) async throws {
        let house = try await Self.house(2, tracks: 300)
        let before = house.folder.read("state/tracks.db")
        let state = house.folder.path("state")
        // The database and the files beside it, and a page of the log.
        #expect(mount("tmpfs", state, "tmpfs", 0, "size=\(before.count + (48 << 10))") == 0)
        defer { umount2(state, Int32(MNT_DETACH)) }
        _ = house.folder.write(before, "state/tracks.db")
        await house.start()
        #expect(try house.reaches { !($0["problems"]?.arrayValue ?? []).isEmpty })
        let status = try house.status()
        #expect(status["problems"]?.arrayValue?.first?["reason"] == "upgradeFailed")
        #expect(status["scan"]?["phase"] == "upgrade" && status["tracks"] == 300)
        let client = try RawClient(house.socket)
        let refusal = try client.error("library.search", ["text": "Title"])
        #expect(refusal["data"]?["reason"] == "diskFull", "\(refusal)")
        #expect(try client.result("library.subscribe")["tracks"] == 300)
        #expect(try client.result("hello")["server"] == "nowplaying-library")
        let environment = currentEnvironment().merging(["NOWPLAYING_LIBRARY_SOCKET": house.socket]) { $1 }
        let shown = await LoopThread.run {
            TestProcess.run([BuiltProgram.path("nowplayingctl"), "library"], environment: environment)
        }
        #expect(shown.text.contains("updating the database"), "\(shown.text)")
        #expect(house.end(signal) == (signal == SIGTERM ? 0 : 128 + SIGKILL))
        #expect(SQLiteCheck.rows(house.database, "PRAGMA user_version") == ["2"])
        await house.start()
        #expect(try house.reaches { !($0["problems"]?.arrayValue ?? []).isEmpty })
        #expect(mount("tmpfs", state, "tmpfs", UInt(MS_REMOUNT), "size=64m") == 0)
        let follower = try RawClient(house.socket)
        _ = try follower.result("library.subscribe")
        #expect(try RawClient(house.socket).result("library.update")["started"] == true)
        // A client that follows the work follows the library.
        var isScanned = false
        while !isScanned {
            let event = try follower.read()
            isScanned = event["params"]?["scan"] == .null && event["params"]?["tracks"] == 300
        }
        #expect(try house.reaches { $0["scan"] == .null && $0["lastScan"]?["files"] == 300 })
        #expect(try follower.result("library.search", ["text": "Title 299"])["rows"]?.arrayValue?.isEmpty == false)
        #expect(try house.status()["problems"]?.arrayValue?.isEmpty == true)
        #expect(house.end() == 0)
        #expect(SQLiteCheck.words(house.database) == ["ok"])
    }
}
