import ControlProtocol
import Glibc
import TestSupport
import Testing

@testable import nowplaying_mqtt

/// Control and observation of boxes through a broker.
@Suite(.serialized, .oneAtATime, .timeLimit(.minutes(5))) struct MQTTHouseTests {
    private let home = BrokerHouse()
    private var house: House { home.house }

    /// A PNG of one pixel.
    private static let pixel = """
        89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c6360000000020001e5\
        27d4a20000000049454e44ae426082
        """

    @Test("speech is heard over the music, from below the media roots alone")
    func announcements() async throws {
        let broker = await home.startBroker()
        mkdir(house.folder.path("media"), 0o755)
        let bell = house.silence("media/bell.wav", seconds: 0.2)
        house.write("daemon.conf", "[access]\nmedia-roots = \(house.folder.path("media"))\n")
        let daemon = await house.startDaemon(["--config", house.folder.path("daemon.conf")])
        await house.tool("play", house.silence("music.wav", seconds: 60))
        let bridge = await home.startBridge()
        #expect(home.connects())
        let topics = await home.follow("nowplaying/kitchen/+")
        #expect(home.receives("availability online"))
        await home.send(#"{"id":"bell","method":"announce","params":{"uri":"\#(bell)","policy":"pause"}}"#)
        #expect(home.receives(#"answer {"jsonrpc":"2.0","id":"bell","result":{"status":"success""#))
        #expect(house.text("topics").contains(#"event {"cause":"interruption-began""#))
        #expect(home.receives(#"event {"cause":"interruption-ended""#))
        await home.send("announce " + bell, to: "remote")
        await home.send("announce " + house.folder.path("music.wav"))
        #expect(home.receives(#""error":{"code":403,"message":"permission denied"#))
        // Every announcement leaves the position of the item.
        let state = try JSONReader.read(await house.tool("--json", "status").text)
        #expect(state["state"] == "playing" && state["item"]?["uri"]?.stringValue?.hasSuffix("music.wav") == true)
        for process in [bridge, topics, daemon, broker] { process.stop() }
    }

    /// The last value of a topic that was followed.
    private func shown(_ topic: String) -> Substring? {
        let lines = house.text("topics").split(separator: "\n")
        return lines.last { $0.hasPrefix("nowplaying/kitchen/\(topic) ") }?.split(separator: " ").last
    }

    @Test("another player that stops leaves what resumes to the topics and to commands") func returns() async throws {
        let broker = await home.startBroker()
        let daemon = await house.startDaemon()
        await house.tool("play", house.silence("music.wav", seconds: 60))
        let bridge = await home.startBridge()
        #expect(home.connects())
        let topics = await home.follow("nowplaying/kitchen/+")
        #expect(home.receives("session main"))
        let player = try RawClient(house.socket)
        _ = try player.result("session.create", ["name": "air", "external": true, "commands": ["pause"]])
        _ = try player.result("nowPlaying.publish", ["session": "air", "state": "playing", "item": ["title": "Aria"]])
        #expect(home.receives("session air"))
        _ = try player.result("nowPlaying.publish", ["session": "air", "state": "stopped"])
        #expect(becomes { shown("session") == "main" && shown("status") == "playing" })
        await home.send("pause")
        #expect(becomes { shown("status") == "paused" })
        #expect(try JSONReader.read(await house.tool("--json", "status").text)["session"] == "main")
        for process in [bridge, topics, daemon, broker] { process.stop() }
    }

    @Test("a box is online when its daemon has limited the bridge: it accepts commands then", arguments: [false, true])
    func rights(areLimited: Bool) async {
        let broker = await home.startBroker()
        let state: JSONValue = ["cause": "snapshot", "state": "playing", "seq": 1]
        let daemon = FakeDaemon(house.socket) { method, _ in
            switch method {
            case "hello": areLimited ? .result([:]) : .silence
            case "stop": .result(["status": "success"])
            default: .result(state)
            }
        }
        let bridge = await home.startBridge()
        #expect(home.connects())
        let topics = await home.follow("nowplaying/kitchen/+")
        #expect(becomes { daemon.requests.contains { $0.hasPrefix("rpc.discover") } })
        daemon.publish(["cause": "volume", "state": "playing", "seq": 2])
        #expect(home.receives("availability " + (areLimited ? "online" : "offline")))
        await home.send(#"{"id":"stop","method":"stop"}"#)
        let success = #"answer {"jsonrpc":"2.0","id":"stop","result""#
        #expect(home.receives(areLimited ? success : "no daemon accepts commands"))
        // The broker keeps the order of the bridge's messages.
        #expect(house.text("topics").contains("availability online") == areLimited, "\(house.text("topics"))")
        #expect(house.text("topics").contains("state {") == areLimited)
        for process in [bridge, topics, broker] { process.stop() }
        daemon.stop()
    }

    @Test("a picture is published where it is wanted, and taken back with the next item that has none")
    func artwork() async throws {
        let broker = await home.startBroker()
        let daemon = await house.startDaemon()
        for name in ["a", "b"] { mkdir(house.folder.path(name), 0o755) }
        var picture: [UInt8] = []
        var digits = Array(Self.pixel)[...]
        while digits.count >= 2 {
            picture.append(UInt8(String(digits.prefix(2)), radix: 16)!)
            digits = digits.dropFirst(2)
        }
        _ = house.folder.write(picture, "a/cover.png")
        let bridge = await home.startBridge("artwork = yes\ndiscovery = ha")
        #expect(home.connects())
        let topics = await home.follow("#", ["-F", "%t %l %p"])
        await house.tool("play", house.silence("a/a.wav", seconds: 60))
        #expect(home.receives("nowplaying/kitchen/artwork \(picture.count) "), "\(house.text("mqtt.log"))")
        #expect(home.receives("ha/image/nowplaying_kitchen/artwork/config "))
        let got = await house.run([
            "mosquitto_sub", "-h", "127.0.0.1", "-p", home.port, "-C", "1", "-W", "10", "-N", "-F", "%x", "-t",
            "nowplaying/kitchen/artwork",
        ])
        #expect(got.text == Self.pixel)
        await house.tool("play", house.silence("b/b.wav", seconds: 60))
        #expect(home.receives("nowplaying/kitchen/artwork 0 "))
        for process in [bridge, topics, daemon, broker] { process.stop() }
    }

    @Test("commands that the broker has kept, and such as are too long, do nothing")
    func oldAndLongCommands() async throws {
        let broker = await home.startBroker()
        let daemon = await house.startDaemon()
        await house.tool("play", house.silence("a.wav", seconds: 60))
        await house.tool("pause")
        await home.send("play", "-r")
        let bridge = await home.startBridge()
        #expect(home.connects())
        let topics = await home.follow("nowplaying/kitchen/+")
        #expect(home.receives("availability online"))
        // The longest that is taken, and one byte more.
        let head = #"{"id":"long","method":"volume.set","params":{"volume":0.5}}"#
        house.write("longest", head + String(repeating: " ", count: MQTTCommand.maximumBytes - head.utf8.count))
        house.write("longer", head.replacing("long", with: "longer").padded(to: MQTTCommand.maximumBytes + 2048))
        for name in ["longer", "longest"] {
            let file = house.folder.path(name)
            let words = ["mosquitto_pub", "-h", "127.0.0.1", "-p", home.port, "-t", "nowplaying/kitchen/command"]
            #expect(await house.run(words + ["-f", file]).status == 0)
        }
        #expect(home.receives(#"answer {"jsonrpc":"2.0","id":"long","result""#))
        #expect(!house.text("topics").contains(#"answer {"jsonrpc":"2.0","id":"longer""#))
        #expect(try JSONReader.read(await house.tool("--json", "status").text)["state"] == "paused")
        #expect(home.connects(), "it stays connected")
        for process in [bridge, topics, daemon, broker] { process.stop() }
    }

    @Test("the password is the credential of the unit, and is nowhere to be seen")
    func credential() async {
        let made = await house.run([
            "sh", "-c",
            """
            cd \(house.folder.path) && mosquitto_passwd -c -b users box hush && chmod 644 users \
            && mkdir credentials && printf hush > credentials/mqtt-password
            """,
        ])
        #expect(made.status == 0, "\(made.text)")
        let broker = await home.startBroker(
            "password_file \(house.folder.path("users"))")
        let daemon = await house.startDaemon()
        let bridge = await home.startBridge(
            "user = box", before: ["env", "CREDENTIALS_DIRECTORY=" + house.folder.path("credentials")])
        #expect(home.connects(), "\(house.text("mqtt.log"))")
        let seen = await house.run(["sh", "-c", "tr '\\0' '\\n' < /proc/\(bridge.pid)/cmdline"])
        #expect(!seen.text.contains("hush"))
        #expect(!house.text("mqtt.log").contains("hush") && !house.text("broker.log").contains("hush"))
        bridge.stop()
        house.write("credentials/mqtt-password", "wrong")
        let stranger = await home.startBridge(
            "user = box", before: ["env", "CREDENTIALS_DIRECTORY=" + house.folder.path("credentials")])
        #expect(house.comes("the broker refuses: ", in: "mqtt.log"), "\(house.text("mqtt.log"))")
        for process in [stranger, daemon, broker] { process.stop() }
    }

    @Test("a broker that stands still costs one state, and gets the newest when it goes on")
    func frozenBroker() async throws {
        let broker = await home.startBroker()
        let daemon = await house.startDaemon()
        let fields = ["title", "subtitle", "artist", "albumTitle", "albumArtist", "composer", "genre", "description"]
        let long = fields.map { #""\#($0)":"\#(String(repeating: "x", count: 4000))""# }.joined(separator: ",")
        let file = house.silence("a.wav", seconds: 60)
        await house.tool("call", "queue.add", #"{"items":[{"uri":"\#(file)",\#(long)}],"play":true}"#)
        let bridge = await home.startBridge()
        #expect(home.connects())
        let topics = await home.follow("nowplaying/kitchen/+")
        #expect(home.receives("availability online"))
        let before = bridge.residentKilobytes
        broker.signal(SIGSTOP)
        // 32 KB each of them, of which the kernel keeps the first few MB.
        var lines = ""
        for number in 1...1500 {
            lines += #"{"jsonrpc":"2.0","id":\#(number),"method":"volume.set","params":{"volume":0.\#(1000 + number)}}"#
            lines += "\n"
        }
        house.write("lines", lines)
        let socket = house.socket
        let sent = await house.run([
            "python3", "-c",
            """
            import socket
            s = socket.socket(socket.AF_UNIX); s.connect("\(socket)"); answers = s.makefile()
            for line in open("\(house.folder.path("lines"))"):
                s.sendall(line.encode()); answers.readline()
            """,
        ])
        #expect(sent.status == 0, "\(sent.text)")
        // The bridge sees earlier messages before this one.
        #expect(becomes { bridge.isAsleep })
        #expect(bridge.residentKilobytes - before < 8 << 10, "\(before) → \(bridge.residentKilobytes) kB")
        broker.signal(SIGCONT)
        #expect(home.receives("nowplaying/kitchen/volume 0.25\n"), "\(house.text("topics").suffix(400))")
        #expect(home.connects(), "the connection has outlived it")
        for process in [bridge, topics, daemon, broker] { process.stop() }
    }

    @Test("an hour without a broker is 62 attempts")
    func anHourAway() {
        var (time, attempts) = (0.0, 0)
        while time < 3600 {
            time += RetrySchedule.pause(after: attempts)
            attempts += 1
        }
        #expect(attempts == 62)
        #expect((0..<9).map { RetrySchedule.pause(after: $0) } == [1, 2, 4, 8, 16, 32, 64, 64, 64])
        #expect(RetrySchedule.pause(after: .max) == 64)
    }

    @Test("a thousand boxes that lost the broker in one instant do not come back in one")
    func manyBoxesAway() {
        for failures in 0..<9 {
            let pauses = (0..<1000).map { _ in RetrySchedule.spreadPause(after: failures) }.sorted()
            let usual = RetrySchedule.pause(after: failures)
            #expect(pauses[0] >= usual / 2 && pauses[999] <= min(usual * 1.5, 64))
            // In no fifth of the time before the longest pause are more than a hundred times three of them.
            #expect(pauses[300] - pauses[0] > usual / 5 && pauses[499] - pauses[200] > usual / 5)
        }
    }
}

extension String {
    fileprivate func padded(to count: Int) -> String { self + String(repeating: " ", count: count - utf8.count) }
}
