import ControlProtocol
import NowPlaying
import TestSupport
import Testing

/// An output that is heard late: each command is answered at once and shows its effect, and the item is the one that is heard.
@Suite(.timeLimit(.minutes(5))) struct PendingTests {
    private struct Box {
        let house: MPDHouse
        let client: LineClient
        let daemon: RawClient

        var state: JSONValue { get throws { try daemon.call("nowPlaying.get")["result"] ?? .null } }

        func number(_ key: String) throws -> Double {
            try client.value(key, of: "status").flatMap(Double.init) ?? .nan
        }

        /// True once nothing is on its way to the ear.
        func settles() -> Bool { becomes { ((try? state["pending"]) ?? .null) == nil } }
    }

    private func box() async throws -> Box {
        let folder = TemporaryFolder()
        let files = (0..<2).map { folder.silence("s\($0).wav", seconds: 60) }
        let house = await MPDHouse.start(in: folder)
        let box = Box(house: house, client: try house.client(), daemon: try house.daemonClient())
        #expect(try box.daemon.call("output.delay.set", ["name": "null", "delay": 3])["error"] == nil)
        for file in files { #expect(try box.client.ask("add \(file)") == ["OK"]) }
        return box
    }

    @Test("play and pause show at once, at the position that is heard then") func pause() async throws {
        let box = try await box()
        #expect(try box.client.ask("play 0") == ["OK"])
        // The answer has come, and nothing is heard.
        let wish = try box.state
        #expect(wish["state"] == "stopped" && wish["pending"]?["state"] == "playing", "\(wish)")
        #expect(try box.client.value("state", of: "status") == "play")
        #expect(box.settles())
        let heard = try box.state
        #expect(heard["state"] == "playing")
        let anchor = try #require(heard["anchor"])
        let (elapsed, time) = (anchor["elapsed"]?.doubleValue ?? .nan, anchor["monotonic"]?.doubleValue ?? .nan)
        let before = Double(MonotonicTime.now.nanoseconds) / 1e9
        let shown = try box.number("elapsed")
        let after = Double(MonotonicTime.now.nanoseconds) / 1e9
        #expect(shown >= elapsed + before - time - 0.002 && shown <= elapsed + after - time + 0.002)
        #expect(try box.client.ask("pause 1") == ["OK"])
        let pausing = try box.state
        #expect(pausing["state"] == "playing" && pausing["pending"]?["state"] == "paused", "\(pausing)")
        #expect(try box.client.value("state", of: "status") == "pause")
        let target = try #require(pausing["pending"]?["position"]?.doubleValue)
        #expect(abs(try box.number("elapsed") - target) < 0.001)
        #expect(box.settles())
        let paused = try box.state
        #expect(paused["state"] == "paused" && abs((paused["anchor"]?["elapsed"]?.doubleValue ?? -1) - target) < 0.001)
        #expect(abs(try box.number("elapsed") - target) < 0.001)
    }

    @Test("a seek shows at once; another song is the current one when it is heard") func jumps() async throws {
        let box = try await box()
        #expect(try box.client.ask("play 0") == ["OK"])
        #expect(box.settles())
        #expect(try box.client.ask("seekcur 30") == ["OK"])
        #expect(try box.state["pending"]?["position"]?.doubleValue == 30)
        #expect(try box.number("elapsed") == 30)
        #expect(box.settles())
        #expect(try box.number("elapsed") >= 30)
        #expect(try box.client.ask("next") == ["OK"])
        let wish = try box.state
        #expect(wish["pending"] != nil && wish["pending"]?["itemId"] != wish["item"]?["id"], "\(wish)")
        #expect(try box.client.value("song", of: "status") == "0")
        #expect(try box.number("elapsed") >= 30)
        #expect(box.settles())
        #expect(becomes { (try? box.client.value("song", of: "status")) == "1" })
        #expect(try box.number("elapsed") < 30)
    }
}
