import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Listeners' opinions of items, and resumption.
    @Suite(.timeLimit(.minutes(5))) struct OpinionTests {
        private func noise(_ folder: TemporaryFolder, _ name: String, seconds: Int, seed: UInt64 = 1) -> String {
            folder.write(AudioMaterial.noise(frames: 8000 * seconds, sampleRate: 8000, seed: seed).wave(), name)
        }

        @Test("likes, ratings and bookmarks are kept for a file wherever it lies, and play goes on at the bookmark")
        func kept() async throws {
            let folder = TemporaryFolder()
            let path = noise(folder, "a.wav", seconds: 20)
            let first = await RealDaemon.start(nil, output: "null", in: folder)
            let client = first.connect()
            client.call("nowPlaying.subscribe")
            for command in ["like", "dislike", "bookmark"] { #expect(client.refusal(command) == "110") }
            client.call("queue.add", ["items": [.string(path)], "play": true])
            _ = client.event("play")
            let version = client.call("commands.list")?["version"]
            #expect(client.call("like")?["status"] == "success")
            let liked = client.event("feedback", "metadata", "commands")
            #expect(liked.words == "feedback")
            #expect(liked["item"]?["isLiked"] == true)
            #expect(liked["commandsVersion"] != version)
            client.call("dislike")
            let disliked = client.event("feedback")
            #expect(disliked["item"]?["isLiked"] == false)
            #expect(disliked["item"]?["isDisliked"] == true)
            client.call("rating", ["rating": 4])
            #expect(client.event("feedback")["item"]?["rating"]?.doubleValue == 4)
            #expect(client.refusal("rating", ["rating": 6]) == "-32602")
            // A value that holds already causes no event.
            client.call("rating", ["rating": 4])
            client.call("changePlaybackPosition", ["position": 12])
            client.call("pause")
            client.call("bookmark")
            let events = ["seek", "pause", "feedback"].map { _ in client.event("seek", "pause", "feedback") }
            #expect(events.map(\.words) == ["seek", "pause", "feedback"])
            let place = try #require(events[2]["item"]?["bookmark"]?.doubleValue)
            #expect(place >= 12 && place < 15)
            let commands = client.call("commands.list")?["commands"]?.arrayValue ?? []
            #expect(commands.first { $0["command"] == "bookmark" }?["isActive"] == true)
            #expect(commands.first { $0["command"] == "like" }?["isActive"] == false)
            client.call("queue.clear")
            first.stop()
            let moved = folder.path("moved.wav")
            #expect(rename(path, moved) == 0)
            let second = await RealDaemon.start(nil, output: "null", in: folder)
            let other = second.connect()
            other.call("nowPlaying.subscribe")
            let asked = now()
            other.call("queue.add", ["items": [.string(moved)], "play": true])
            let play = other.event("play")
            #expect(play.goesOn(from: place, after: asked), "\(play.elapsed) \(place)")
            let found = play["item"]?["rating"] == nil ? other.event("metadata") : play
            #expect(found["item"]?["rating"]?.doubleValue == 4)
            #expect(found["item"]?["isDisliked"] == true)
            // A place that is asked for is not overruled.
            other.call("play", ["itemId": found["item"]?["id"] ?? .null, "position": 0])
            #expect(other.event("track").elapsed < 0.001)
            other.call("bookmark", ["active": false])
            #expect(other.event("feedback")["item"]?["bookmark"] == nil)
            other.call("play", ["uri": .string(moved)])
            #expect(other.event("track").elapsed < 0.001)
        }

        @Test("what is heard and skipped is counted, and an item that was left in the middle goes on there")
        func counted() async throws {
            let folder = TemporaryFolder()
            let configuration = folder.write(Array("[playback]\nresume-from = 60\n".utf8), "nowplayingd.conf")
            let daemon = await RealDaemon.start(nil, output: "null", in: folder, ["--config", configuration])
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let short = noise(folder, "short.wav", seconds: 1)
            let long = noise(folder, "long.wav", seconds: 100, seed: 2)
            let end = noise(folder, "end.wav", seconds: 30, seed: 3)
            client.call("queue.add", ["items": [.string(short), .string(long), .string(end)], "play": true])
            client.call("changeRepeatMode", ["mode": "one"])
            // The second time it has played once, published with its event.
            let again = client.event("track")
            #expect(again["item"]?["play"] == 2)
            #expect(again["item"]?["playCount"] == 1)
            #expect(again["item"]?["lastPlayed"]?.doubleValue != nil)
            client.call("changeRepeatMode", ["mode": "off"])
            #expect(client.event("track").itemID == 2)
            client.call("changePlaybackPosition", ["position": 40])
            client.call("nextTrack")
            #expect(client.event("track").itemID == 3)
            client.call("previousTrack")
            let back = client.event("track")
            #expect(back.itemID == 2)
            #expect(abs(back.elapsed - 40) < 2)
            #expect(back["item"]?["skipCount"] == 1)
            #expect(back["item"]?["playCount"] == 0)
            // From the item's start, if the request is for that. The event is late by the daemon's wait for a processor.
            let before = ProcessorWaits(of: [daemon.process.pid])
            client.call("previousTrack")
            let begun = client.event("track").elapsed
            let waited = ProcessorWaits(of: [daemon.process.pid]).seconds(since: before)
            #expect(begun < 0.001 + waited, "\(begun), waited \(waited) s")
            // Paused, it is prepared where it goes on.
            client.call("changePlaybackPosition", ["position": 50])
            client.call("pause")
            client.call("nextTrack")
            #expect(client.event("track").itemID == 3)
            client.call("previousTrack")
            let paused = client.event("track")
            #expect(paused.playing == "paused")
            #expect(abs(paused.elapsed - 50) < 2)
        }

        @Test("an item that was left in the middle after a restart goes on there")
        func leftAfterRestart() async throws {
            let folder = TemporaryFolder()
            let configuration = folder.write(Array("[playback]\nresume-from = 60\n".utf8), "nowplayingd.conf")
            let long = noise(folder, "long.wav", seconds: 100, seed: 2)
            let end = noise(folder, "end.wav", seconds: 30, seed: 3)
            var daemon = await RealDaemon.start(nil, output: "null", in: folder, ["--config", configuration])
            var client = daemon.connect()
            client.call("queue.add", ["items": [.string(long), .string(end)], "play": true])
            client.call("changePlaybackPosition", ["position": 40])
            client.call("pause")
            #expect(daemon.stop() == 0)
            daemon = await RealDaemon.start(nil, output: "null", in: folder, ["--config", configuration])
            client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("nextTrack")
            #expect(client.event("track").itemID == 2)
            client.call("previousTrack")
            let back = client.event("track")
            #expect(back.itemID == 1)
            #expect(abs(back.elapsed - 40) < 2, "\(back)")
            #expect(daemon.stop() == 0)
        }

        @Test("a daemon that is killed while it remembers has all that it answered")
        func killed() async throws {
            let folder = TemporaryFolder()
            let path = noise(folder, "a.wav", seconds: 60)
            var last = 0
            for round in 1...repetitions(4, nightly: 100) {
                let daemon = await RealDaemon.start(nil, output: "null", in: folder)
                let client = daemon.connect()
                if round == 1 { client.call("queue.add", ["items": [.string(path)]]) }
                client.call("play")
                let count = 5 + round * 7 % 23
                var answered = last
                var pending: [Int] = []
                for number in 1...count {
                    pending.append(client.send("rating", ["rating": .number(Double((last + number) % 41) / 8)]))
                }
                for number in 1...(count - 3) {
                    if client.answer(pending[number - 1])["result"] != nil { answered = last + number }
                }
                daemon.process.signal(SIGKILL)
                daemon.process.wait()
                let second = await RealDaemon.start(nil, output: "null", in: folder)
                let reader = second.connect()
                reader.call("nowPlaying.subscribe")
                reader.call("play")
                var state = reader.call("nowPlaying.get") ?? .null
                while state["item"]?["rating"] == nil { state = reader.event() }
                let rating = try #require(state["item"]?["rating"]?.doubleValue)
                let allowed = (answered...(last + count)).map { Double($0 % 41) / 8 }
                #expect(allowed.contains(rating), "round \(round): \(rating) of \(allowed)")
                last = answered
                second.stop()
            }
            #expect(access(folder.path("state/feedback.db.broken"), F_OK) != 0)
        }

        @Test("a disk that takes nothing costs what is said, and no sound", .enabled(if: MountedDisk.isAllowed))
        func full() async throws {
            let folder = TemporaryFolder()
            let disk = try #require(MountedDisk(in: folder))
            let path = noise(folder, "a.wav", seconds: 60)
            let daemon = await RealDaemon.start(
                nil, output: "null", in: folder, ["--state-directory", disk.path + "/state"])
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("queue.add", ["items": [.string(path)], "play": true])
            client.call("rating", ["rating": 1])
            #expect(AudioMaterial.run("sh", ["-c", "cat /dev/zero >\(disk.path)/full 2>/dev/null; true"]) == 0)
            // The last of it may still take one or the other.
            var refusal = ""
            for number in 0..<400 where refusal.isEmpty {
                refusal = client.refusal("rating", ["rating": .number(Double(number % 41) / 8)])
            }
            #expect(refusal == "200 unavailable")
            #expect(client.call("nowPlaying.get")?["state"] == "playing")
            unlink(disk.path + "/full")
            #expect(client.call("like")?["status"] == "success")
            #expect(client.call("nowPlaying.get")?["item"]?["isLiked"] == true)
            disk.pull()
            #expect(client.refusal("dislike") == "200 unavailable")
            #expect(client.call("nowPlaying.get")?["item"]?["isLiked"] == true)
            #expect(client.call("pause")?["state"] == "paused")
            daemon.stop()
        }
    }
}
