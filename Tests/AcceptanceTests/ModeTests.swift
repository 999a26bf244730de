import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Repeating and shuffling, without a sound server.
    @Suite(.timeLimit(.minutes(5))) struct ModeTests {
        @Test("an item that is repeated joins itself to the sample, until it is not repeated any more")
        func repeatOne() async throws {
            let folder = TemporaryFolder()
            let daemon = await RealDaemon.start(
                nil, output: "file:" + folder.path("out.wav"), in: folder, readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe", ["causes": ["track", "stop", "mode"]])
            let material = AudioMaterial.noise(frames: 30000, seed: 1)
            let last = AudioMaterial.noise(frames: 5000, seed: 2)
            let files = [folder.write(material.flac(), "a.flac"), folder.write(last.flac(), "b.flac")]
            client.call("changeRepeatMode", ["mode": "one"])
            #expect(client.event("mode")["repeatMode"] == "one")
            client.call("queue.add", ["items": .array(files.map(JSONValue.string)), "play": true])
            for play in 2...4 {
                let event = client.event("track")
                #expect(event.itemID == 1)
                #expect(event["item"]?["play"]?.integerValue == Int64(play))
                #expect(event["upcoming"]?["itemId"] == 1)
            }
            #expect(client.call("changeRepeatMode", ["mode": "off"]) != nil)
            #expect(client.event("mode")["repeatMode"] == "off")
            #expect(client.event("stop").words == "stop ended")
            let written = samples(folder.read("out.wav"))
            let once = material.int16.flatMap { bytes($0) }
            let times = (written.count - 4 * 5000) / once.count
            #expect(times >= 4)
            let expected = (0..<times).flatMap { _ in once } + last.int16.flatMap { bytes($0) }
            #expect(zip(written, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset == nil)
            #expect(written.count == expected.count)
        }

        @Test("what follows is taken away and something else comes instead, long after all was decoded")
        func follower() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe", ["causes": ["play", "track", "stop", "stall"]])
            client.call("queue.add", ["items": daemon.silences(2, 2), "play": true])
            #expect(client.event().words == "play")
            for id in 2...3 {
                client.call("queue.remove", ["ids": [.integer(Int64(id))]])
                client.call("queue.add", ["items": daemon.silences(2)])
            }
            #expect(client.event().words == "track ended")
            #expect(client.call("nowPlaying.get")?.itemID == 4)
            #expect(client.event().words == "stop ended")
        }

        @Test("the state names the item that follows, playing or not, unless play ends before it")
        func upcoming() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            func upcoming() -> JSONValue? { client.call("nowPlaying.get")?["upcoming"] }
            client.call("queue.add", ["items": daemon.silences(60, 60, 60), "play": true])
            #expect(upcoming()?["itemId"] == 2 && upcoming()?["monotonic"] != nil)
            for command in ["pause", "stop"] {
                client.call(command)
                #expect(upcoming()?["itemId"] == 2 && upcoming()?["monotonic"] == nil && upcoming()?["wall"] == nil)
            }
            client.call("changeSingleMode", ["mode": "on"])
            #expect(upcoming() == .null)
            client.call("changeSingleMode", ["mode": "off"])
            client.call("changeShuffleMode", ["mode": "items"])
            let next = upcoming()?["itemId"]
            client.call("nextTrack")
            #expect(next != nil && client.call("nowPlaying.get")?["item"]?["id"] == next)
            client.call("changeShuffleMode", ["mode": "off"])
            client.call("play", ["index": 1])
            client.call("sleep.set", ["after": 30])
            #expect(upcoming() == .null)
            client.call("sleep.set", ["after": 90])
            #expect(upcoming()?["itemId"] == 3)
        }

        @Test("previousTrack goes to the item before, however much of this one has played")
        func previousItem() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("queue.add", ["items": daemon.silences(60, 60, 60)])
            client.call("play", ["index": 2, "position": 30])
            client.call("previousTrack")
            #expect(client.call("nowPlaying.get")?.itemID == 3)
            client.call("changePlaybackPosition", ["position": 30])
            client.call("previousTrack", ["restart": false])
            #expect(client.call("nowPlaying.get")?.itemID == 2)
            client.call("changePlaybackPosition", ["position": 30])
            client.call("previousTrack", ["restart": true])
            #expect(client.call("nowPlaying.get")?.itemID == 2)
        }

        @Test("some items are shuffled among their indices, the others stay")
        func shuffleSome() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("queue.add", ["items": daemon.silences(60, 60, 60, 60, 60, 60, 60, 60), "play": true])
            client.call("play", ["index": 4])
            #expect(client.refusal("queue.shuffle", ["ids": [2, 99]]) == "100 noSuchItem")
            var firsts: Set<Int64> = []
            for _ in 0..<40 {
                client.call("queue.shuffle", ["ids": [2, 3, 5, 7]])
                let ids = (client.call("queue.list")?["items"]?.arrayValue ?? []).compactMap { $0["id"]?.integerValue }
                #expect([0, 3, 5, 7].map { ids[$0] } == [1, 4, 6, 8])
                #expect(ids[1] == 5 && Set(ids) == Set(1...8))
                firsts.insert(ids[2])
            }
            #expect(firsts == [2, 3, 7])
        }

        @Test("items of a higher priority come first while the order is shuffled, also after the daemon was killed")
        func priorities() async throws {
            let first = await RealDaemon.silent(readsTitles: false)
            var client = first.connect()
            func upcoming() -> JSONValue? { client.call("nowPlaying.get")?["upcoming"]?["itemId"] }
            client.call("queue.add", ["items": first.silences(60, 60, 60, 60, 60, 60), "play": true])
            client.call("queue.prioritize", ["ids": [5], "priority": 7])
            #expect(upcoming() == 2)
            client.call("changeShuffleMode", ["mode": "items"])
            #expect(upcoming() == 5)
            client.call("queue.prioritize", ["ids": [6, 3], "priority": 200])
            let next = upcoming()
            #expect(next == 6 || next == 3)
            #expect(client.refusal("queue.prioritize", ["ids": [6, 99], "priority": 1]) == "100 noSuchItem")
            #expect(client.refusal("queue.prioritize", ["ids": [6], "priority": 256]) == "-32602")
            client.call("queue.prioritize", ["ids": [6], "priority": 0])
            #expect(upcoming() == 3)
            #expect(client.call("queue.get", ["id": 3])?["priority"] == 200)
            first.process.signal(SIGKILL)
            first.process.wait()
            let second = await RealDaemon.start(nil, output: "null", in: first.folder, readsTitles: false)
            client = second.connect()
            #expect(upcoming() == 3)
            let listed = client.call("queue.list", ["fields": ["id", "priority"]])?["items"]?.arrayValue ?? []
            #expect(listed.compactMap { $0["priority"]?.integerValue } == [200, 7])
            client.call("nextTrack")
            #expect(upcoming() == 5)
        }

        @Test("items that were played leave the queue, and the mode outlives the daemon")
        func consumed() async throws {
            let first = await RealDaemon.silent(readsTitles: false)
            let client = first.connect()
            client.call("changeConsumeMode", ["mode": "on"])
            client.call("nowPlaying.subscribe", ["causes": ["track", "stop"]])
            client.call("queue.add", ["items": first.silences(0.3, 0.3, 60, 60), "play": true])
            for (id, count) in [(2, 3), (3, 2)] as [(Int64, Int64)] {
                let event = client.event("track")
                #expect(event.itemID == id && event["reason"] == "ended" && event["queue"]?["count"] == .integer(count))
                #expect(event["queue"]?["index"] == 0)
            }
            client.call("play", ["index": 1])
            client.call("previousTrack")
            #expect(client.call("queue.list")?["items"]?.arrayValue?.count == 2)
            first.process.signal(SIGKILL)
            first.process.wait()
            let second = await RealDaemon.start(nil, output: "null", in: first.folder, readsTitles: false)
            let other = second.connect()
            let state = try #require(other.call("nowPlaying.get"))
            #expect(state["consumeMode"] == "on" && state.itemID == 3)
            other.call("nowPlaying.subscribe", ["causes": ["mode", "stop"]])
            other.call("changeConsumeMode", ["mode": "once"])
            #expect(other.event("mode")["consumeMode"] == "once")
            other.call("nextTrack")
            #expect(other.event("mode")["consumeMode"] == "off")
            other.call("nextTrack")
            #expect(other.event("stop")["queue"]?["count"] == 1)
        }

        @Test("playback pauses at the first sample of the item that follows, and resumes with it")
        func single() async throws {
            let folder = TemporaryFolder()
            let daemon = await RealDaemon.start(
                nil, output: "file:" + folder.path("out.wav"), in: folder, readsTitles: false)
            let client = daemon.connect()
            let sounds = (1...3).map { AudioMaterial.noise(frames: 20000, seed: $0) }
            let files = sounds.enumerated().map { folder.write($0.element.flac(), "\($0.offset).flac") }
            client.call("changeSingleMode", ["mode": "on"])
            client.call("nowPlaying.subscribe", ["causes": ["track", "stop", "mode", "play"]])
            client.call("queue.add", ["items": .array(files.map(JSONValue.string)), "play": true])
            #expect(client.event().words == "play")
            for id in 2...3 as ClosedRange<Int64> {
                let event = client.event()
                #expect(event.words == "track ended" && event.itemID == id && event.playing == "paused")
                #expect(event.elapsed == 0 && event["anchor"]?["rate"] == 0 && event["upcoming"] == .null)
                if id == 3 {
                    client.call("changeSingleMode", ["mode": "once"])
                    #expect(client.event().words == "mode")
                }
                client.call("play")
                #expect(client.event().words == "play")
            }
            let end = client.event()
            #expect(end.words == "stop ended" && end["singleMode"] == "off")
            #expect(client.event().words == "mode")
            let written = samples(folder.read("out.wav"))
            #expect(written == sounds.flatMap { $0.int16.flatMap { bytes($0) } })
        }

        @Test("modes are published, and next, previous and the natural order follow them")
        func modes() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            #expect(client.refusal("changeRepeatMode", ["mode": "twice"]) == "-32602")
            #expect(client.refusal("changeShuffleMode") == "-32602")
            client.call("queue.add", ["items": daemon.silences(60, 60, 60, 60, 60), "play": true])
            client.call("changeRepeatMode", ["mode": "all"])
            client.call("changeRepeatMode", ["mode": "all"])
            client.call("changeShuffleMode", ["mode": "items"])
            #expect(client.events() == ["queue", "play", "mode", "mode"])
            let commands = client.call("commands.list")?["commands"]?.arrayValue ?? []
            #expect(commands.contains { $0["command"] == "changeRepeatMode" && $0["currentRepeatMode"] == "all" })
            #expect(commands.contains { $0["command"] == "changeShuffleMode" && $0["currentShuffleMode"] == "items" })
            var heard: [Int64] = [1]
            for _ in 0..<9 {
                let announced = client.call("nowPlaying.get")?["upcoming"]?["itemId"]?.integerValue
                client.call("nextTrack")
                let state = try #require(client.call("nowPlaying.get"))
                #expect(state.itemID == announced)
                heard.append(state.itemID ?? 0)
            }
            #expect(Set(heard[..<5]).count == 5)
            #expect(Set(heard[5...]).count == 5)
            for before in heard[..<9].reversed() {
                client.call("previousTrack")
                #expect(client.call("nowPlaying.get")?.itemID == before)
            }
            client.call("changeShuffleMode", ["mode": "off"])
            client.call("play", ["index": 4])
            #expect(client.call("nowPlaying.get")?["upcoming"]?["itemId"] == 1)
            client.call("changeRepeatMode", ["mode": "off"])
            #expect(client.call("nowPlaying.get")?["upcoming"] == .null)
        }
    }
}
