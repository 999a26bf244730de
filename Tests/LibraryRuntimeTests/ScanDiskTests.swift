import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

/// The real library with disks that are full or go away in the middle of a scan, and with files that do harm.
@Suite(.timeLimit(.minutes(10))) struct ScanDiskTests {
    init() { LoopThread.start() }

    /// True if disks can be mounted here.
    private static let mayMount: Bool = {
        let folder = TemporaryFolder()
        guard geteuid() == 0, mount("tmpfs", folder.path, "tmpfs", 0, "size=64k") == 0 else { return false }
        return umount2(folder.path, Int32(MNT_DETACH)) == 0
    }()

    @Test(
        "a full disk ends a scan in clear words and loses nothing; with room it is brought to its end",
        .enabled(if: mayMount, "NOT TESTED: a full disk of the library; it needs root, to mount a disk"))
    func full() async throws {
        let house = ScanHouse()
        for number in 0..<1500 { house.track("music/\(number % 25)/\(number).flac", "Title \(number)") }
        let state = house.folder.folder("state")
        #expect(mount("tmpfs", state, "tmpfs", 0, "size=700k") == 0)
        defer { umount2(state, Int32(MNT_DETACH)) }
        await house.startDaemon()
        await house.start()
        #expect(try house.reaches { !($0["problems"]?.arrayValue ?? []).isEmpty })
        let status = try house.status()
        let words = "the disk with the database of the library is full: make room on it"
        #expect(status["problems"]?.arrayValue?.first?["message"]?.stringValue == words)
        #expect(house.log.contains(words), "\(house.log)")
        let environment = currentEnvironment().merging(["NOWPLAYING_SOCKET": house.daemonSocket]) { $1 }
        let doctor = await LoopThread.run {
            TestProcess.run(
                [BuiltProgram.path("nowplayingctl"), "doctor", "--json"], environment: environment)
        }
        #expect(doctor.text.contains(words), "\(doctor.text)")
        let some = try house.tracks()
        #expect(some.count < 1500 && some.count == status["tracks"]?.integerValue.map(Int.init))
        #expect(mount("tmpfs", state, "tmpfs", UInt(MS_REMOUNT), "size=64m") == 0)
        #expect(try house.update())
        let all = try house.tracks()
        #expect(all.count == 1500 && some.allSatisfy { all[$0] == $1 })
        #expect(try house.status()["problems"]?.arrayValue?.isEmpty == true)
        #expect(house.end() == 0)
        #expect(SQLiteCheck.words(house.database) == ["ok"])
    }

    @Test("a folder that is renamed in the middle of a scan is missing, and back as it was")
    func renamed() async throws {
        let house = ScanHouse(["music", "other"])
        house.track("other/a.flac", "a")
        for number in 0..<1500 { house.track("music/\(number % 25)/\(number).flac", "Title \(number)") }
        await house.start()
        #expect(try house.reaches { ($0["scan"]?["done"]?.integerValue ?? 0) > 100 })
        #expect(rename(house.folder.path("music"), house.folder.path("away")) == 0)
        #expect(try house.reaches { $0["roots"]?.arrayValue?.first?["mode"] == "missing" && $0["scan"] == .null })
        #expect(try house.tracks() == ["other/a.flac": "a"])
        #expect(rename(house.folder.path("away"), house.folder.path("music")) == 0)
        #expect(try house.update())
        #expect(try house.tracks().count == 1501)
        #expect(try house.status()["faultCount"] == 0)
        #expect(try house.root(0).mode == "watched")
    }

    @Test(
        "a disk that is unmounted in the middle of a scan is missing, and comes back by itself",
        .enabled(if: mayMount, "NOT TESTED: disks of the library that are unmounted; it needs root, to mount a disk"))
    func unmounted() async throws {
        let house = ScanHouse(["disk", "other"])
        house.track("other/a.flac", "a")
        for number in 0..<1500 { house.track("content/\(number % 25)/\(number).flac", "Title \(number)") }
        let (content, disk) = (house.folder.path("content"), house.folder.path("disk"))
        #expect(mount(content, disk, "", UInt(MS_BIND), nil) == 0)
        defer { umount2(disk, Int32(MNT_DETACH)) }
        await house.start()
        #expect(try house.reaches { ($0["scan"]?["done"]?.integerValue ?? 0) > 100 })
        #expect(umount2(disk, Int32(MNT_DETACH)) == 0)
        // Its mount point is an empty folder.
        #expect(try house.reaches { _ in try house.tracks() == ["other/a.flac": "a"] })
        #expect(mount(content, disk, "", UInt(MS_BIND), nil) == 0)
        #expect(try house.reaches { $0["tracks"] == 1501 })
        #expect(try house.status()["faultCount"] == 0)
    }

    @Test("a thousand files that change while they are read end up as they are")
    func changing() async throws {
        let house = ScanHouse()
        let count = ScanHouse.isLong ? 1000 : 300
        for number in 0..<count { house.track("music/\(number % 10)/\(number).flac", "old") }
        await house.start()
        for round in 0..<4 {
            for number in 0..<count { house.track("music/\(number % 10)/\(number).flac", "new \(round)") }
        }
        #expect(
            try house.reaches { _ in
                let tracks = try house.tracks()
                return tracks.count == count && tracks.values.allSatisfy { $0 == "new 3" }
            })
        #expect(try house.status()["faultCount"] == 0)
    }

    @Test("a link that leads out of the folder is a fault, and no track") func linkOut() async throws {
        let house = ScanHouse()
        house.folder.file("outside/a.flac")
        house.folder.folder("music")
        #expect(symlink(house.folder.path("outside/a.flac"), house.folder.path("music/link.flac")) == 0)
        await house.start()
        #expect(try house.hasScanned(seconds: 20))
        let status = try house.status()
        #expect(status["tracks"] == 0 && status["faultCount"] == 1)
        let fault = status["faults"]?.arrayValue?.first
        #expect(fault?["reason"]?.stringValue?.hasPrefix("the link leads out") == true, "\(status)")
    }

    @Test("files that do harm are listed, each fault is named, and none is tried again until it changes")
    func hostile() async throws {
        let house = ScanHouse()
        let seed = ScanHouse.isLong ? UInt64.random(in: 0..<1_000_000) : 5
        let count = ScanHouse.isLong ? 10_000 : 400
        house.folder.folder("music")
        let names = try HostileFiles.write(count, seed: seed, to: house.folder, "music")
        await house.start()
        #expect(try house.hasScanned(seconds: 300), "seed \(seed)")
        let tracks = try house.tracks()
        #expect(tracks.count == names.count, "seed \(seed): \(Set(names).subtracting(tracks.keys).prefix(5))")
        // Identities are changes, too.
        #expect(try house.reaches { $0["scan"] == .null })
        let status = try house.status()
        let faults = status["faults"]?.arrayValue ?? []
        #expect(faults.count == min(100, Int(status["faultCount"]?.integerValue ?? -1)), "seed \(seed)")
        for fault in faults {
            #expect(fault["uri"]?.stringValue?.hasPrefix("file:///") == true, "seed \(seed): \(fault)")
            #expect(fault["reason"]?.stringValue?.isEmpty == false, "seed \(seed): \(fault)")
        }
        if getenv("NOWPLAYING_FIGURES") != nil { print("\(count) hostile files, faults: \(faults)") }
        #expect(try house.update())
        let again = try house.status()
        #expect(again["version"] == status["version"] && again["faultCount"] == status["faultCount"], "seed \(seed)")
        #expect(again["lastScan"]?["added"] == 0 && again["lastScan"]?["changed"] == 0)
        #expect(house.end() == 0)
    }
}
