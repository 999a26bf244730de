import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Pictures, from the file to the client.
    @Suite(.timeLimit(.minutes(2))) struct ArtworkTests {
        private func picture(_ folder: TemporaryFolder, _ name: String, _ size: Int) -> [UInt8] {
            let words = ["-v", "error", "-y", "-f", "lavfi", "-i", "testsrc=size=\(size)x\(size)", "-frames:v", "1"]
            #expect(AudioMaterial.run("ffmpeg", words + [folder.path(name)]) == 0)
            return folder.read(name)
        }

        @Test("found late it is one event, found before it comes with the track; the same picture has one id")
        func album() async throws {
            let folder = TemporaryFolder()
            let cover = picture(folder, "cover.png", 40)
            let daemon = await RealDaemon.start(
                nil, output: "null", in: folder, ["--config", folder.write(conf(folder), "conf")])
            let client = daemon.connect()
            client.call("nowPlaying.subscribe", ["causes": ["play", "track", "metadata"]])
            let files = (1...3).map { JSONValue.string(folder.silence("\($0).wav", seconds: 60)) }
            client.call("queue.add", ["items": .array(files), "play": true])
            let play = client.event("play")
            #expect(play["item"]?["artwork"]?.arrayValue == nil)
            let found = client.event("metadata")
            let id = try #require(found["item"]?["artwork"]?.arrayValue?.first?["id"]?.stringValue)
            #expect(
                found["item"]?["artwork"]?.arrayValue?.first == [
                    "id": .string(id), "kind": "image", "aspect": "1:1", "width": 40, "height": 40, "type": "image/png",
                ])
            let answer = try #require(client.call("artwork.get", ["id": .string(id), "width": 20, "height": 20]))
            let path = try #require(answer["path"]?.stringValue)
            #expect(path.hasPrefix(folder.path("cache/artwork/")))
            #expect(folder.read(String(path.dropFirst(folder.path.count + 1))) == cover)
            // It stays what it was, whatever becomes of the file.
            unlink(folder.path("cover.png"))
            #expect(client.call("artwork.get", ["id": .string(id)])?["path"]?.stringValue == path)
            #expect(client.refusal("artwork.get", ["id": "0"]) == "100 noArtwork")
            #expect(client.refusal("artwork.get", ["id": .string(id), "kind": "video"]) == "100 noArtwork")
            #expect(client.refusal("artwork.get", ["id": .string(id), "width": 0]) == "-32602")
            #expect(daemon.stop() == 0)
        }

        @Test("a hundred skips in a row end with the picture of the item that stays") func skips() async throws {
            let folder = TemporaryFolder()
            var sizes: [Int] = []
            var files: [JSONValue] = []
            for number in 0..<6 {
                mkdir(folder.path("\(number)"), 0o755)
                sizes.append(10 + number)
                _ = picture(folder, "\(number)/folder.jpg", 10 + number)
                files.append(.string(folder.silence("\(number)/a.wav", seconds: 60)))
            }
            let daemon = await RealDaemon.start(nil, output: "null", in: folder)
            let client = daemon.connect()
            client.call("queue.add", ["items": .array(files), "play": true])
            client.call("changeRepeatMode", ["mode": "all"])
            for _ in 0..<100 { client.send("nextTrack") }
            client.call("pause")
            // What is shown in the end has its own picture.
            #expect(
                becomes {
                    let state = client.call("nowPlaying.get")
                    let index = state?["queue"]?["index"]?.integerValue ?? 0
                    return state?.playing == "paused"
                        && state?["item"]?["artwork"]?.arrayValue?.first?["width"]?.integerValue
                            == Int64(sizes[Int(index)])
                })
            #expect(daemon.stop() == 0)
        }

        private func conf(_ folder: TemporaryFolder) -> [UInt8] {
            Array("[daemon]\ncache-directory = \(folder.path("cache"))\n".utf8)
        }
    }
}
