import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Lossy files and chains in the real daemon; without a sound server.
    @Suite(.timeLimit(.minutes(5))) struct CodecTests {
        private func vorbis(
            _ folder: TemporaryFolder, frames: Int, sampleRate: Int = 48_000, serial: Int, title: String
        ) throws -> [UInt8] {
            let wave = folder.write(AudioMaterial.waves(frames: frames, sampleRate: sampleRate).wave(), "a.wav")
            let words = ["-Q", "--serial", "\(serial)", "-t", title, "-o", folder.path("a.ogg"), wave]
            try #require(AudioMaterial.run("oggenc", words) == 0)
            return folder.read("a.ogg")
        }

        @Test("compressed samples in a WAV file are refused in words where nowplaying-decode is missing")
        func compressedSamples() async throws {
            let folder = TemporaryFolder()
            // A daemon that is alone in its folder.
            try #require(AudioMaterial.run("cp", [RealDaemon.program, folder.path("nowplayingd")]) == 0)
            let alone = ["sh", "-c", "shift; exec \"$0\" \"$@\"", folder.path("nowplayingd")]
            let daemon = await RealDaemon.start(nil, output: "null", in: folder, before: alone)
            let client = daemon.connect()
            let wave = folder.write(AudioMaterial.waves(frames: 8000, sampleRate: 8000, channels: 1).wave(), "a.wav")
            for (name, coder) in [("gsm.wav", "libgsm_ms"), ("mp3.wav", "libmp3lame")] {
                let words = ["-v", "error", "-nostdin", "-y", "-i", wave, "-c:a", coder, folder.path(name)]
                try #require(AudioMaterial.run("ffmpeg", words) == 0)
                let answer = client.answer(client.send("play", ["uri": .string(folder.path(name))]))
                let refusal = answer["error"]?["message"]?.stringValue ?? ""
                #expect(
                    refusal.contains("its WAV header names compressed samples: this build has no nowplaying-decode"),
                    "\(answer)")
            }
            #expect(client.call("play", ["uri": .string(wave)])?.playing == "playing")
            #expect(daemon.stop() == 0)
        }

        @Test("the tags of the next link are published when it is audible, and follow the position") func chain()
            async throws
        {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let first = try vorbis(daemon.folder, frames: 38_400, serial: 1, title: "First")
            let second = try vorbis(daemon.folder, frames: 48_000, serial: 2, title: "Second")
            let path = daemon.folder.write(first + second, "chain.ogg")
            client.call("queue.add", ["items": [.string(path)], "play": true])
            let play = client.event("play")
            let processes = [daemon.process.pid, getpid()]
            let begin = ProcessorWaits(of: processes)
            #expect(play["item"]?["title"] == "First")
            #expect(abs((play["item"]?["duration"]?.doubleValue ?? 0) - 1.8) < 1e-6)
            let change = client.event("metadata")
            let heard = clockSeconds()
            let waited = ProcessorWaits(of: processes).seconds(since: begin)
            #expect(change["item"]?["title"] == "Second")
            #expect(change.itemID == 1)
            // 0.8 s after the beginning, as the clock says.
            let late = heard - (play.monotonic - play.elapsed + 0.8)
            #expect(late > -0.002 && late < 0.05 + waited, "\(late), waited \(waited) s")
            client.call("changePlaybackPosition", ["position": 0.2])
            #expect(client.event("seek")["item"]?["title"] == "First")
            #expect(client.event("metadata")["item"]?["title"] == "Second")
            #expect(client.event("stop").words == "stop ended")
        }

        @Test("a link of another rate goes on in the same item, with its own tags and format") func changingRate()
            async throws
        {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let links = [
                try vorbis(daemon.folder, frames: 38_400, serial: 1, title: "First"),
                try vorbis(daemon.folder, frames: 22_050, sampleRate: 44_100, serial: 2, title: "Second"),
                try vorbis(daemon.folder, frames: 24_000, serial: 3, title: "Third"),
            ]
            let path = daemon.folder.write(Array(links.joined()), "chain.ogg")
            let after = daemon.folder.silence("after.wav", seconds: 0.3)
            client.call("queue.add", ["items": [.string(path), .string(after)], "play": true])
            let play = client.event("play")
            #expect(play["item"]?["title"] == "First")
            #expect(abs((play["item"]?["duration"]?.doubleValue ?? 0) - 1.8) < 1e-4)
            #expect(play["upcoming"]?["itemId"] == 2)
            var last = play
            let processes = [daemon.process.pid]
            for (title, start, rate) in [("Second", 0.8, 44_100), ("Third", 1.3, 48_000)] {
                let begin = ProcessorWaits(of: processes)
                let change = client.event("metadata", "track", "stop")
                #expect(change.words == "metadata")
                #expect(change["item"]?["title"] == .string(title))
                #expect(change["item"]?["format"]?["sampleRate"]?.integerValue == Int64(rate))
                #expect(change.itemID == 1)
                #expect(change["item"]?["play"] == play["item"]?["play"])
                #expect(abs(change.elapsed - start) < 1e-4)
                // As late as the clock said before, but for the opening of a stream.
                let late = last.position(at: change.monotonic) - start
                let waited = ProcessorWaits(of: processes).seconds(since: begin)
                #expect(abs(late) < 0.03 + waited, "\(late), waited \(waited) s")
                last = change
            }
            client.call("changePlaybackPosition", ["position": 1.0])
            #expect(client.event("seek", "metadata")["item"]?["title"] == "Second")
            #expect(client.event("metadata", "track")["item"]?["title"] == "Third")
            #expect(client.event("metadata", "track").words == "track ended")
            client.call("play", ["itemId": 1])
            #expect(client.event("track", "play")["item"]?["title"] == "First")
            #expect(client.event("metadata", "stop")["item"]?["title"] == "Second")
            #expect(client.event("metadata", "stop")["item"]?["title"] == "Third")
            #expect(client.event("stop").words == "stop ended")
        }

        @Test("an unknown length is counted and published") func countedLength() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let wave = daemon.folder.write(AudioMaterial.waves(frames: 441_000).wave(), "a.wav")
            // Ten minutes in two halves of different rate: any estimate is wrong, and they are too long to be counted at once.
            for (name, rate) in [("a", "32k"), ("b", "320k")] {
                let words = [
                    "-y", "-i", wave, "-c:a", "libmp3lame", "-write_xing", "0", "-b:a", rate,
                    daemon.folder.path("\(name).mp3"),
                ]
                try #require(AudioMaterial.run("ffmpeg", words) == 0)
            }
            let bytes =
                [[UInt8]](repeating: daemon.folder.read("a.mp3"), count: 100).flatMap { $0 }
                + [[UInt8]](repeating: daemon.folder.read("b.mp3"), count: 100).flatMap { $0 }
            let path = daemon.folder.write(bytes, "long.mp3")
            client.call("queue.add", ["items": [.string(path)], "play": true])
            var state = client.event("play")
            var duration = state["item"]?["duration"]?.doubleValue ?? 0
            // 200 times 10 s, and the encoder's padding each time.
            if abs(duration - 2009) > 10 {
                state = client.event("metadata")
                duration = state["item"]?["duration"]?.doubleValue ?? 0
            }
            #expect(abs(duration - 2009) < 10, "\(duration)")
        }

        @Test("formats are listed") func formats() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let formats = daemon.connect().call("formats.list")?["formats"]?.arrayValue ?? []
            let playing = formats.filter { $0["plays"] == true }.compactMap { $0["name"]?.stringValue }
            for name in ["FLAC", "MP3", "Ogg Vorbis", "Ogg Opus", "WAV"] { #expect(playing.contains(name)) }
            #expect(formats.allSatisfy { $0["package"]?.stringValue?.hasPrefix("lib") == true })
        }
    }
}

/// CLOCK_MONOTONIC in seconds.
private func clockSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
