import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Disks and shares whose reads fail, each in the words that the kernel has for it: media that is away, not broken media.
    @Suite(
        .timeLimit(.minutes(5)),
        .enabled(if: FailingDisk.isAllowed, "needs root, FUSE and python3-fusepy, to mount a disk of its own"))
    struct FailingDiskTests {
        init() { LoopThread.start() }

        /// The kernel's errors for a medium that is away: a broken cable, a file server that forgot the file, a stick that
        /// was pulled, a share without its server.
        private static let codes =
            Campaign.isLong ? [ESTALE, EIO, ENODEV, ENXIO, ENOTCONN, ETIMEDOUT, EHOSTDOWN, ECONNRESET] : [ESTALE, EIO]

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
                let recovered = now()
                disk.recover()
                let back = client.event("unstall")
                #expect(back.goesOn(from: stall.elapsed, after: recovered), "\(back.elapsed) \(stall.elapsed)")
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
            let recovered = now()
            disk.recover()
            let back = client.event("unstall")
            #expect(back.goesOn(from: 30, after: recovered) && back["queue"]?["index"] == 0, "\(back)")
            #expect(daemon.stop() == 0)
            disk.end()
        }

        /// Bytes of a header, of the middle, and of the end of the minute of silence that `wideSilence` writes.
        private static let badBlocks = [0..<4096, 4_718_592..<4_722_688]

        @Test(
            "an item with a block that the disk can't read ends there with an error, and the queue goes on",
            arguments: badBlocks)
        func badBlock(bytes: Range<Int>) async throws {
            let daemon = await RealDaemon.start(nil, output: "null", isLogged: true)
            let disk = await FailingDisk.mount(in: daemon.folder) {
                $0.wideSilence("a.wav")
                $0.wideSilence("b.wav")
            }
            disk.breakBlock(of: "a.wav", bytes)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call(
                "queue.add",
                ["items": [.string(disk.path + "/a.wav"), .string(disk.path + "/b.wav")], "play": true])
            var state = client.call("nowPlaying.get")
            while state?["queue"]?["index"] != 1 || state?.playing != "playing" {
                #expect(state?["stall"]?["reason"] != "mediaGone", "\(state ?? .null)")
                state = client.event()
            }
            let log = String(decoding: daemon.folder.read("log"), as: UTF8.self)
            #expect(log.contains("the disk can't read the file at byte \(bytes.lowerBound)"), "\(log)")
            #expect(daemon.stop() == 0)
            disk.end()
        }

        // Nothing in these says where a second is: all before it is read, by the daemon or by nowplaying-decode.
        @Test(
            "a seek that reads a large file for longer than 5 seconds is no hang: sound begins when it is there",
            arguments: [("libmp3lame", "mp3", 0.07)]
                + (RealDaemon.hasDecodeProgram ? [("eac3", "eac3", 0.025)] : []))
        func longSeek(coder: String, kind: String, delay: Double) async throws {
            let daemon = await RealDaemon.silent()
            let second = daemon.folder.constantNoise("second.\(kind)", coder, seconds: 10)
            let bytes = [[UInt8]](repeating: daemon.folder.read(second), count: 20).flatMap { $0 }
            let disk = await FailingDisk.mount(in: daemon.folder) { _ = $0.folder.write(bytes, "\($0.name)/a.\(kind)") }
            disk.slowDown(delay)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let begin = now()
            client.call("play", ["uri": .string(disk.path + "/a.\(kind)"), "position": 195])
            var state = client.call("nowPlaying.get")
            while state?.playing != "playing", !client.isBroken {
                #expect(state?["stall"]?["reason"] != "mediaGone", "\(state ?? .null)")
                state = client.event()
            }
            #expect(now() - begin > 5, "the disk was not slow enough to show anything")
            #expect(abs((state?.elapsed ?? 0) - 195) < 0.01)
            disk.recover()
            #expect(daemon.stop() == 0)
            disk.end()
        }
    }
}

extension TemporaryFolder {
    /// A file of noise at 320 kbit/s without a tag; its name.
    fileprivate func constantNoise(_ name: String, _ coder: String, seconds: Int) -> String {
        _ = AudioMaterial.run(
            "ffmpeg",
            [
                "-v", "error", "-y", "-f", "lavfi", "-i", "anoisesrc=d=\(seconds):r=44100:a=0.1", "-ac", "2", "-c:a",
                coder, "-b:a", "320k",
            ] + (coder == "libmp3lame" ? ["-write_xing", "0", "-id3v2_version", "0"] : []) + [path(name)])
        return name
    }
}
