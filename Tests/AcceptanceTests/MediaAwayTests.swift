import ControlProtocol
import Glibc
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// Disks that are pulled, or not there yet: a real file system on a loop device.
    @Suite(
        .timeLimit(.minutes(5)),
        .enabled(if: MountedDisk.isAllowed, "needs root and loop devices, to mount a disk of its own"))
    struct MediaAwayTests {
        init() { LoopThread.start() }

        /// A file of which a buffer holds no more than two seconds.
        private func file(_ disk: MountedDisk, _ name: String, seconds: Double = 60) -> JSONValue {
            .string(disk.file(name, seconds: seconds))
        }

        /// Expects the same index, item and position, to the hundredth of a second.
        private func expectSame(_ state: JSONValue?, _ stall: JSONValue) {
            #expect(state?["queue"]?["index"] == stall["queue"]?["index"])
            #expect(state?["item"]?["id"] == stall["item"]?["id"])
            #expect(abs((state?.elapsed ?? -1) - stall.elapsed) < 0.01, "\(state?.elapsed ?? -1) \(stall.elapsed)")
        }

        @Test("a disk that is pulled in the middle of an item: play stands there and goes on when it is back")
        func pulled() async throws {
            let daemon = await RealDaemon.silent()
            let disk = try #require(MountedDisk(in: daemon.folder))
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let first = JSONValue.string(daemon.folder.silence("0.wav", seconds: 5))
            client.call("queue.add", ["items": [first, file(disk, "a.wav")]])
            client.call("play", ["index": 1])
            for _ in 0..<Campaign.times(1, long: 20) {
                disk.pull()
                let stall = client.event("stall")
                #expect(stall["stall"]?["reason"] == "mediaGone" && stall.rate == 0)
                #expect(stall["queue"]?["index"] == 1 && stall["item"]?["duration"] == 60)
                // Commands are answered, and change nothing of the place.
                #expect(client.call("pause")?.playing == "paused")
                expectSame(client.call("nowPlaying.get"), stall)
                #expect(client.call("play")?.playing == "stalled")
                let again = client.event("stall")
                #expect(again["stall"]?["reason"] == "mediaGone")
                expectSame(again, stall)
                disk.mount()
                let back = client.event("unstall")
                #expect(back.playing == "playing")
                expectSame(back, stall)
            }
            Campaign.report(
                "disk pulled in the middle of an item", Campaign.times(1, long: 20), "goes on where it stood each time")
            #expect(daemon.stop() == 0)
        }

        @Test("without a command in between it goes on in the same stream")
        func untouched() async throws {
            let daemon = await RealDaemon.silent()
            let disk = try #require(MountedDisk(in: daemon.folder))
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": file(disk, "a.wav")])
            disk.pull()
            let stall = client.event("stall")
            disk.mount()
            expectSame(client.event("unstall"), stall)
            #expect(daemon.stop() == 0)
        }

        @Test(
            "what follows is on a disk that is away: it stands at its beginning, and nothing is skipped",
            .enabled(if: environmentHas("NOWPLAYING_NIGHTLY")))
        func next() async throws {
            let daemon = await RealDaemon.silent()
            let disk = try #require(MountedDisk(in: daemon.folder))
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let first = JSONValue.string(daemon.folder.silence("first.wav", seconds: 4, rate: 192_000, channels: 8))
            let last = JSONValue.string(daemon.folder.silence("last.wav", seconds: 5))
            // The item was played once, so the daemon knows the mount.
            client.call("play", ["uri": file(disk, "a.wav")])
            client.call("queue.clear")
            client.call("queue.add", ["items": [first, file(disk, "a.wav"), last]])
            disk.unmount()
            client.call("play")
            let stall = client.event("stall")
            #expect(stall["stall"]?["reason"] == "mediaGone")
            #expect(stall["queue"]?["index"] == 1 && stall.elapsed == 0 && stall.rate == 0)
            #expect(stall["error"] == .null)
            // The queue can be moved on all the same.
            #expect(client.call("nextTrack")?.playing == "playing")
            #expect(client.call("nowPlaying.get")?["queue"]?["index"] == 2)
            #expect(client.call("previousTrack")?.playing == "stalled")
            #expect(client.call("nowPlaying.get")?["queue"]?["index"] == 1)
            disk.mount()
            let back = client.event("unstall")
            #expect(back.playing == "playing" && back["queue"]?["index"] == 1 && back.elapsed < 0.01)
            #expect(daemon.stop() == 0)
        }

        @Test("a disk that is mounted long after the start: play goes on where it was before")
        func late() async throws {
            let folder = TemporaryFolder()
            let disk = try #require(MountedDisk(in: folder))
            var daemon = await RealDaemon.start(nil, output: "null", in: folder)
            var client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": file(disk, "a.wav"), "position": 30])
            client.call("queue.add", ["items": [.string(folder.silence("last.wav", seconds: 5))]])
            // The disk on which the item lies is noted beside playback, which does not wait for it.
            #expect(becomes { access(folder.path("state/mounts"), R_OK) == 0 })
            daemon.process.signal(SIGKILL)
            _ = daemon.process.wait()
            disk.unmount()
            let configuration = folder.write(Array("[playback]\nresume = playing\n".utf8), "nowplayingd.conf")
            daemon = await RealDaemon.start(nil, output: "null", in: folder, ["--config", configuration])
            client = daemon.connect()
            var state = try #require(client.call("nowPlaying.subscribe"))
            while state.playing != "stalled", !client.isBroken { state = client.event() }
            #expect(state["stall"]?["reason"] == "mediaGone")
            #expect(state["queue"]?["index"] == 0 && state["queue"]?["count"] == 2)
            #expect(state.elapsed >= 30 && state.elapsed < 31)
            if Campaign.isLong {
                // Earlier work has ended, and is saved.
                #expect(daemon.process.sleepsForASecond)
                // Nothing looks meanwhile, and nothing is forgotten.
                let before = daemon.contextSwitches
                let changes = MountedDisk.changes(seconds: 60)
                let switches = daemon.contextSwitches - before
                // The daemon looks at each change of the mounts, which other programs make; it does not tick.
                #expect(switches <= 10 * changes)
                Campaign.report(
                    "start with the disk mounted 60 s late", 1,
                    "\(switches) context switches meanwhile, in which others mounted \(changes) times")
            }
            disk.mount()
            let back = client.event("unstall")
            #expect(back.playing == "playing")
            expectSame(back, state)
            #expect(daemon.stop() == 0)
        }
    }
}

extension MountedDisk {
    /// A WAV file of silence on it that takes no room, and of which a buffer holds no more than two seconds.
    func file(_ name: String, seconds: Double) -> String {
        let place = "\(path)/\(name)"
        let data = UInt32(seconds * 192_000) * 16
        let head = AudioMaterial(sampleRate: 192_000, channels: 8, bits: 16, samples: []).wave(dataSize: data)
        let file = fopen(place, "w")!
        fwrite(head, 1, head.count, file)
        fclose(file)
        precondition(truncate(place, head.count + Int(data)) == 0)
        // Bytes that are not on the disk at the pull would be lost.
        sync()
        return place
    }
}
