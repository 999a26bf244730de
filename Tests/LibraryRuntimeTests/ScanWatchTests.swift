import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

/// The real library and its folders: changes that are found at once, and those that a walk finds.
@Suite(.timeLimit(.minutes(10))) struct ScanWatchTests {
    init() { LoopThread.start() }

    @Test("a changed file is found within two seconds after it was closed, and the last scan is known after a restart")
    func found() async throws {
        let house = ScanHouse()
        for number in 0..<200 { house.track("music/\(number % 20)/\(number).flac", "\(number)") }
        let broken = house.folder.write([0xFF, 0xFB, 0x90, 0x64, 0], "music/broken.mp3")
        await house.start()
        #expect(try house.hasScanned())
        let client = try RawClient(house.socket)
        let faults = try house.status()["faults"]?.arrayValue ?? []
        #expect(faults.map { $0["uri"] } == [.string("file://" + broken)])
        let library = try #require(house.library).pid
        var times: [Double] = []
        for round in 0..<4 {
            house.track("music/\(round)/\(round).flac", "new \(round)")
            let waits = ProcessorWaits(of: [library], withChildren: true)
            let closed = EventLoop.now
            let wanted: JSONValue = ["filter": ["title": ["is": .string("new \(round)")]]]
            #expect(try house.reaches { _ in try client.call("library.count", wanted)["result"]?["tracks"] == 1 })
            // On a busy machine others have the processors.
            let waited = ProcessorWaits(of: [library], withChildren: true).seconds(since: waits)
            times.append(EventLoop.now.seconds(since: closed) - waited)
        }
        #expect(times.allSatisfy { $0 < 2 }, "\(times)")
        if getenv("NOWPLAYING_FIGURES") != nil { print("a changed file is found after \(times) s") }
        #expect(try house.update())
        let last = try house.status()["lastScan"]
        #expect(last?["files"] == 201 && last?["faults"] == 0)
        #expect(house.end() == 0)
        // It is there before the first scan ends.
        await house.start()
        #expect(try house.status()["lastScan"]?["files"] == 201)
        #expect(try house.hasScanned())
        #expect(try house.status()["lastScan"]?["finished"] != last?["finished"])
    }

    @Test("where the system has no watches left the folder is walked, says so, and a scan finds changes")
    func exhausted() async throws {
        let house = ScanHouse()
        for number in 0..<40 { house.track("music/\(number)/\(number).flac", "\(number)") }
        let script = "echo 12 > /proc/sys/user/max_inotify_watches && exec \"$@\""
        let wrapper = ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"]
        guard AudioMaterial.run(wrapper[0], Array(wrapper[1...]) + ["true"]) == 0 else {
            withKnownIssue("NOT TESTED: watches that run out; users may not have namespaces of their own here") {
                Issue.record("no namespaces")
            }
            return
        }
        await house.start(wrapper)
        #expect(try house.hasScanned())
        #expect(try house.tracks().count == 40)
        #expect(try house.root(0) == ("walked", "the system has no watches left (fs.inotify.max_user_watches)"))
        house.track("music/39/new.flac", "new")
        #expect(try house.update())
        #expect(try house.tracks()["music/39/new.flac"] == "new")
        #expect(try house.root(0).mode == "walked")
    }

    @Test(
        "a folder that is bound to several places has its tracks once, also after changes",
        arguments: ["loop", "zloop"])
    func bound(name: String) async throws {
        let house = ScanHouse()
        house.track("music/m/album/1.flac", "1")
        house.track("music/other/2.flac", "2")
        house.folder.folder("music/\(name)")
        house.folder.folder("music/other/circle")
        let music = house.folder.path("music")
        let script =
            "mount --bind \(music)/m \(music)/\(name) && mount --bind \(music) \(music)/other/circle && exec \"$@\""
        let wrapper = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
        guard AudioMaterial.run(wrapper[0], Array(wrapper[1...]) + ["true"]) == 0 else {
            withKnownIssue("NOT TESTED: folders that are bound; users may not have namespaces of their own here") {
                Issue.record("no namespaces")
            }
            return
        }
        await house.start(wrapper)
        #expect(try house.hasScanned())
        #expect(try house.tracks().values.sorted() == ["1", "2"])
        // The folders above the bound ones change, and so do those in them.
        for (place, title) in [("top", "3"), ("other/a", "4"), ("m/b", "5"), ("m/album/c", "6")] {
            house.track("music/\(place).flac", title)
            #expect(try house.reaches { _ in try house.tracks().values.contains(title) })
        }
        #expect(try house.reaches { $0["scan"] == .null })
        #expect(try house.tracks().values.sorted() == ["1", "2", "3", "4", "5", "6"])
        #expect(try house.update())
        #expect(try house.tracks().values.sorted() == ["1", "2", "3", "4", "5", "6"])
    }

    @Test("more changes than the kernel keeps are found by a walk of all folders")
    func overflow() async throws {
        let house = ScanHouse()
        for number in 0..<10 { house.track("music/\(number)/a.flac", "\(number)") }
        await house.start()
        #expect(try house.hasScanned())
        let limit = try #require(Self.number("/proc/sys/fs/inotify/max_queued_events"))
        house.library?.signal(SIGSTOP)
        let noise = house.folder.path("music/0/noise.txt")
        for number in 0...limit {
            let mode: mode_t = number % 2 == 0 ? 0o600 : 0o644
            if number == 0 { house.folder.file("music/0/noise.txt") }
            chmod(noise, mode)
            // Equal events in a row are one.
            if number % 2 == 0 { close(open(noise, O_WRONLY)) }
        }
        // The kernel drops these.
        for number in 1..<10 { house.track("music/\(number)/late.flac", "late \(number)") }
        rename(house.folder.path("music/5"), house.folder.path("music/moved"))
        house.library?.signal(SIGCONT)
        #expect(try house.reaches { $0["tracks"] == 19 })
        #expect(try house.reaches { _ in try house.tracks()["music/moved/late.flac"] == "late 5" })
        #expect(try house.root(0).mode == "watched")
        // Folders are watched as before.
        house.track("music/moved/b.flac", "b")
        #expect(try house.reaches { $0["tracks"] == 20 })
    }

    private static func number(_ path: String) -> Int? {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = read(file, &buffer, buffer.count)
        return Int(String(decoding: buffer[..<max(0, count)].filter { $0 > 32 }, as: UTF8.self))
    }

    @Test(
        "folders that can't be watched are walked at the interval, and all of them at the time of day",
        .enabled(if: ScanHouse.isLong && HangingDisk.isAllowed, "nightly, with FUSE"))
    func times() async throws {
        let walked = ScanHouse(["disk"], settings: "scan-interval = 60\n", isInMemory: false)
        let disk = await HangingDisk.mount(in: walked.folder)
        walked.track("content/a.flac", "a")
        await walked.start()
        #expect(try walked.hasScanned())
        #expect(try walked.root(0).mode == "walked" && walked.root(0).reason.contains("FUSE"))
        // In the minute after next, by the clock of this place.
        var (now, local) = (time(nil) + 61, tm())
        localtime_r(&now, &local)
        let minute = (local.tm_hour < 10 ? "0" : "") + "\(local.tm_hour):" + (local.tm_min < 10 ? "0" : "")
        let daily = ScanHouse(settings: "scan-at = \(minute)\(local.tm_min)\n")
        daily.track("music/a.flac", "a")
        await daily.start()
        #expect(try daily.hasScanned())
        let before = try daily.status()["lastScan"]?["finished"]
        walked.track("content/b.flac", "b")
        #expect(try walked.reaches(seconds: 70) { $0["tracks"] == 2 })
        #expect(try daily.reaches(seconds: 130) { $0["lastScan"]?["finished"] != before })
        disk.end()
    }
}
