import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension Acceptance {
    /// State that survives the daemon.
    @Suite(.timeLimit(.minutes(5))) struct StateTests {
        init() { LoopThread.start() }

        /// A daemon in this folder that plays into nothing.
        private func daemon(in folder: TemporaryFolder, resume: String = "paused") async -> RealDaemon {
            let configuration = folder.write(Array("[playback]\nresume = \(resume)\n".utf8), "nowplayingd.conf")
            return await RealDaemon.start(
                nil, output: "null", in: folder, readsTitles: false, ["--config", configuration])
        }

        private func kill(_ daemon: RealDaemon) {
            daemon.process.signal(SIGKILL)
            daemon.process.wait()
        }

        @Test("killed after an answer, it comes back as it was")
        func killed() async throws {
            let folder = TemporaryFolder()
            let first = await daemon(in: folder)
            let client = first.connect()
            client.call("queue.add", ["items": first.silences(60, 50, 40), "play": true])
            client.call("queue.add", ["items": [["uri": .string(folder.path("0.wav")), "title": "Named"]], "at": 1])
            client.call("queue.move", ["ids": [3], "to": 0])
            client.call("nextTrack")
            client.call("volume.set", ["volume": 0.35, "muted": true])
            client.call("commands.configure", ["command": "skipForward", "preferredIntervals": [7, 30]])
            client.call("pause")
            let before = try #require(client.call("changePlaybackPosition", ["position": 12.345_678]))
            let queue = try #require(client.call("queue.list"))
            let state = try #require(client.call("nowPlaying.get"))
            kill(first)
            let second = await daemon(in: folder)
            let next = second.connect()
            #expect(next.call("queue.list")?.lasting == queue.lasting)
            let after = try #require(next.call("nowPlaying.get"))
            #expect(after.playing == "paused" && after.rate == 0)
            #expect(after["cause"] == "snapshot")
            #expect(after.elapsed == before.elapsed)
            #expect(after["queue"]?.lasting == state["queue"]?.lasting)
            for key in ["item", "volume", "muted", "repeatMode", "shuffleMode"] {
                #expect(after[key] == state[key], "\(key)")
            }
            let skip = next.call("commands.list")?["commands"]?.arrayValue?.first { $0["command"] == "skipForward" }
            #expect(skip?["preferredIntervals"] == [7, 30])
            // A new entry has a number that none had before.
            let added = next.call("queue.add", ["items": [.string(folder.path("1.wav"))]])?["ids"]
            #expect(added?.arrayValue?.first?.integerValue ?? 0 > 4)
            // It goes on there, and is still the same playing of the item.
            let asked = now()
            let playing = try #require(next.call("play"))
            #expect(playing.goesOn(from: before.elapsed, after: asked), "\(playing.elapsed) \(before.elapsed)")
            #expect(next.call("nowPlaying.get")?["item"]?["play"] == state["item"]?["play"])
            next.call("stop")
            #expect(second.stop() == 0)
            let third = await daemon(in: folder)
            let stopped = try #require(third.connect().call("nowPlaying.get"))
            #expect(stopped.playing == "stopped" && stopped.elapsed == 0 && stopped.itemID == state.itemID)
            #expect(third.stop() == 0)
        }

        @Test("what played goes on, is paused or stops, as it is configured; a seek while stopped is kept")
        func resuming() async throws {
            let folder = TemporaryFolder()
            let first = await daemon(in: folder)
            let client = first.connect()
            client.call("queue.add", ["items": first.silences(60, 60)])
            client.call("play", ["index": 1, "position": 20])
            kill(first)
            let second = await daemon(in: folder, resume: "stopped")
            let stopped = try #require(second.connect().call("nowPlaying.get"))
            #expect(stopped.playing == "stopped" && stopped["queue"]?["index"] == 1)
            #expect(stopped.elapsed >= 20 && stopped.elapsed < 30)
            kill(second)
            let third = await daemon(in: folder, resume: "playing")
            let again = third.connect()
            #expect(again.call("play")?.playing == "playing")
            kill(third)
            let fourth = await daemon(in: folder, resume: "playing")
            let follower = fourth.connect()
            var state = try #require(follower.call("nowPlaying.subscribe"))
            while state.playing != "playing", state != .null { state = follower.event() }
            #expect(state["queue"]?["index"] == 1 && state.rate == 1)
            #expect(state.elapsed >= stopped.elapsed && state.elapsed < 40)
            // A daemon that resumes playback keeps the requested rate until the next play.
            #expect(follower.call("changePlaybackRate", ["rate": 1.5])?.rate == 1.5)
            kill(fourth)
            let faster = await daemon(in: folder, resume: "playing")
            let listener = faster.connect()
            state = try #require(listener.call("nowPlaying.subscribe"))
            while state.playing != "playing", state != .null { state = listener.event() }
            #expect(state.rate == 1.5 && state["anchor"]?["defaultRate"] == 1)
            #expect(listener.call("play")?.rate == 1)
            listener.call("pause")
            kill(faster)
            let fifth = await daemon(in: folder, resume: "playing")
            #expect(fifth.connect().call("nowPlaying.get")?.playing == "paused")
            #expect(fifth.stop() == 0)
        }

        @Test("a handed-over file is an error that says so, the others play")
        func handedOver() async throws {
            let folder = TemporaryFolder()
            let first = await daemon(in: folder)
            let client = first.connect()
            let file = folder.silence("a.wav", seconds: 30)
            client.call("queue.add", ["items": [["descriptor": 0, "uri": "a.wav"]]], files: [file])
            client.call("queue.add", ["items": [.string(file)]])
            kill(first)
            let second = await daemon(in: folder)
            let next = second.connect()
            #expect(next.call("queue.list")?["items"]?.arrayValue?.first?["uri"] == "a.wav")
            let error = next.error("play", ["index": 0])
            #expect(error?["code"] == 100)
            #expect(error?["message"]?.stringValue?.contains("open file") == true, "\(error ?? .null)")
            #expect(next.call("play", ["index": 1])?.playing == "playing")
            kill(second)
        }

        @Test("broken, missing or foreign files never keep it from starting")
        func broken() async throws {
            let folder = TemporaryFolder()
            for (name, text) in [
                ("queue", "garbage"), ("place", "garbage"), ("queue", "other"), ("next-item", "x"), ("queue.new", "x"),
            ] {
                let first = await daemon(in: folder)
                let client = first.connect()
                client.call("queue.clear")
                client.call("queue.add", ["items": first.silences(5, 5)])
                #expect(first.stop() == 0)
                _ = folder.write(Array(text.utf8), "state/" + name)
                let second = await daemon(in: folder)
                #expect(second.connect().call("queue.list")?["count"] == (name == "queue" ? 0 : 2), "\(name) \(text)")
                #expect(second.stop() == 0)
            }
            #expect(access(folder.path("state/queue.broken"), F_OK) == 0)
            #expect(access(folder.path("state/queue.broken.2"), F_OK) == 0)
            #expect(access(folder.path("state/place.broken"), F_OK) == 0)
        }
    }
}
