import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Power cuts: the state directory is on a disk of its own, which keeps only synced data.
    @Suite(
        .timeLimit(.minutes(20)),
        .enabled(if: Campaign.isLong && MountedDisk.isAllowed, "part of make faults; needs root and loop devices"))
    struct PowerCutTests {
        init() { LoopThread.start() }

        @Test("a power cut a second after a command loses nothing of it, and at most a minute of the position")
        func cut() async throws {
            let folder = TemporaryFolder()
            let disk = try #require(MountedDisk(in: folder))
            mkdir(disk.path + "/state", 0o755)
            #expect(symlink(disk.path + "/state", folder.path("state")) == 0)
            let configuration = folder.write(
                Array("[playback]\nresume = paused\nread-titles = off\n".utf8), "nowplayingd.conf")
            var numbers = SeededRandom(seed: 99)
            let cuts = Campaign.times(1, long: 30)
            for _ in 0..<cuts {
                var daemon = await RealDaemon.start(nil, output: "null", in: folder, ["--config", configuration])
                var client = daemon.connect()
                for number in 0..<Int.random(in: 1...20, using: &numbers) {
                    client.call("queue.add", ["items": daemon.silences(600), "at": 0])
                    client.call("volume.set", ["volume": .number(Double(number) / 20)])
                    usleep(UInt32.random(in: 0...50_000, using: &numbers))
                }
                client.call("play", ["index": 0, "position": .number(Double.random(in: 0...500, using: &numbers))])
                await LoopThread.wait(seconds: 1)
                let queue = try #require(client.call("queue.list"))
                let state = try #require(client.call("nowPlaying.get"))
                disk.cutPower()
                var status = stat()
                daemon.process.signal(SIGKILL)
                daemon.process.wait()
                #expect(disk.mount() && stat(folder.path("state"), &status) == 0)
                // Memory goes with the power, too.
                _ = TestProcess.run(["sh", "-c", "rm -f /dev/shm/nowplayingd-*-\(String(status.st_ino, radix: 16))"])
                daemon = await RealDaemon.start(nil, output: "null", in: folder, ["--config", configuration])
                client = daemon.connect()
                let after = try #require(client.call("nowPlaying.get"))
                let restored = try #require(client.call("queue.list"))
                for member in ["version", "count", "items"] { #expect(restored[member] == queue[member]) }
                #expect(after.itemID == state.itemID && after["volume"] == state["volume"])
                #expect(after.playing == "paused" && abs(after.elapsed - state.position(at: now())) < 60)
                for name in ["queue", "place"] { #expect(access(folder.path("state/\(name).broken"), F_OK) != 0) }
                #expect(daemon.stop() == 0)
            }
            Campaign.report(
                "power cut a second after a command (state on an ext4 disk)", cuts,
                "nothing lost of queue, item and volume; less than 60 s of the position; no file broken")
        }
    }
}
