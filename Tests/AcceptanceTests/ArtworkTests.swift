import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Pictures, from the file to the client.
    @Suite(.timeLimit(.minutes(5))) struct ArtworkTests {
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
                nil, output: "null", in: folder, readsTitles: false, ["--config", folder.write(conf(folder), "conf")])
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
            // The picture stays the same after changes of the file.
            unlink(folder.path("cover.png"))
            #expect(client.call("artwork.get", ["id": .string(id)])?["path"]?.stringValue == path)
            #expect(client.refusal("artwork.get", ["id": "0"]) == "100 noArtwork")
            #expect(client.refusal("artwork.get", ["id": .string(id), "kind": "video"]) == "100 noArtwork")
            #expect(client.refusal("artwork.get", ["id": .string(id), "width": 0]) == "-32602")
            #expect(daemon.stop() == 0)
        }

        @Test("of a hundred skips in a row one has its picture looked for: that of the item that stays")
        func skips() async throws {
            let folder = TemporaryFolder()
            var files: [JSONValue] = []
            for number in 1...103 {
                mkdir(folder.path("\(number)"), 0o755)
                _ = folder.write(Self.gif(number), "\(number)/folder.gif")
                files.append(.string(folder.silence("\(number)/a.wav", seconds: 60)))
            }
            let daemon = await RealDaemon.start(
                nil, output: "null", in: folder, readsTitles: false, ["--config", folder.write(conf(folder), "conf")])
            let client = daemon.connect()
            client.call("queue.add", ["items": .array(files), "play": true])
            #expect(becomes { Self.width(client.call("nowPlaying.get")) == 1 })
            client.call("nowPlaying.subscribe", ["causes": ["track", "metadata"]])
            client.sendLine(
                (1...100).map { #"{"jsonrpc":"2.0","id":"s\#($0)","method":"nextTrack"}"# }.joined(separator: "\n"))
            // Pictures of items that were skipped meanwhile are not published.
            var published: [Int] = []
            while published.last != 101 {
                let event = client.event("metadata")
                if event == .null { break }
                // Events about anything else than a picture don't count.
                if let width = Self.width(event), published.last != Int(width) { published.append(Int(width)) }
            }
            #expect(published == [101])
            client.call("pause")
            #expect(Self.width(client.call("nowPlaying.get")) == 101)
            #expect(client.takeNotifications().allSatisfy { Self.width($0["params"]) ?? 101 == 101 })
            #expect(daemon.stop() == 0)
        }

        @Test("what is no picture, too large, or a link to a private file is not shown, and words say why")
        func refused() async throws {
            let folder = TemporaryFolder()
            let elsewhere = TemporaryFolder()
            var files: [JSONValue] = []
            for number in 0..<4 {
                mkdir(folder.path("\(number)"), 0o755)
                files.append(.string(folder.silence("\(number)/a.wav", seconds: 60)))
            }
            // Four pictures that are none, by their folders.
            _ = folder.write([0xFF, 0xD8, 0xFF], "0/cover.jpg")
            truncate(folder.path("0/cover.jpg"), 100 << 20)
            _ = folder.write([0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 1, 2, 3], "1/cover.jpg")
            _ = elsewhere.write(Self.gif(7), "private.gif")
            symlink(elsewhere.path("private.gif"), folder.path("2/cover.gif"))
            _ = folder.write(Array("[Unit]\nDescription=a text\n".utf8), "3/cover.png")
            let daemon = await RealDaemon.start(
                nil, output: "null", in: folder, readsTitles: false, ["--config", folder.write(conf(folder), "conf")])
            let client = daemon.connect()
            client.call("queue.add", ["items": .array(files), "play": true])
            let words = [
                "it has more than 32 MiB", "it is damaged or not a supported picture",
                "it is a link that leads elsewhere",
                "it is damaged or not a supported picture",
            ]
            for (number, words) in words.enumerated() {
                client.call("play", ["index": .integer(Int64(number))])
                #expect(
                    becomes {
                        let failures = client.call("diagnostics.get")?["artwork"]?["failures"]?.arrayValue ?? []
                        return failures.count == 1 && failures[0].stringValue?.contains(words) == true
                            && failures[0].stringValue?.contains("/\(number)/cover") == true
                    }, "\(number)")
                #expect(client.call("nowPlaying.get")?["item"]?["artwork"] == nil)
            }
            #expect(daemon.stop() == 0)
        }

        @Test(
            "an address is fetched when its picture is asked for, once; then it is a picture like others",
            .enabled(if: RealDaemon.hasDecodeProgram, "nowplaying-decode is not built"))
        func remote() async throws {
            let folder = TemporaryFolder()
            let picture = Self.gif(50)
            let server = HTTPServer { request, connection in
                switch request.target {
                case "/a.gif", "/b.gif": connection.answer("200 OK", ["Content-Type: text/plain"], picture)
                case "/page.jpg": connection.answer("200 OK", ["Content-Type: image/jpeg"], Array("<html>".utf8))
                case "/huge.jpg": connection.head("200 OK", ["Content-Length: 104857600"])
                default: connection.waitForEnd()
                }
            }
            let daemon = await RealDaemon.start(
                nil, output: "null", in: folder, readsTitles: false, ["--config", folder.write(conf(folder), "conf")])
            let client = daemon.connect()
            let items = ["/a.gif", "/b.gif", "/page.jpg", "/huge.jpg", "/hangs.jpg", ""].map { path -> JSONValue in
                mkdir(folder.path("x"), 0o755)
                let file = JSONValue.string(
                    folder.silence("x/\(path.count)\(path.dropFirst().first ?? "x").wav", seconds: 60))
                return path.isEmpty ? file : ["uri": file, "artworkUrl": .string(server.url(path))]
            }
            client.call("queue.add", ["items": .array(items), "play": true])
            func unfetched() -> String {
                #expect(becomes { client.call("nowPlaying.get")?["item"]?["artwork"] != nil })
                let published = client.call("nowPlaying.get")?["item"]?["artwork"]?.arrayValue?.first
                #expect(published?["kind"] == "image" && published?["width"] == nil)
                return published?["id"]?.stringValue ?? ""
            }
            let provisional = unfetched()
            #expect(server.requests.isEmpty)
            client.call("nowPlaying.subscribe", ["causes": ["metadata"]])
            // Two at once are one request.
            let numbers = [
                client.send("artwork.get", ["id": .string(provisional)]),
                client.send("artwork.get", ["id": .string(provisional)]),
            ]
            let answers = numbers.map { client.answer($0)["result"] }
            let id = try #require(answers[0]?["id"]?.stringValue)
            #expect(answers[0] == answers[1] && answers[0]?["width"] == 50)
            let path = try #require(answers[0]?["path"]?.stringValue)
            #expect(folder.read(String(path.dropFirst(folder.path.count + 1))) == picture)
            #expect(client.event("metadata")["item"]?["artwork"]?.arrayValue?.first?["id"] == .string(id))
            #expect(server.requests.count == 1)
            // The same picture from elsewhere is the same.
            client.call("nextTrack")
            let second = client.call("artwork.get", ["id": .string(unfetched())])
            #expect(second?["id"] == .string(id) && second?["path"] == .string(path))
            // A file without a picture is not read again.
            for words in ["not a supported picture", "more than 32 MiB"] {
                client.call("nextTrack")
                let wanted = unfetched()
                let count = server.requests.count
                for _ in 0..<2 {
                    let message = client.error("artwork.get", ["id": .string(wanted)])?["message"]?.stringValue ?? ""
                    #expect(message.contains(words), "\(message)")
                }
                #expect(server.requests.count == count + 1)
                #expect(client.call("nowPlaying.get")?["item"]?["artwork"] == nil)
            }
            // One that hangs is given up with its item.
            client.call("nextTrack")
            let waiting = client.send("artwork.get", ["id": .string(unfetched())])
            #expect(becomes { server.requests.count == 5 })
            client.call("nextTrack")
            #expect(
                client.answer(waiting)["error"]?["message"]?.stringValue?.contains("the request was cancelled") == true)
            #expect(daemon.stop() == 0)
        }

        @Test(
            "a foreign user's address of this very host is not fetched, nor does a film outside of the roots come",
            .enabled(if: RealDaemon.hasDecodeProgram, "nowplaying-decode is not built"))
        func foreigners() async throws {
            let folder = TemporaryFolder()
            let server = HTTPServer { _, connection in connection.answer("200 OK", [], Self.gif(9)) }
            mkdir(folder.path("music"), 0o755)
            let file = folder.silence("music/a.wav", seconds: 60)
            let settings =
                String(decoding: conf(folder), as: UTF8.self) + "[access]\nmedia-roots = \(folder.path("music"))\n"
            let daemon = await RealDaemon.start(
                nil, output: "null", in: folder, readsTitles: false,
                ["--config", folder.write(Array(settings.utf8), "conf")])
            let client = daemon.connect()
            client.call("hello", ["role": "control"])
            let item: JSONValue = [
                "uri": .string(file), "artworkUrl": .string(server.url("/a.gif")),
                "animatedArtwork": ["1:1": .string(folder.path("secret.mp4"))],
            ]
            client.call("queue.add", ["items": [item], "play": true])
            #expect(becomes { client.call("nowPlaying.get")?["item"]?["artwork"] != nil })
            let pictures = client.call("nowPlaying.get")?["item"]?["artwork"]?.arrayValue ?? []
            #expect(pictures.map { $0["kind"] } == ["image"])
            let error = client.error("artwork.get", ["id": pictures[0]["id"] ?? .null])
            #expect(error?["message"]?.stringValue?.contains("this machine") == true, "\(error ?? .null)")
            #expect(server.requests.isEmpty)
            #expect(daemon.stop() == 0)
        }

        @Test("a picture outside the roots comes where the daemon's own user alone named pictures, also after a kill")
        func ownPictures() async throws {
            enum Step { case adds(foreign: Bool), updates(foreign: Bool) }
            let table: [(steps: [Step], isOwn: Bool)] = [
                ([.adds(foreign: false)], true), ([.adds(foreign: true)], false),
                ([.adds(foreign: true), .updates(foreign: false)], false),
                ([.adds(foreign: false), .updates(foreign: true)], false),
                ([.adds(foreign: false), .updates(foreign: true), .updates(foreign: false)], false),
                ([.updates(foreign: false)], true), ([.updates(foreign: true)], false),
            ]
            let folder = TemporaryFolder()
            mkdir(folder.path("music"), 0o755)
            let file = folder.silence("music/a.wav", seconds: 60)
            let placeholder = folder.write(Self.gif(5), "placeholder.gif")
            let picture = JSONValue.string(folder.write(Self.gif(9), "secret.gif"))
            let settings =
                String(decoding: conf(folder), as: UTF8.self) + "[access]\nmedia-roots = \(folder.path("music"))\n"
                + "[artwork]\nplaceholder = \(placeholder)\n"
            let arguments = ["--config", folder.write(Array(settings.utf8), "conf")]
            var daemon = await RealDaemon.start(nil, output: "null", in: folder, arguments)
            do {
                let (own, foreign) = (daemon.connect(), daemon.connect())
                foreign.call("hello", ["role": "control"])
                for (number, (steps, _)) in table.enumerated() {
                    for (index, step) in steps.enumerated() {
                        switch step {
                        case .adds(let isForeign):
                            let item: JSONValue = ["uri": .string(file), "artworkUrl": picture]
                            (isForeign ? foreign : own).call("queue.add", ["items": [item]])
                        case .updates(let isForeign):
                            if index == 0 { own.call("queue.add", ["items": [.string(file)]]) }
                            (isForeign ? foreign : own).call(
                                "item.update", ["id": .integer(Int64(number + 1)), "artworkUrl": picture])
                        }
                    }
                }
            }
            for run in 0..<2 {
                let client = daemon.connect()
                for (index, (_, isOwn)) in table.enumerated() {
                    client.call("play", ["index": .integer(Int64(index))])
                    #expect(becomes { Self.width(client.call("nowPlaying.get")) != nil }, "\(run) \(index)")
                    #expect(Self.width(client.call("nowPlaying.get")) == (isOwn ? 9 : 5), "\(run) \(index)")
                }
                daemon.process.signal(SIGKILL)
                daemon.process.wait()
                daemon = await RealDaemon.start(nil, output: "null", in: folder, arguments)
            }
            #expect(daemon.stop() == 0)
        }

        @Test("an external session shows animated artwork alone; a foreign user's lies below the media roots")
        func external() async throws {
            let folder = TemporaryFolder()
            mkdir(folder.path("music"), 0o755)
            for (name, size) in [("secret.mp4", "60x80"), ("music/film.mp4", "60x60")] {
                let words = ["-v", "error", "-y", "-f", "lavfi", "-i", "testsrc=size=\(size):rate=10", "-t", "1"]
                #expect(AudioMaterial.run("ffmpeg", words + ["-pix_fmt", "yuv420p", folder.path(name)]) == 0)
            }
            let settings =
                String(decoding: conf(folder), as: UTF8.self) + "[access]\nmedia-roots = \(folder.path("music"))\n"
            let daemon = await RealDaemon.start(
                nil, output: "null", in: folder, readsTitles: false,
                ["--config", folder.write(Array(settings.utf8), "conf")])
            for isForeign in [true, false] {
                let client = daemon.connect()
                if isForeign { client.call("hello", ["role": "control"]) }
                client.call("session.create", ["name": "cast", "external": true, "whileConnected": true])
                func show(_ title: String, _ pictures: [(String, JSONValue)]) {
                    let item = JSONObject([.init("title", .string(title))] + pictures.map { .init($0.0, $0.1) })
                    client.call(
                        "nowPlaying.publish", ["session": "cast", "state": "playing", "item": .object(item)])
                }
                func published() -> [JSONValue] {
                    client.call("nowPlaying.get", ["session": "cast"])?["item"]?["artwork"]?.arrayValue ?? []
                }
                func film(_ name: String) -> JSONValue { .string(folder.path(name)) }
                let (allowed, secret) = (film("music/film.mp4"), film("secret.mp4"))
                show("allowed", [("animatedArtwork", ["1:1": allowed])])
                #expect(becomes { published().compactMap { $0["kind"] } == ["animated"] })
                // One search looks for all pictures of an item: those that are shown say that it has ended.
                show("picture", [("artworkUrl", "http://192.0.2.1/a.gif"), ("animatedArtwork", ["3:4": secret])])
                #expect(becomes { published().first?["kind"] == "image" })
                #expect(published().compactMap { $0["kind"] } == (isForeign ? ["image"] : ["image", "animated"]))
                show("films", [("animatedArtwork", ["1:1": allowed, "3:4": secret])])
                #expect(becomes { published().first?["kind"] == "animated" })
                #expect(published().compactMap { $0["aspect"] } == (isForeign ? ["1:1"] : ["1:1", "3:4"]))
                let id = published().last?["id"] ?? .null
                let path = client.call("artwork.get", ["id": id, "kind": "video"])?["path"]?.stringValue ?? ""
                let shown = isForeign ? "music/film.mp4" : "secret.mp4"
                #expect(folder.read(String(path.dropFirst(folder.path.count + 1))) == folder.read(shown))
                client.call("session.close", ["name": "cast"])
            }
            #expect(daemon.stop() == 0)
        }

        @Test("animated artwork: published with the item, its preview and film on demand, nothing with “off”")
        func animated() async throws {
            let folder = TemporaryFolder()
            let words = ["-v", "error", "-y", "-f", "lavfi", "-i", "testsrc=size=60x80:rate=10", "-t", "1"]
            #expect(AudioMaterial.run("ffmpeg", words + ["-pix_fmt", "yuv420p", folder.path("cover-tall.mp4")]) == 0)
            let files = (1...2).map { JSONValue.string(folder.silence("\($0).wav", seconds: 60)) }
            let daemon = await RealDaemon.start(
                nil, output: "null", in: folder, readsTitles: false, ["--config", folder.write(conf(folder), "conf")])
            let client = daemon.connect()
            #expect(client.call("hello")?["capabilities"]?["animatedArtwork"] == ["1:1", "3:4"])
            client.call("queue.add", ["items": .array(files), "play": true])
            func published() -> [JSONValue] { client.call("nowPlaying.get")?["item"]?["artwork"]?.arrayValue ?? [] }
            #expect(becomes { published().count == 1 })
            let film = published()[0]
            let id = try #require(film["id"])
            #expect(film["kind"] == "animated" && film["aspect"] == "3:4" && film["type"] == "video/mp4")
            #expect(film["width"] == 60 && film["height"] == 80)
            #expect(access(folder.path("cache"), F_OK) != 0)
            let video = client.call("artwork.get", ["id": id, "kind": "video"])
            let path = try #require(video?["path"]?.stringValue)
            #expect(path.hasPrefix(folder.path("cache/artwork/")))
            #expect(folder.read(String(path.dropFirst(folder.path.count + 1))) == folder.read("cover-tall.mp4"))
            if RealDaemon.hasDecodeProgram {
                #expect(client.call("artwork.get", ["id": id, "kind": "preview"])?["type"] == "image/jpeg")
            }
            // The same film for the next of the album; a still one beside it stands in for it.
            client.call("nextTrack")
            #expect(becomes { published().first?["id"] == id })
            _ = folder.write(Self.gif(33), "cover-tall.png")
            _ = folder.silence("3.wav", seconds: 60)
            client.call("play", ["uri": .string(folder.path("3.wav"))])
            #expect(becomes { published().first?["id"] == id })
            #expect(daemon.stop() == 0)
            let settings =
                String(decoding: conf(folder), as: UTF8.self) + "[artwork]\nanimated = off\nnames = cover-tall\n"
            let other = await RealDaemon.start(
                nil, output: "null", in: folder, readsTitles: false,
                ["--config", folder.write(Array(settings.utf8), "conf")])
            let second = other.connect()
            #expect(second.call("hello")?["capabilities"]?["animatedArtwork"] == [])
            second.call("play")
            #expect(becomes { Self.width(second.call("nowPlaying.get")) == 33 })
            #expect(second.call("nowPlaying.get")?["item"]?["artwork"]?.arrayValue?.count == 1)
            #expect(other.stop() == 0)
        }

        /// A picture as small as one can be, of so many pixels across.
        /// The head of a picture so many pixels wide, which is all that is looked at.
        static func gif(_ width: Int) -> [UInt8] {
            Array("GIF89a".utf8) + [UInt8(width), 0, 10, 0, 0, 0, 0, 0x3B]
        }

        private static func width(_ state: JSONValue?) -> Int64? {
            state?["item"]?["artwork"]?.arrayValue?.first?["width"]?.integerValue
        }

        private func conf(_ folder: TemporaryFolder) -> [UInt8] {
            Array("[daemon]\ncache-directory = \(folder.path("cache"))\n".utf8)
        }
    }
}
