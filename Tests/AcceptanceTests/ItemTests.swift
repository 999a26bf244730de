import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// From item to item: boundaries, formats, faults; without a sound server.
    @Suite(.timeLimit(.minutes(5))) struct ItemTests {
        @Test("what comes next is known beforehand, with the instant when it is heard")
        func upcoming() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            var items = daemon.silences(0.4, 0.3, 0.3).arrayValue ?? []
            items[1] = ["uri": items[1], "title": "Second", "artist": "Somebody"]
            client.call("queue.add", ["items": .array(items), "play": true])
            let play = client.event("play")
            #expect(play["upcoming"]?["itemId"] == 2)
            #expect(play["upcoming"]?["title"] == "Second")
            #expect(play["upcoming"]?["artist"] == "Somebody")
            var latest = play
            for item in 2...3 {
                let track = client.event("track")
                #expect(track["reason"] == "ended")
                #expect(track.itemID == Int64(item))
                #expect(track.elapsed == 0)
                #expect(track.rate == 1)
                let expected = latest["upcoming"]?["monotonic"]?.doubleValue ?? 0
                #expect(abs(track.monotonic - expected) < 0.002, "\(track.monotonic - expected)")
                latest = track
            }
            #expect(latest["upcoming"] == .null)
            let begin = ProcessorWaits(of: [daemon.process.pid])
            let stop = client.event("stop")
            let waited = ProcessorWaits(of: [daemon.process.pid]).seconds(since: begin)
            #expect(stop.words == "stop ended")
            #expect(stop["item"] == .null)
            #expect(stop["queue"]?["index"] == .null)
            #expect(stop["queue"]?["count"] == 3)
            let late = stop.monotonic - latest.monotonic - 0.3
            #expect(abs(late) < 0.05 + waited, "\(late), waited \(waited) s")
        }

        @Test("an item of another format follows; each item has its own")
        func otherFormat() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let formats: [(rate: Int, channels: Int, bits: Int)] = [
                (44100, 2, 16), (48000, 2, 24), (8000, 1, 8), (96000, 6, 32), (96000, 6, 32),
            ]
            let files = formats.indices.map { index in
                let (rate, channels, bits) = formats[index]
                let material = AudioMaterial.noise(
                    frames: rate / 4, sampleRate: rate, channels: channels, bits: bits)
                return JSONValue.string(daemon.folder.write(material.wave(), "\(index).wav"))
            }
            client.call("queue.add", ["items": .array(files), "play": true])
            var last = client.event("play")
            for (index, format) in formats.enumerated() {
                if index > 0 {
                    let track = client.event("track", "stop")
                    #expect(track.words == "track ended")
                    // Never before its turn; a busy machine opens the next output late, which the clock shows.
                    let late = track.monotonic - last.monotonic + last.elapsed - 0.25
                    #expect((-0.03..<0.5).contains(late), "late by \(late) s")
                    last = track
                }
                let found = last["item"]?["format"]
                #expect(last.itemID == Int64(index + 1))
                #expect(found?["sampleRate"]?.integerValue == Int64(format.rate))
                #expect(found?["channels"]?.integerValue == Int64(format.channels))
                #expect(found?["bitsPerSample"]?.integerValue == Int64(format.bits))
                #expect(last["item"]?["duration"] == 0.25)
            }
            #expect(client.event("track", "stop").words == "stop ended")
        }

        @Test("what can't be played is an error in words, and the queue moves on")
        func faults() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let folder = daemon.folder
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let good = folder.silence("good.wav", seconds: 0.2)
            let flac = AudioMaterial.noise(frames: 20000).flac()
            let missing = folder.silence("missing.wav", seconds: 1)
            let bad = [
                folder.write(Array("This is no FLAC file.\n".utf8), "text.flac"), folder.write([], "empty.wav"),
                folder.write(Array(flac[..<30]), "truncated.flac"), missing,
                folder.write([UInt8](repeating: 0x55, count: 100_000), "noise.wav"),
            ]
            for path in bad {
                let items: JSONValue = [.string(good), .string(path), .string(good)]
                let ids = client.call("queue.add", ["items": items])?["ids"]?.arrayValue ?? []
                try #require(ids.count == 3)
                if path == missing { unlink(missing) }
                client.call("play")
                let error = client.event("error", "stop")
                #expect(error["error"]?["itemId"] == ids[1], "\(path)")
                #expect(error["error"]?["uri"] == .string("file://" + path), "\(path)")
                #expect(error["error"]?["count"] == 1, "\(path)")
                #expect(error["error"]?["status"] == "noSuchContent")
                #expect((error["error"]?["message"]?.stringValue ?? "").count > 10, "\(path) \(error)")
                let track = client.event("track", "stop")
                #expect(track["item"]?["id"] == ids[2], "\(path)")
                let stop = client.event("stop")
                #expect(stop.words == "stop ended", "\(path)")
                #expect(stop["error"] == .null)
                client.call("queue.clear")
                _ = client.events()
            }
            // Like the first one: the requester gets an error, and the next item plays.
            client.call("queue.add", ["items": [.string(bad[0]), .string(good)]])
            #expect(client.refusal("play") == "100")
            let rest = client.events(until: "stop ended")
            #expect(rest == ["queue", "error", "play", "stop ended"])
        }

        @Test("after five failures in a row play stops at the first of them", arguments: [0, 1])
        func manyFailures(_ goodOnes: Int) async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            let text = JSONValue.string(daemon.folder.write(Array("no sound".utf8), "text.flac"))
            let good = JSONValue.string(daemon.folder.silence("good.wav", seconds: 0.2))
            let items = Array(repeating: good, count: goodOnes) + Array(repeating: text, count: 9) + [good]
            client.call("queue.add", ["items": .array(items)])
            client.call("nowPlaying.subscribe")
            client.send("play")
            let error = client.event("error", "stop")
            #expect(error["error"]?["count"] == 5)
            #expect(error["error"]?["itemId"]?.integerValue == Int64(goodOnes + 5))
            let stop = client.event("error", "track", "stop")
            #expect(stop.words == "stop error")
            #expect(stop.itemID == Int64(goodOnes + 1))
            #expect(stop.elapsed == 0)
            #expect(client.events() == [])
        }

        @Test("the file output has exactly the samples, one file per run of equal format")
        func fileOutput() async throws {
            let folder = TemporaryFolder()
            let daemon = await RealDaemon.start(
                nil, output: "file:" + folder.path("out.wav"), in: folder, readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let parts = [
                AudioMaterial.noise(frames: 20000, seed: 1), AudioMaterial.noise(frames: 1, seed: 2),
                AudioMaterial.noise(frames: 12345, seed: 3),
                AudioMaterial.noise(frames: 10000, sampleRate: 48000, bits: 24, seed: 4),
                AudioMaterial.noise(frames: 5000, seed: 5),
            ]
            let files = parts.indices.map {
                JSONValue.string(folder.write($0 % 2 == 0 ? parts[$0].flac() : parts[$0].wave(), "\($0).audio"))
            }
            client.call("queue.add", ["items": .array(files), "play": true])
            #expect(client.event("stop").words == "stop ended")
            let first = parts[0].int16 + parts[1].int16 + parts[2].int16
            #expect(samples(folder.read("out.wav")) == first.flatMap { bytes($0) })
            #expect(samples(folder.read("out-2.wav")) == parts[3].int24)
            #expect(samples(folder.read("out-3.wav")) == parts[4].int16.flatMap { bytes($0) })
            #expect(folder.read("out-4.wav").isEmpty)
            #expect(daemon.stop() == 0)
        }
    }
}
