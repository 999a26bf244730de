import ControlProtocol
import TestSupport
import Testing

/// An output that is heard late: each call is answered at once and shows its effect, and the item is the one that is heard.
@Suite(.timeLimit(.minutes(5))) struct PendingTests {
    private struct Box {
        let installation: Installation
        let daemon: RawClient

        var state: JSONValue { get throws { try daemon.call("nowPlaying.get")["result"] ?? .null } }

        /// True once nothing is on its way to the ear.
        func settles() -> Bool { becomes { ((try? state["pending"]) ?? .null) == nil } }

        func position() -> Double { Double(installation.playerctl("position")) ?? .nan }
    }

    @Test("play, pause and seek show at once; another item is the current one when it is heard")
    func calls() async throws {
        let installation = await Installation.running()
        let box = Box(installation: installation, daemon: try RawClient(installation.socket))
        #expect(try box.daemon.call("output.delay.set", ["name": "null", "delay": 3])["error"] == nil)
        installation.control("add", installation.silence("a.wav"), installation.silence("b.wav"))
        #expect(installation.playerctl("play") == "")
        // The answer has come, and nothing is heard.
        let wish = try box.state
        #expect(wish["state"] == "stopped" && wish["pending"]?["state"] == "playing", "\(wish)")
        #expect(becomes { installation.playerctl("status") == "Playing" })
        #expect(box.settles())
        #expect(installation.playerctl("pause") == "")
        let pausing = try box.state
        #expect(pausing["state"] == "playing" && pausing["pending"]?["state"] == "paused", "\(pausing)")
        #expect(becomes { installation.playerctl("status") == "Paused" })
        let target = try #require(pausing["pending"]?["position"]?.doubleValue)
        #expect(abs(box.position() - target) < 0.001)
        #expect(box.settles())
        let paused = try box.state
        #expect(paused["state"] == "paused" && abs((paused["anchor"]?["elapsed"]?.doubleValue ?? -1) - target) < 0.001)
        #expect(abs(box.position() - target) < 0.001)
        #expect(installation.playerctl("play") == "")
        #expect(box.settles())
        #expect(installation.playerctl("position", "30") == "")
        #expect(try box.state["pending"]?["position"]?.doubleValue == 30)
        #expect(becomes { box.position() >= 30 })
        #expect(box.settles())
        #expect(installation.playerctl("next") == "")
        let next = try box.state
        #expect(next["pending"] != nil && next["pending"]?["itemId"] != next["item"]?["id"], "\(next)")
        #expect(installation.playerctl("metadata", "title") == "a")
        #expect(box.settles())
        #expect(becomes { installation.playerctl("metadata", "title") == "b" })
    }
}
