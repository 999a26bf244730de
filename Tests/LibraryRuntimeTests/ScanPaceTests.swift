import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing
import TrackDatabase

/// The real library beside a real daemon that plays.
@Suite(.timeLimit(.minutes(5))) struct ScanPaceTests {
    init() { LoopThread.start() }

    @Test("while the daemon plays, a scan takes a quarter of a processor unless asked for, and nothing is identified")
    func quarter() async throws {
        let house = ScanHouse()
        let count = 9000
        for number in 0..<count { house.track("music/\(number % 50)/\(number).flac", "\(number)") }
        let sound = AudioMaterial.noise(frames: 8000 * 300, sampleRate: 8000, channels: 1).wave()
        await house.startDaemon()
        let daemon = try RawClient(house.daemonSocket)
        _ = try daemon.call("play", ["uri": .string(house.folder.write(sound, "long.wav"))])
        await house.start()
        #expect(
            try house.reaches { $0["daemon"]?["state"] == "playing" && $0["scan"]?["phase"] == "read" })
        let seconds = 2.0
        let (begin, before) = (EventLoop.now, try house.work())
        await LoopThread.wait(seconds: seconds)
        let (wall, after) = (EventLoop.now.seconds(since: begin), try house.work())
        let computed = Double(after.computed - before.computed) / 1e9
        let status = try house.status()
        #expect(status["scan"]?["phase"] == "read", "\(status)")
        // It may be ahead by one order of files.
        #expect(computed <= wall / 4 + 0.1, "\(computed) s of \(wall) s")
        let waited = Double(after.waited - before.waited) / 1e9
        #expect(computed + waited > wall / 50, "\(computed) s and \(waited) s of \(wall) s")

        // All that the processors give it, as long as its readers of tags live.
        let done = try #require(status["scan"]?["done"]?.integerValue)
        let (lifted, earlier) = (EventLoop.now, try house.work())
        _ = try RawClient(house.socket).call("library.update")
        #expect(
            try house.reaches {
                ($0["scan"]?["done"]?.integerValue ?? 0) > done + (Int64(count) - done) / 2 || $0["lastScan"] != .null
            })
        let later = try house.work()
        let isOver = try house.status()["lastScan"] != .null
        let wanted = Double(later.computed + later.waited - earlier.computed - earlier.waited) / 1e9
        let share = wanted / EventLoop.now.seconds(since: lifted)
        #expect(isOver || share > 0.5, "\(share)")
        if getenv("NOWPLAYING_FIGURES") != nil { print("a quarter: \(computed / wall); asked: \(share); \(status)") }
        #expect(try house.reaches { $0["scan"] == .null && $0["tracks"] == .integer(Int64(count)) })

        // Identities are for quiet times.
        let reader = try TrackDatabase(path: house.database).reader()
        #expect(try reader.scan.unidentifiedCount() == count)
        _ = try daemon.call("pause")
        #expect(
            try house.reaches { $0["scan"]?["phase"] == "identify" && $0["scan"]?["total"] == .integer(Int64(count)) })
        _ = try daemon.call("play")
        #expect(try house.reaches(seconds: 5) { $0["scan"] == .null })
        #expect(try reader.scan.unidentifiedCount() > 0)
        _ = try daemon.call("pause")
        #expect(
            try house.reaches {
                let left = try reader.scan.unidentifiedCount()
                return left == 0 && $0["scan"] == .null
            })
    }
}
