import ControlProtocol
import NowPlaying
import NowPlayingClient
import SnapcastControl

@testable import SnapcastBridge

/// The control script of a Snapcast server.
extension FuzzTarget {
    /// Methods that it calls: a stranger in the LAN can cause no others.
    private static let methods: Set<String> = [
        "play", "pause", "togglePlayPause", "stop", "nextTrack", "previousTrack", "skipForward", "skipBackward",
        "changePlaybackPosition", "changePlaybackRate", "changeRepeatMode", "changeShuffleMode", "volume.set",
    ]
    /// Characters of a text, and of a message about a refusal.
    private static let (text, message) = (500, 128)

    /// Lines of the server. A line that is a state of the daemon becomes properties.
    static let snapcastLines = FuzzTarget(
        name: "snapcast-lines",
        seeds: {
            [
                #"{"id":1,"jsonrpc":"2.0","method":"Plugin.Stream.Player.GetProperties"}"#,
                #"{"id":"8","jsonrpc":"2.0","method":"Plugin.Stream.Player.Control","params":{"command":"setPosition","#
                    + #""params":{"Position":17.8,"TrackId":"x"}}}"#,
                #"{"id":1,"method":"Plugin.Stream.Player.Control","params":{"command":"Seek","params":{"Offset":-1e308}}}"#,
                #"{"id":2,"method":"Plugin.Stream.Player.SetProperty","params":{"volume":38}}"# + "\n"
                    + #"{"id":3,"method":"Plugin.Stream.Player.SetProperty","params":{"loopStatus":"track"}}"# + "\n"
                    + #"{"id":4,"method":"Plugin.Stream.Player.SetProperty","params":{"rate":0.5}}"#,
                #"{"state":"playing","volume":0.5,"muted":true,"item":{"id":1,"title":"a\u001b[31m","artists":["b",7],"#
                    + #""duration":1e999,"trackNumber":5000000000,"artwork":[{"kind":"image","id":"x"}]},"#
                    + #""anchor":{"elapsed":3,"rate":1,"defaultRate":1,"skew":0,"monotonic":0}}"#,
            ].map { Array($0.utf8) }
        },
        run: { bytes in
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                request(Array(line))
                if let state = try? JSONReader.read(Array(line)) { properties(StateView(state)) }
            }
        })

    /// Lines of the control protocol of a Snapcast server, and announcements of one in the network.
    static let roomLines = FuzzTarget(
        name: "room-lines",
        seeds: {
            [
                #"{"id":1,"jsonrpc":"2.0","result":{"server":{"groups":[{"id":"g","name":"","muted":false,"stream_id":"m","#
                    + #""clients":[{"id":"a","connected":true,"host":{"name":"h"},"config":{"name":"A","latency":-5,"#
                    + #""volume":{"percent":200,"muted":true}}},{"id":"b"}]}]}}}"#,
                #"{"id":2,"error":{"code":-1,"message":"a","data":"b\u001b"}}"# + "\n"
                    + #"{"method":"Client.OnConnect","params":{}}"#,
                "=;eth0;IPv4;Snapcast;_snapcast-ctrl._tcp;local;box.local;192.0.2.7;1705;\"a;b\"\n"
                    + "=;eth0;IPv6;S;_snapcast-ctrl._tcp;local;box.local;2001:db8::7;1705;\n+;eth0;IPv4;S;t;local",
            ].map { Array($0.utf8) }
        },
        run: { bytes in
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                if let address = ControlAddress(announcement: Substring(decoding: line, as: UTF8.self)) {
                    precondition(address.port > 0 && address.host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
                }
                switch ControlLine(Array(line)) {
                case .result(_, let status): rooms(status)
                case .refusal, .news, nil: break
                }
            }
        })

    private static func rooms(_ status: JSONValue) {
        guard let rooms = Room.all(status) else { return }
        precondition(rooms.count <= Room.maximumCount)
        for room in rooms {
            precondition((0...100).contains(room.percent) && !room.id.isEmpty)
            // A row does not grow with the rooms of its group.
            precondition(JSONWriter.text(.object(room.json)).utf8.count < 16 << 10, "a row is long")
            for place in [RoomChange.Place.alone, .with(room.id)] {
                var change = RoomChange()
                change.place = place
                change.percent = 5
                precondition(change.calls(room, in: rooms) != nil)
            }
        }
    }

    private static func request(_ line: [UInt8]) {
        do throws(PluginRequest.Refusal) {
            guard let request = try PluginRequest(line) else { return }
            switch request.action {
            case .properties: break
            case .call(let method, let parameters):
                precondition(methods.contains(method), "\(method)")
                for member in parameters.members {
                    if let number = member.value.doubleValue { precondition(number.isFinite, "\(method)") }
                }
            }
        } catch {
            precondition(error.message.count <= message)
        }
    }

    private static func properties(_ state: StateView) {
        for knowsMute in [false, true] {
            let properties = StreamProperties.of(state, nil, picture: nil, knowsMute: knowsMute)
            for member in properties["metadata"]?.objectValue?.members ?? [] {
                let texts = member.value.arrayValue ?? [member.value]
                for text in texts.compactMap(\.stringValue) {
                    precondition(text.count <= Self.text, "\(member.name) is long")
                    precondition(
                        !text.unicodeScalars.contains { $0.value < 32 || $0.value == 0x202E }, "\(member.name)")
                }
            }
        }
        let shown = ShownPosition(state, at: MonotonicTime(nanoseconds: 1))
        _ = shown.isWrong(for: state, at: MonotonicTime(nanoseconds: 2_000_000_000))
    }
}
