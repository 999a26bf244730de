import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension Acceptance {
    /// Playlists and cue sheets with the real daemon.
    @Suite(.timeLimit(.minutes(5))) struct PlaylistTests {
        /// Names of titles: a sheet for one file whose tracks begin at these CD frames.
        private func sheet(_ file: String, _ starts: [Int]) -> [UInt8] {
            var text = "TITLE \"Album\"\nPERFORMER Band\nFILE \"\(file)\" WAVE\n"
            for (place, start) in starts.enumerated() {
                text += "TRACK \(place + 1) AUDIO\nTITLE T\(place + 1)\n"
                if place > 0 { text += "INDEX 00 \(time(start - 1))\n" }
                text += "INDEX 01 \(time(start))\n"
            }
            return Array(text.utf8)
        }

        private func time(_ frames: Int) -> String { "\(frames / 4500):\(frames / 75 % 60):\(frames % 75)" }

        @Test("the tracks of a cue sheet join without a sample more or less, whatever the file and its rate")
        func tracksJoin() async throws {
            let materials = [
                AudioMaterial.noise(frames: 200_000, seed: 1),
                AudioMaterial.noise(frames: 150_000, sampleRate: 32_000, seed: 2),
            ]
            for (number, material) in materials.enumerated() {
                let folder = TemporaryFolder()
                let daemon = await RealDaemon.start(nil, output: "file:" + folder.path("out.wav"), in: folder)
                let client = daemon.connect()
                client.call("nowPlaying.subscribe")
                _ = folder.write(number == 0 ? material.flac() : material.wave(), "album.audio")
                let cue = folder.write(sheet("album.audio", [0, 1, 77, 130, 131, 300]), "album.cue")
                client.call("queue.add", ["items": [.string(cue)], "play": true])
                #expect(client.event("stop").words == "stop ended")
                let out = folder.read("out.wav")
                #expect(samples(out) == material.int16.flatMap { sample in withUnsafeBytes(of: sample) { Array($0) } })
                let list = try #require(client.call("queue.list")?["items"]?.arrayValue)
                #expect(list.map { $0["title"] } == (1...6).map { .string("T\($0)") })
                #expect(list[1]["uri"] == .string("file://\(cue)#track=2"))
                let frames = number == 0 ? 76.0 * 588 / 44_100 : (32_853.0 - 427) / 32_000
                #expect(abs((list[1]["duration"]?.doubleValue ?? 0) - frames) < 1e-9)
                #expect(daemon.stop() == 0)
            }
        }

        @Test("a track is sought within, has its own length, and its address plays it again")
        func trackIsAnItem() async throws {
            let daemon = await RealDaemon.silent()
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            _ = daemon.folder.write(AudioMaterial.noise(frames: 44_100 * 12, seed: 3).flac(), "album.flac")
            let cue = daemon.folder.write(sheet("album.wav", [0, 225, 600]), "album.cue")
            client.call("play", ["uri": .string("file://\(cue)#track=2")])
            var state = try #require(client.call("nowPlaying.get"))
            #expect(state["item"]?["title"] == "T2")
            #expect(state["item"]?["trackNumber"] == 2)
            #expect(state["item"]?["duration"] == 5)
            #expect(state["item"]?["format"]?["codec"] == "FLAC")
            let answer = client.call("changePlaybackPosition", ["position": 4.5])
            let elapsed = answer?["anchor"]?["elapsed"]?.doubleValue ?? 0
            #expect(elapsed >= 4.5 && elapsed < 4.9)
            #expect(client.refusal("changePlaybackPosition", ["position": 5.5]) == "200 outOfRange")
            #expect(client.event("stop").words == "stop ended")
            client.call("play", ["uri": .string(cue)])
            client.call("nextTrack")
            state = try #require(client.call("nowPlaying.get"))
            #expect(state["item"]?["title"] == "T2")
            #expect(state["upcoming"]?["title"] == "T3")
            #expect(daemon.stop() == 0)
        }

        @Test("another user's lists lead nowhere outside of the media roots", .enabled(if: geteuid() == 0))
        func listsOfOthers() async throws {
            let folder = TemporaryFolder()
            chmod(folder.path, 0o755)
            mkdir(folder.path("music"), 0o777)
            mkdir(folder.path("private"), 0o755)
            let music = folder.write(AudioMaterial.noise(frames: 1000).wave(), "music/a.wav")
            let other = folder.write(AudioMaterial.noise(frames: 1000).wave(), "private/b.wav")
            symlink(other, folder.path("music/link.wav"))
            mkfifo(folder.path("music/fifo.wav"), 0o666)
            let configuration = folder.write(
                Array("[access]\ncontrol-group = 61001\nmedia-roots = \(folder.path("music"))\n".utf8), "c.conf")
            let daemon = await RealDaemon.start(nil, output: "null", in: folder, ["--config", configuration])
            func answer(_ list: String, isStrict: Bool) async -> JSONValue? {
                let path = folder.write(Array(list.utf8), "music/list.m3u")
                let line =
                    #"{"jsonrpc":"2.0","id":1,"method":"queue.add","params":{"items":["\#(path)"],"strict":\#(isStrict)}}"#
                let socket = daemon.socket
                let process = await LoopThread.run {
                    TestProcess(
                        [
                            "setpriv", "--reuid", "65534", "--regid", "65534", "--groups", "61001", "sh", "-c",
                            "printf '%s\n' \"$1\" | nc -U -N -w 10 \"$2\"", "sh", line, socket,
                        ], output: true)
                }
                let answer = try? JSONReader.read(process.readAll().split(separator: "\n").first.map(String.init) ?? "")
                process.wait()
                return answer
            }
            func code(_ list: String) async -> Int64? {
                let answer = await answer(list, isStrict: true)
                return answer?["error"]?["code"]?.integerValue ?? (answer?["result"] == nil ? -1 : 0)
            }
            func missing(_ entry: String) async -> JSONValue? {
                await answer("a.wav\n\(entry)\n", isStrict: false)?["result"]?["missing"]
            }
            #expect(await code("a.wav\n\(music)\n") == 0)
            let outside = [other, folder.path("private/none.wav"), "link.wav", "../private/b.wav", "/etc/passwd"]
            for entry in outside { #expect(await code("a.wav\n\(entry)\n") == 403, "\(entry)") }
            for entry in ["none.wav", "fifo.wav"] { #expect(await code("a.wav\n\(entry)\n") == 100, "\(entry)") }
            #expect(daemon.connect().call("queue.list")?["count"] == 2)
            // Without strict, the rest of the list comes, and one reason stands for all that lies outside.
            var reasons: Set<String?> = []
            for entry in outside {
                let missing = await missing(entry)?.arrayValue ?? []
                #expect(
                    missing.count == 1 && missing.first?["uri"]?.stringValue?.contains("private/") == false, "\(entry)")
                reasons.insert(missing.first?["reason"]?.stringValue)
            }
            #expect(reasons.count == 1 && !reasons.contains(nil))
            #expect(daemon.connect().call("queue.list")?["count"] == .integer(2 + Int64(outside.count)))
            #expect(daemon.stop() == 0)
        }
    }
}
