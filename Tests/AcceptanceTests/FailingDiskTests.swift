import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Disks and shares whose reads fail, each in the words that the kernel has for it: media that is away, not broken media.
    @Suite(
        .timeLimit(.minutes(4)),
        .enabled(if: FailingDisk.isAllowed, "needs root, FUSE and python3-fusepy, to mount a disk of its own"))
    struct FailingDiskTests {
        init() { LoopThread.start() }

        /// What the kernel tells of a medium that is away: a broken cable, a file server that forgot the file, a stick that
        /// was pulled, a share without its server.
        private static let codes =
            Campaign.isLong ? [ESTALE, EIO, ENODEV, ENXIO, ENOTCONN, ETIMEDOUT, EHOSTDOWN, ECONNRESET] : [ESTALE]

        @Test(
            "a read that fails since the medium is away: play stands there, and goes on where it stood",
            arguments: codes)
        func reading(code: Int32) async throws {
            let daemon = await RealDaemon.silent()
            let disk = await FailingDisk.mount(in: daemon.folder) { $0.wideSilence("a.wav") }
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(disk.path + "/a.wav")])
            for _ in 0..<Campaign.times(1, long: 3) {
                disk.fail(code)
                let stall = client.event("stall")
                #expect(stall["stall"]?["reason"] == "mediaGone" && stall.rate == 0, "\(stall)")
                #expect(stall["queue"]?["index"] == 0 && stall["error"] == .null)
                disk.recover()
                let back = client.event("unstall")
                #expect(
                    back.playing == "playing" && abs(back.elapsed - stall.elapsed) < 0.01,
                    "\(back.elapsed) \(stall.elapsed)")
            }
            Campaign.report(
                "reads that fail with errno \(code) (\(String(cString: strerror(code))))", Campaign.times(1, long: 3),
                "mediaGone; goes on where it stood each time")
            #expect(daemon.stop() == 0)
            disk.end()
        }

        @Test("an item that can't be opened since the medium is away is waited for, not skipped", arguments: codes)
        func opening(code: Int32) async throws {
            let daemon = await RealDaemon.silent()
            let disk = await FailingDisk.mount(in: daemon.folder) { $0.wideSilence("a.wav") }
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let other = JSONValue.string(daemon.folder.silence("other.wav", seconds: 5))
            client.call("queue.add", ["items": [.string(disk.path + "/a.wav"), other]])
            disk.fail(code)
            let state = client.call("play", ["position": 30])
            #expect(state?.playing == "stalled" && state?.elapsed == 30, "\(state ?? .null)")
            let stall = client.call("nowPlaying.get")
            #expect(stall?["stall"]?["reason"] == "mediaGone" && stall?["queue"]?["index"] == 0)
            disk.recover()
            let back = client.event("unstall")
            #expect(back.playing == "playing" && abs(back.elapsed - 30) < 0.01 && back["queue"]?["index"] == 0)
            #expect(daemon.stop() == 0)
            disk.end()
        }
    }
}
