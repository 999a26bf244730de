import ControlProtocol
import Glibc
import TestSupport
import Testing

/// The real nowplaying-mqtt between a real broker and a real daemon.
@Suite(.serialized, .oneAtATime, .timeLimit(.minutes(5))) struct MQTTTests {
    private let home = BrokerHouse()
    private var house: House { home.house }

    @Test func stateGoesOutAndCommandsComeIn() async throws {
        let broker = await home.startBroker()
        let daemon = await house.startDaemon()
        let bridge = await home.startBridge("discovery = yes")
        #expect(house.comes("connected to", in: "mqtt.log"), "\(house.text("mqtt.log"))")
        let topics = await home.follow("#")
        #expect(house.comes("nowplaying/kitchen/availability online", in: "topics"))
        #expect(house.comes("homeassistant/number/nowplaying_kitchen/volume/config {", in: "topics"))
        await house.tool("play", house.silence("a.wav", seconds: 60))
        #expect(house.comes("nowplaying/kitchen/status playing", in: "topics"))
        #expect(house.comes("nowplaying/kitchen/event {\"cause\":\"play\"", in: "topics"))
        await home.send("playpause", to: "remote")
        #expect(house.comes("nowplaying/kitchen/status paused", in: "topics"))
        await home.send(#"{"jsonrpc":"2.0","id":"x","method":"volume.set","params":{"volume":0.25}}"#)
        #expect(house.comes(#"answer {"jsonrpc":"2.0","id":"x","result":{"volume":0.25"#, in: "topics"))
        // The bridge has no more rights than a foreign user, regardless of its own user.
        await home.send("play /etc/passwd")
        #expect(house.comes(#""error":{"code":403,"message":"permission denied"#, in: "topics"))
        await home.send(#"{"id":1,"method":"daemon.quit"}"#)
        #expect(house.comes(#""id":1,"error":{"code":403"#, in: "topics"))
        await home.send(#"{"id":2,"method":"hello","params":{"role":"read"}}"#)
        #expect(house.comes(#""id":2,"error":{"code":403"#, in: "topics"))
        // Retained commands are stale ones.
        await home.send("play", "-r")
        await home.send("nonsense")
        #expect(house.comes("unknown command “nonsense”", in: "topics"))
        let state = await house.tool("--json", "status")
        #expect(try JSONReader.read(state.text)["state"]?.stringValue == "paused")
        #expect(bridge.stop() == 0)
        #expect(house.comes("nowplaying/kitchen/availability offline", in: "topics"))
        topics.stop()
        daemon.stop()
        broker.stop()
    }

    /// A broker that speaks MQTT 3.1.1 alone. To each subscriber it sends a message of 200 MB, and it prints what it gets.
    private static let oldBroker = #"""
        import socket, sys
        server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
        def take(client):
            head, count, shift = client.recv(1), 0, 0
            while head:
                byte = client.recv(1)[0]
                count, shift = count | (byte & 127) << shift, shift + 7
                if byte < 128:
                    break
            body = b""
            while head and len(body) < count:
                body += client.recv(count - len(body))
            return (head[0] >> 4, body) if head else None
        while True:
            client, _ = server.accept()
            try:
                while packet := take(client):
                    kind, body = packet
                    if kind == 1:
                        client.sendall(bytes([0x20, 2, 0, 0 if body[6] == 4 else 1]))
                    elif kind == 8:
                        print("subscribed", flush=True)
                        topic, left, length = b"nowplaying/kitchen/command", 28 + (200 << 20), b""
                        while left:
                            length, left = length + bytes([left & 127 | (128 if left > 127 else 0)]), left >> 7
                        client.sendall(b"\x30" + length + b"\x00\x1a" + topic)
                        for _ in range(200):
                            client.sendall(bytes(1 << 20))
                    elif kind == 3:
                        count = int.from_bytes(body[:2], "big")
                        print(body[2:2 + count].decode(), body[2 + count:100].decode(errors="replace"), flush=True)
            except (OSError, IndexError):
                pass
            client.close()
        """#

    @Test("a message of 200 MB by a broker of MQTT 3.1.1 ends neither the program nor the states")
    func endlessMessage() async throws {
        let broker = await house.start(
            command: ["/usr/bin/python3", "-c", Self.oldBroker, home.port], log: "broker.log")
        let daemon = await house.startDaemon()
        let bridge = await home.startBridge()
        #expect(house.comes("more memory than this program may have", in: "mqtt.log"), "\(house.text("mqtt.log"))")
        #expect(house.comes("commands of the broker are off", in: "mqtt.log"))
        #expect(house.comes("nowplaying/kitchen/availability online", in: "broker.log"))
        await house.tool("play", house.silence("a.wav", seconds: 60))
        #expect(house.comes("nowplaying/kitchen/status playing", in: "broker.log"))
        // It subscribes in one packet for each topic, and the first one has brought the message.
        let count = house.text("broker.log").split(separator: "\n").filter { $0 == "subscribed" }.count
        #expect(count <= 2, "\(count)")
        #expect(bridge.stop() == 0)
        daemon.stop()
        broker.stop()
    }

    @Test func brokerAndDaemonMayBeAway() async {
        let bridge = await home.startBridge()
        #expect(house.comes("; retrying", in: "mqtt.log"), "\(house.text("mqtt.log"))")
        let broker = await home.startBroker()
        #expect(house.comes("connected to", in: "mqtt.log"))
        let daemon = await house.startDaemon()
        let topics = await home.follow("nowplaying/kitchen/+")
        #expect(house.comes("availability online", in: "topics"))
        daemon.stop()
        #expect(house.comes("availability offline", in: "topics"))
        broker.stop()
        topics.stop()
        let again = await house.startDaemon()
        await house.tool("play", house.silence("b.wav", seconds: 60))
        let second = await home.startBroker()
        #expect(
            becomes { house.text("mqtt.log").split(separator: "\n").filter { $0.contains("connected to") }.count == 2 })
        house.write("topics", "")
        let later = await home.follow("nowplaying/kitchen/+")
        #expect(house.comes("status playing", in: "topics"))
        // While nothing happens, nothing wakes.
        #expect(bridge.sleepsForASecond)
        // The last will announces a bridge that dies.
        bridge.end()
        #expect(house.comes("availability offline", in: "topics"))
        later.stop()
        again.stop()
        second.stop()
    }

    @Test func tlsPasswordAndABrokerThatInsists() async {
        let made = await house.run([
            "sh", "-c",
            """
            cd \(house.folder.path) && openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 \
            -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem && mosquitto_passwd -c -b users box geheim \
            && chmod 644 key.pem users && printf 'geheim\\n' > password
            """,
        ])
        #expect(made.status == 0, "\(made.text)")
        let broker = await home.startBroker(
            "password_file \(house.folder.path("users"))\nmax_keepalive 30",
            listener: "certfile \(house.folder.path("cert.pem"))\nkeyfile \(house.folder.path("key.pem"))")
        let daemon = await house.startDaemon()
        let account = "user = box\npassword-file = \(house.folder.path("password"))\ntls = yes\n"
        let stranger = await home.startBridge(account)
        #expect(house.comes("; retrying", in: "mqtt.log"))
        #expect(!house.text("mqtt.log").contains("connected to"))
        stranger.stop()
        let bridge = await home.startBridge(account + "ca-file = \(house.folder.path("cert.pem"))")
        #expect(house.comes("requires a keepalive every 30 s", in: "mqtt.log"), "\(house.text("mqtt.log"))")
        let topics = await home.follow(
            "nowplaying/kitchen/+",
            ["--cafile", house.folder.path("cert.pem"), "-u", "box", "-P", "geheim", "-k", "20"])
        #expect(house.comes("availability online", in: "topics"))
        #expect(!house.text("mqtt.log").contains("geheim"))
        bridge.stop()
        topics.stop()
        daemon.stop()
        broker.stop()
    }
}
