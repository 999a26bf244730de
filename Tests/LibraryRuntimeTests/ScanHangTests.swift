import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

/// Disks of the library that do not answer: no call into them returns, and there is no event.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(
        if: HangingDisk.isAllowed,
        "NOT TESTED: disks of the library that hang; it needs root, FUSE and python3-fusepy"))
struct ScanHangTests {
    init() { LoopThread.start() }

    @Test("a disk that hangs costs only its folder, which is scanned when it answers again; the program ends at once")
    func hang() async throws {
        let house = ScanHouse(["music", "disk"], isInMemory: false)
        let disk = await HangingDisk.mount(in: house.folder)
        for number in 0..<20 {
            house.track("music/\(number).flac", "here \(number)")
            house.track("content/\(number).flac", "there \(number)")
        }
        await house.start()
        #expect(try house.hasScanned())
        #expect(try house.tracks().count == 40)
        #expect(try house.root(0).mode == "watched" && house.root(1).mode == "walked")

        disk.freeze()
        house.track("music/new.flac", "new")
        var slowest = 0.0
        #expect(
            try house.reaches { status in
                let begin = EventLoop.now
                let found = try house.tracks()["music/new.flac"] != nil
                slowest = max(slowest, EventLoop.now.seconds(since: begin))
                return found && status["roots"]?.arrayValue?.last?["mode"] == "missing"
            })
        #expect(slowest < 2, "\(slowest)")
        #expect(try house.root(0).mode == "watched")
        #expect(try house.root(1).reason.contains("does not answer"))
        // Nothing is known of its files, so they stay.
        #expect(try house.tracks().count == 41)
        // Changes go on to be found at once.
        house.track("music/newer.flac", "newer")
        #expect(try house.reaches(seconds: 4) { _ in try house.tracks()["music/newer.flac"] != nil })
        #expect(try house.update())

        house.track("content/new.flac", "new there")
        disk.thaw()
        #expect(try house.reaches { _ in try house.tracks()["disk/new.flac"] != nil })
        #expect(try house.reaches { $0["roots"]?.arrayValue?.last?["mode"] == "walked" })
        #expect(try house.tracks().count == 43)

        disk.freeze()
        _ = try RawClient(house.socket).call("library.update")
        #expect(try house.reaches { $0["scan"] != .null })
        let begin = EventLoop.now
        #expect(house.end() == 0)
        #expect(EventLoop.now.seconds(since: begin) < 2)
        disk.thaw()
        disk.end()
    }

    @Test(
        "a disk that hangs at any instant of a scan loses no file and blames none",
        .enabled(if: ScanHouse.isLong, "nightly"))
    func instants() async throws {
        let house = ScanHouse(["music", "disk"], isInMemory: false)
        let disk = await HangingDisk.mount(in: house.folder)
        var numbers = SeededRandom(seed: 17)
        for number in 0..<600 { house.track("content/\(number % 20)/\(number).flac", "there \(number)") }
        house.track("music/0.flac", "here")
        for round in 0..<6 {
            _ = AudioMaterial.run("rm", ["-rf", house.folder.path("state")])
            await house.start()
            usleep(UInt32.random(in: 0..<1_500_000, using: &numbers))
            disk.freeze()
            house.track("music/\(round + 1).flac", "here")
            #expect(try house.reaches { _ in try house.tracks()["music/\(round + 1).flac"] != nil }, "\(round)")
            usleep(UInt32.random(in: 0..<12_000_000, using: &numbers))
            disk.thaw()
            #expect(try house.reaches(seconds: 60) { $0["tracks"]?.integerValue == Int64(602 + round) }, "\(round)")
            #expect(try house.reaches(seconds: 60) { $0["faultCount"] == 0 })
            #expect(house.end() == 0)
        }
        disk.end()
    }
}
