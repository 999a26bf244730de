import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// The disk of the state directory is full, or can't be written to: a file system of its own.
    @Suite(
        .timeLimit(.minutes(5)),
        .enabled(if: MountedDisk.mayMountMemory, "needs root, to mount a disk of its own"))
    struct StateDiskTests {
        init() { LoopThread.start() }

        /// True if the daemon reports that it can't save its state.
        private func isFaulty(_ client: Client) -> Bool {
            client.call("diagnostics.get")?["state"]?["error"]?.stringValue?.isEmpty == false
        }

        private func count(_ client: Client) -> Int64 { client.call("queue.list")?["count"]?.integerValue ?? -1 }

        /// Number of lines in the log with these words.
        private func lines(_ folder: TemporaryFolder, _ words: String) -> Int {
            String(decoding: folder.read("log"), as: UTF8.self).split(separator: "\n").filter { $0.contains(words) }
                .count
        }

        /// Kills it, or ends it with all that is only in memory.
        private func again(_ daemon: RealDaemon, _ folder: TemporaryFolder) async -> (RealDaemon, Client) {
            daemon.process.signal(SIGKILL)
            daemon.process.wait()
            let next = await RealDaemon.start(
                nil, output: "null", in: folder, isLogged: true, ["--config", folder.path("n.conf")])
            return (next, next.connect())
        }

        @Test("a full disk, then one that is read-only: it plays on, warns once, starts, and saves when it can")
        func fullAndReadOnly() async throws {
            let folder = TemporaryFolder()
            _ = folder.write(Array("[playback]\nresume = playing\n".utf8), "n.conf")
            let state = folder.path("state")
            mkdir(state, 0o755)
            #expect(mount("tmpfs", state, "tmpfs", 0, "size=256k") == 0)
            defer { umount2(state, Int32(MNT_DETACH)) }
            var daemon = await RealDaemon.start(
                nil, output: "null", in: folder, isLogged: true, ["--config", folder.path("n.conf")])
            var client = daemon.connect()
            let song = daemon.silences(6000).arrayValue![0]
            let many = JSONValue.array(
                (0..<400).map { ["uri": song, "title": .string("a title that takes some room on the disk, \($0)")] })
            client.call("queue.add", ["items": [song, song], "play": true])
            #expect(becomes { access(state + "/place", F_OK) == 0 })
            // Full to the last byte.
            _ = AudioMaterial.run("sh", ["-c", "head -c 1M /dev/zero > '\(state)/ballast' 2>/dev/null; true"])
            client.call("queue.add", ["items": many])
            #expect(becomes { isFaulty(client) })
            for position in [100, 200, 300] as [Int64] {
                #expect(client.call("changePlaybackPosition", ["position": .integer(position)])?.playing == "playing")
                client.call("queue.add", ["items": many])
                usleep(350_000)
            }
            #expect(isFaulty(client) && lines(folder, "cannot save the state") == 1)
            // Killed now and started on the full disk, it has lost nothing and plays on.
            (daemon, client) = await again(daemon, folder)
            #expect(count(client) == 1602)
            var now = try #require(client.call("nowPlaying.subscribe"))
            while now.playing != "playing", now != .null { now = client.event() }
            #expect(now.elapsed >= 300 && now.elapsed < 330)
            #expect(becomes { isFaulty(client) })
            unlink(state + "/ballast")
            client.call("queue.add", ["items": [song]])
            #expect(becomes { !isFaulty(client) })
            #expect(lines(folder, "saves its state again") == 1)
            // The kernel makes a file system with an error read-only, even with open files.
            #expect(mount("tmpfs", state, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), "size=256k") == 0)
            client.call("queue.add", ["items": [song]])
            #expect(becomes { isFaulty(client) })
            #expect(client.call("nowPlaying.get")?.playing == "playing")
            (daemon, client) = await again(daemon, folder)
            #expect(count(client) == 1604)
            #expect(client.call("changePlaybackPosition", ["position": 500]) != nil)
            #expect(becomes { isFaulty(client) })
            // A second one is kept out of it all the same.
            let words = [
                RealDaemon.program, "--socket", folder.path("other.sock"), "--state-directory", state, "--output",
                "null",
            ]
            #expect(await LoopThread.run { TestProcess(words) }.wait() == 1)
            #expect(mount("tmpfs", state, "tmpfs", UInt(MS_REMOUNT), "size=256k") == 0)
            client.call("queue.add", ["items": [song]])
            #expect(becomes { !isFaulty(client) })
            let list = client.call("queue.list", ["offset": 1000, "limit": 1000])
            #expect(daemon.stop() == 0)
            (daemon, client) = await again(daemon, folder)
            #expect(count(client) == 1605)
            #expect(client.call("queue.list", ["offset": 1000, "limit": 1000])?.lasting == list?.lasting)
            Campaign.report(
                "state directory full, then read-only; killed and started on it each time", 2,
                "plays on, one warning each, nothing lost, saved when it could be")
            #expect(daemon.stop() == 0)
        }
    }
}
