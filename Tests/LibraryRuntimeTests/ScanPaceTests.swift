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
        let (begin, before) = (EventLoop.now, try house.work())
        await LoopThread.wait(seconds: 2)
        // A written batch takes its time at once, and the readers wait until the scan has its share again.
        var figures = (wall: 0.0, computed: 0.0, waited: 0.0, done: Int64(0))
        let isPaid = try house.reaches {
            guard $0["scan"]?["phase"] == "read" else { return false }
            let (wall, now) = (EventLoop.now.seconds(since: begin), try house.work())
            figures = (
                wall, Double(now.computed - before.computed) / 1e9, Double(now.waited - before.waited) / 1e9,
                $0["scan"]?["done"]?.integerValue ?? 0
            )
            // It may be ahead by one order of files.
            return figures.computed <= wall / 4 + 0.1
        }
        #expect(isPaid && figures.computed + figures.waited > figures.wall / 50, "\(figures)")

        // All that the processors give it, as long as its readers of tags live.
        let (lifted, earlier) = (EventLoop.now, try house.work())
        _ = try RawClient(house.socket).call("library.update")
        #expect(
            try house.reaches {
                ($0["scan"]?["done"]?.integerValue ?? 0) > (figures.done + Int64(count)) / 2 || $0["lastScan"] != .null
            })
        let later = try house.work()
        let isOver = try house.status()["lastScan"] != .null
        let wanted = Double(later.computed + later.waited - earlier.computed - earlier.waited) / 1e9
        let share = wanted / EventLoop.now.seconds(since: lifted)
        #expect(isOver || share > 0.5, "\(share)")
        if getenv("NOWPLAYING_FIGURES") != nil { print("a quarter: \(figures); asked: \(share)") }
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
