import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension Acceptance {
    /// The picture that a Snapcast server shows: nowplaying-snapcast asks nowplaying-web for an address of it.
    @Suite(.timeLimit(.minutes(5))) struct SnapcastPictureTests {
        /// A PNG of one pixel.
        private static let pixel: [UInt8] =
            [
                0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0,
                0, 1,
            ]
            + [0x08, 0, 0, 0, 0, 0x3A, 0x7E, 0x9B, 0x55, 0, 0, 0, 0x0A, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0x60]
            + [
                0, 0, 0, 0x02, 0, 0x01, 0xE5, 0x27, 0xD4, 0xA2, 0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60,
                0x82,
            ]

        /// The metadata that a server has after an item with a picture was paused, and the port of nowplaying-web.
        private func metadata(web: String, plugin: String = "") async throws -> (JSONValue, port: UInt16) {
            let folder = TemporaryFolder()
            let page = folder.write(
                Array("[web]\nbind = 127.0.0.1:0\nstate-directory = \(folder.path("web"))\n\(web)".utf8), "web.conf")
            let log = folder.path("web.log")
            var environment = currentEnvironment().merging(["HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]) { $1 }
            environment["NOWPLAYING_SOCKET"] = folder.path("control.sock")
            let words = [BuiltProgram.path("nowplaying-web"), "--config", page]
            let bridge = await LoopThread.run { [environment] in
                TestProcess(["sh", "-c", "exec \"$@\" 2> '\(log)'", "sh"] + words, environment: environment)
            }
            var port: UInt16 = 0
            #expect(
                becomes {
                    port = Self.port(folder.read("web.log"))
                    return port > 0
                })
            mkdir(folder.path("plugin"), 0o700)
            let settings = "[snapcast]\nweb-port = \(port)\n\(plugin)"
            _ = folder.write(Array(settings.utf8), "plugin/nowplayingd.conf")
            environment["XDG_CONFIG_HOME"] = folder.path("plugin")
            let server = await Snapserver.start(
                in: folder, script: BuiltProgram.path("nowplaying-snapcast"), variables: environment)
            let daemon = await RealDaemon.start(nil, output: "null", in: folder, readsTitles: false)
            let events = SnapcastEvents()
            mkdir(folder.path("album"), 0o700)
            _ = folder.write(Self.pixel, "album/cover.png")
            let song = folder.silence("album/song.wav", seconds: 100)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(song)])
            // The state has the picture before the pause.
            #expect(
                becomes {
                    client.call("nowPlaying.get")?["item"]?["artwork"]?.arrayValue?.isEmpty == false
                })
            if web.contains("0.0.0.0"), plugin.isEmpty {
                let shown = events.first("Stream.OnProperties") { $0["properties"]?["metadata"]?["artUrl"] != nil }
                #expect(shown != nil, "\(events.all("Stream.OnProperties").map(\.parameters))")
            }
            client.call("pause")
            let paused = try #require(
                events.first("Stream.OnProperties") { $0["properties"]?["playbackStatus"] == "paused" })
            let metadata = paused.parameters["properties"]?["metadata"] ?? .null
            if let address = metadata["artUrl"]?.stringValue, let path = address.firstRange(of: "/artwork/") {
                Self.expectPicture(port, String(address[path.lowerBound...]))
            }
            #expect(daemon.stop() == 0)
            events.end()
            server.end()
            bridge.end()
            return (metadata, port)
        }

        /// The port of nowplaying-web by its log; 0: it does not listen yet.
        static func port(_ log: [UInt8]) -> UInt16 {
            let text = String(decoding: log, as: UTF8.self)
            guard let place = text.firstRange(of: "listening at 127.0.0.1:") else { return 0 }
            return UInt16(text[place.upperBound...].prefix { $0.isNumber }) ?? 0
        }

        /// The address serves a picture to a user without any right.
        private static func expectPicture(_ port: UInt16, _ target: String) {
            guard geteuid() == 0 else { return }
            let words = [
                "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "curl", "--silent", "--output",
                "/dev/null", "--write-out", "%{http_code} %{content_type}", "http://127.0.0.1:\(port)\(target)",
            ]
            let answer = TestProcess.run(words, environment: currentEnvironment()).text
            #expect(answer.hasPrefix("200 image/"), "\(target): \(answer)")
        }

        @Test("a page that the LAN reaches gives an address that is good for a day, without a token") func shown()
            async throws
        {
            let (metadata, _) = try await metadata(web: "bind = 0.0.0.0:0\naddress = box.example:8088\n")
            let address = try #require(metadata["artUrl"]?.stringValue, "\(metadata)")
            #expect(address.hasPrefix("http://box.example:8088/artwork/"), "\(address)")
            let until = try #require(address.firstRange(of: "until="))
            let end = try #require(Double(address[until.upperBound...].prefix { $0.isNumber }))
            let hours = (end - Double(time(nil))) / 3600
            #expect(hours > 23.9 && hours <= 25, "\(hours)")
        }

        @Test("a page for this machine alone gives none, and neither does the setting") func none() async throws {
            let local = try await metadata(web: "")
            #expect(local.0["title"] == "song" && local.0["artUrl"] == nil, "\(local.0)")
            let off = try await metadata(
                web: "bind = 0.0.0.0:0\naddress = box.example:8088\n", plugin: "pictures = no\n")
            #expect(off.0["title"] == "song" && off.0["artUrl"] == nil, "\(off.0)")
        }
    }
}
