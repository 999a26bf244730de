import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension Acceptance {
    /// `nowplayingctl rooms` beside the real snapserver, with two clients of its stream.
    @Suite(.timeLimit(.minutes(5))) struct SnapcastRoomsTests {
        private struct House {
            let server: Snapserver
            let rooms: [SnapcastListener]

            static func start() async -> House {
                let server = await Snapserver.start(in: TemporaryFolder())
                return House(server: server, rooms: ["bath", "kitchen"].map { SnapcastListener($0) })
            }

            /// Runs nowplayingctl without a daemon.
            func run(_ words: String...) -> (status: Int32, text: String) {
                let result = TestProcess.run(
                    ["sh", "-c", "exec \"$@\" 2>&1", "sh", BuiltProgram.path("nowplayingctl"), "rooms"] + words
                        + ["--server", Snapserver.host],
                    environment: ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "NOWPLAYING_SOCKET": "/nonexistent"])
                return (result.status, result.text)
            }

            /// A room as the server has it.
            func room(_ id: String) -> JSONValue {
                let groups = server.ask("Server.GetStatus")["result"]?["server"]?["groups"]?.arrayValue ?? []
                let clients = groups.flatMap { group in
                    (group["clients"]?.arrayValue ?? []).map { ($0, group["id"] ?? .null) }
                }
                guard let (client, group) = clients.first(where: { $0.0["id"]?.stringValue == id }) else {
                    return .null
                }
                return ["config": client["config"] ?? .null, "group": group]
            }

            func end() {
                for room in rooms { room.end() }
                server.end()
            }
        }

        @Test("rooms are listed and set") func settings() async throws {
            let house = await House.start()
            let list = house.run()
            #expect(list.status == 0 && list.text.contains("bath  100 %"), "\(list.text)")
            #expect(list.text.contains("kitchen") && list.text.contains("stream “music”"))
            #expect(house.run("bath", "--volume", "40", "--mute", "on", "--latency", "120").status == 0)
            #expect(house.room("bath")["config"]?["volume"] == ["muted": true, "percent": 40])
            #expect(house.room("bath")["config"]?["latency"]?.integerValue == 120)
            #expect(house.run("bath", "--volume", "+15").status == 0)
            #expect(house.room("bath")["config"]?["volume"]?["percent"]?.integerValue == 55)
            #expect(house.run("bath", "--volume", "-100").status == 0)
            #expect(house.room("bath")["config"]?["volume"]?["percent"]?.integerValue == 0)
            #expect(house.run("bath", "--mute", "off", "--name", "Blue room").status == 0)
            let shown = house.run("Blue room")
            #expect(shown.text.contains("Blue room  0 %, latency 120 ms, group"), "\(shown.text)")
            // Groups.
            #expect(house.room("bath")["group"] != house.room("kitchen")["group"])
            #expect(house.run("Blue room", "--join", "kitchen").status == 0)
            #expect(house.room("bath")["group"] == house.room("kitchen")["group"])
            #expect(house.run("kitchen", "--mute-group", "on").status == 0)
            #expect(house.run("kitchen").text.contains("(muted)"))
            #expect(house.run("Blue room", "--leave").status == 0)
            #expect(house.room("bath")["group"] != house.room("kitchen")["group"])
            let json = try JSONReader.read(house.run("--json").text)
            let rooms = json["rooms"]?.arrayValue ?? []
            #expect(json["server"]?.stringValue == Snapserver.host && rooms.count == 2)
            let bath = try #require(rooms.first { $0["id"] == "bath" })
            #expect(
                bath["name"] == "Blue room" && bath["volume"]?.integerValue == 0 && bath["latency"]?.integerValue == 120
            )
            #expect(bath["connected"] == true && bath["group"]?["stream"] == "music")
            house.end()
        }

        @Test("a room whose client is gone is removed, and one that is connected is not") func removal() async throws {
            let house = await House.start()
            let refusal = house.run("kitchen", "--remove")
            #expect(refusal.status == 1 && refusal.text.contains("it is connected"), "\(refusal.text)")
            #expect(house.run("kitchen", "--remove", "--volume", "3").status == 2)
            house.rooms[1].end()
            #expect(becomes { house.run("kitchen").text.contains("not connected") })
            #expect(house.run("kitchen", "--remove").status == 0)
            #expect(house.room("kitchen") == .null && house.room("bath") != .null)
            #expect(house.run("kitchen").status == 3)
            house.rooms[0].end()
            house.server.end()
        }

        @Test("nowplaying-web finds the server to which the daemon plays") func page() async throws {
            let folder = TemporaryFolder()
            let house = await SnapcastHouse.start(folder, await Snapserver.start(in: folder))
            let output = house.client.call("output.list")?["outputs"]?.arrayValue?.first
            #expect(output?["server"] == ["host": .string(Snapserver.host), "port": 4953], "\(output ?? .null)")
            let room = SnapcastListener("bath")
            let settings = "[web]\nbind = 127.0.0.1:0\nstate-directory = \(folder.path("web"))\n"
            let (file, log) = (folder.write(Array(settings.utf8), "web.conf"), folder.path("web.log"))
            var environment = currentEnvironment().merging(["HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]) { $1 }
            environment["NOWPLAYING_SOCKET"] = folder.path("control.sock")
            let words = [
                "sh", "-c", "exec \"$@\" 2> '\(log)'", "sh", BuiltProgram.path("nowplaying-web"), "--config", file,
            ]
            let bridge = await LoopThread.run { [environment] in TestProcess(words, environment: environment) }
            #expect(becomes { SnapcastPictureTests.port(folder.read("web.log")) > 0 })
            let port = SnapcastPictureTests.port(folder.read("web.log"))
            func ask(_ method: String, _ parameters: String) throws -> JSONValue {
                let request = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(parameters)}"#
                let curl = [
                    "curl", "--silent", "--header", "Content-Type: application/json", "--data", request,
                    "http://127.0.0.1:\(port)/rpc",
                ]
                return try JSONReader.read(TestProcess.run(curl, environment: environment).text)
            }
            let list = try ask("rooms.list", "{}")
            #expect(list["result"]?["rooms"]?.arrayValue?.first?["name"] == "bath", "\(list)")
            #expect(try ask("rooms.volume.set", #"{"id": "bath", "volume": 25}"#)["result"] == [:])
            let client = house.server.ask("Server.GetStatus")["result"]?["server"]?["groups"]?.arrayValue?.first?[
                "clients"]
            #expect(client?.arrayValue?.first?["config"]?["volume"]?["percent"]?.integerValue == 25)
            #expect(house.daemon.stop() == 0)
            room.end()
            bridge.end()
            house.server.end()
        }

        @Test("names of strangers reach no terminal as they are") func hostile() async {
            let house = await House.start()
            let name = #"\u001b]0;x\u0007\u001b[31mred\nroot\u202eevil"#
            _ = house.server.ask("Client.SetName", #"{"id": "bath", "name": "\#(name)"}"#)
            for words in [house.run(), house.run("bath"), house.run("--json"), house.run("no \u{1B}[31m")] {
                let bad = words.text.unicodeScalars.filter { $0.value < 32 && $0 != "\n" || $0.value == 0x202E }
                #expect(bad.isEmpty && words.text.contains(words.status == 0 ? "evil" : "no room"), "\(words.text)")
            }
            // The list shows a name that can be typed.
            let shown = house.run().text.split(separator: "\n").first { $0.contains("evil") }
            let typed = shown?.dropFirst(3).prefix { $0 != "%" }.split(separator: "  ").first.map(String.init)
            #expect(house.run(typed ?? "", "--volume", "30").status == 0, "\(typed ?? "")")
            #expect(house.room("bath")["config"]?["volume"]?["percent"]?.integerValue == 30)
            house.end()
        }

        @Test("wrong words, rooms and servers") func faults() async {
            let house = await House.start()
            #expect(house.run("attic").status == 3)
            #expect(house.run("bath", "--volume", "loud").status == 2)
            #expect(house.run("bath", "--volume", "40", "--latency", "x").status == 2)
            #expect(house.room("bath")["config"]?["volume"]?["percent"]?.integerValue == 100, "nothing was set")
            #expect(house.run("bath", "--mute", "maybe").status == 2)
            #expect(house.run("bath", "--join", "kitchen", "--leave").status == 2)
            #expect(house.run("--volume", "40").status == 2)
            let stream = house.run("bath", "--stream", "nothing")
            #expect(
                stream.status == 3 && stream.text.contains(#"no stream "nothing"; it has "music""#), "\(stream.text)")
            house.end()
            let gone = house.run()
            #expect(gone.status == 1 && gone.text.contains("cannot be reached"), "\(gone.text)")
            #expect(gone.text.contains("Start it, allow its port 1705 in the firewall"), "\(gone.text)")
        }
    }
}
