import ControlProtocol
import Testing

@testable import SnapcastBridge

/// Requests of a Snapcast server, as calls of the daemon.
@Suite struct RequestTests {
    private static func request(_ method: String, _ parameters: String) throws -> PluginRequest? {
        try PluginRequest(
            Array(
                #"{"id": 7, "jsonrpc": "2.0", "method": "Plugin.Stream.Player.\#(method)", "params": \#(parameters)}"#
                    .utf8))
    }

    @Test(arguments: [
        ("Play", "{}", "play", "{}"), ("play", "{}", "play", "{}"), ("Pause", "{}", "pause", "{}"),
        ("PlayPause", "{}", "togglePlayPause", "{}"), ("playPause", "{}", "togglePlayPause", "{}"),
        ("Stop", "{}", "stop", "{}"), ("next", "{}", "nextTrack", "{}"), ("Previous", "{}", "previousTrack", "{}"),
        ("Seek", #"{"Offset": 12.5}"#, "skipForward", #"{"interval":12.5}"#),
        ("seek", #"{"offset": -3}"#, "skipBackward", #"{"interval":3}"#),
        ("SetPosition", #"{"Position": 30, "TrackId": "x"}"#, "changePlaybackPosition", #"{"position":30}"#),
        ("setPosition", #"{"position": -1}"#, "changePlaybackPosition", #"{"position":0}"#),
    ])
    func commands(_ command: String, _ parameters: String, _ method: String, _ wanted: String) throws {
        let request = try Self.request("Control", #"{"command": "\#(command)", "params": \#(parameters)}"#)
        guard case .call(method, let parameters) = request?.action else {
            Issue.record("\(String(describing: request))")
            return
        }
        #expect(JSONWriter.text(.object(parameters)) == wanted)
        #expect(request?.id == 7)
    }

    @Test(arguments: [
        (#"{"volume": 40}"#, "volume.set", #"{"volume":0.4,"muted":false}"#),
        (#"{"volume": 400}"#, "volume.set", #"{"volume":1,"muted":false}"#),
        (#"{"volume": 0}"#, "volume.set", #"{"volume":0}"#), (#"{"mute": true}"#, "volume.set", #"{"muted":true}"#),
        (#"{"shuffle": true}"#, "changeShuffleMode", #"{"mode":"items"}"#),
        (#"{"loopStatus": "track"}"#, "changeRepeatMode", #"{"mode":"one"}"#),
        (#"{"rate": 1.5}"#, "changePlaybackRate", #"{"rate":1.5}"#), (#"{"rate": 0}"#, "pause", "{}"),
    ])
    func properties(_ parameters: String, _ method: String, _ wanted: String) throws {
        let request = try Self.request("SetProperty", parameters)
        guard case .call(method, let parameters) = request?.action else {
            Issue.record("\(String(describing: request))")
            return
        }
        #expect(JSONWriter.text(.object(parameters)) == wanted)
    }

    @Test("hostile lines are refused or ignored") func hostile() throws {
        for (method, parameters) in [
            ("Control", #"{"command": "fly"}"#), ("Control", "{}"), ("Control", #"{"command": "seek"}"#),
            ("Control", #"{"command": "setPosition", "params": {"position": "x"}}"#), ("SetProperty", "{}"),
            ("SetProperty", #"{"volume": "x"}"#), ("SetProperty", #"{"loopStatus": "never"}"#),
            ("SetProperty", #"{"x": 1}"#), ("Fly", "{}"),
        ] {
            #expect(throws: PluginRequest.Refusal.self, "\(method) \(parameters)") {
                try Self.request(method, parameters)
            }
        }
        for line in ["", "x", "[]", "{}", #"{"id": 1}"#, #"{"method": "x"}"#, #"{"id": 1, "result": "ok"}"#, "\u{0}"] {
            #expect(try PluginRequest(Array(line.utf8)) == nil, "\(line)")
        }
    }

    @Test func optionsOfTheServer() {
        let old = ServerOptions(["--stream=My Music", "--snapcast-port=1780", "--socket", "/x"])
        #expect(old.stream == "My Music" && old.rest == ["--socket", "/x"] && !old.knowsMute)
        #expect(ServerOptions(["--stream=a", "--snapcast-host=localhost"]).knowsMute)
    }
}
