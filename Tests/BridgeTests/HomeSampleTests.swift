import ControlProtocol
import Glibc
import TestSupport
import Testing

@testable import nowplaying_mqtt

/// The samples for Home Assistant and Node-RED use the bridge's entities, topics and words.
@Suite struct HomeSampleTests {
    private static let root = String(#filePath[..<#filePath.firstRange(of: "/Tests/")!.lowerBound])
    private let homeAssistant = TestProcess.run(["cat", root + "/etc/homeassistant/nowplayingd.yaml"]).text
    private let flow = try? JSONReader.read(TestProcess.run(["cat", root + "/etc/node-red/nowplayingd.json"]).text)

    private static let discovery = Discovery(
        prefix: "homeassistant", node: "kitchen", name: "kitchen", base: "nowplaying/kitchen",
        methods: [
            "play", "pause", "togglePlayPause", "stop", "nextTrack", "previousTrack", "volume.set", "like", "dislike",
            "bookmark", "rating", "changePlaybackPosition", "changeRepeatMode", "changeShuffleMode",
        ], hasArtwork: true)

    @Test func entitiesThatAreUsedAreThere() throws {
        let found = Self.discovery.entities.map { String($0.topic.split(separator: "/")[1]) + "." + Self.id($0) }
        #expect(Set(found).count == found.count && found.count >= 24)
        // Those that the package makes itself.
        let own = homeAssistant.matches(of: /unique_id: (nowplaying_kitchen_[a-z_]+)/).map { String($0.output.1) }
        let pattern = /(sensor|binary_sensor|number|select|image|button)\.(nowplaying_kitchen_[a-z_]+)/
        let used = homeAssistant.matches(of: pattern)
        #expect(used.count > 8)
        for name in used.map(\.output) {
            #expect(found.contains(String(name.0)) || own.contains(String(name.2)), "\(name.0)")
        }
    }

    private static func id(_ entity: (topic: String, payload: [UInt8])) -> String {
        (try? JSONReader.read(entity.payload))?["object_id"]?.stringValue ?? ""
    }

    /// Required fields of each kind in Home Assistant's schema. Specification: home-assistant.io/integrations/mqtt.
    @Test func entitiesAreComplete() throws {
        let needs = [
            "binary_sensor": ["state_topic"], "sensor": ["state_topic"], "button": ["command_topic"],
            "image": ["image_topic"], "number": ["command_topic", "min", "max"],
            "select": ["command_topic", "options"],
        ]
        for entity in Self.discovery.entities {
            let kind = String(entity.topic.split(separator: "/")[1])
            let config = try JSONReader.read(entity.payload)
            for name in try #require(needs[kind], "\(kind)") + ["unique_id", "device", "availability_topic"] {
                #expect(config[name] != nil, "\(entity.topic): \(name)")
            }
            for name in config.objectValue?.members.map(\.name) ?? [] where name.hasSuffix("_topic") {
                #expect(config[name]?.stringValue?.hasPrefix("nowplaying/kitchen/") == true)
            }
            // A button's word, and a template's JSON, are commands.
            let command = config["payload_press"] ?? config["command_template"]
            if let text = command?.stringValue { try expectCommand(text.replacing("{{ value }}", with: "1")) }
        }
    }

    private func expectCommand(_ text: String) throws {
        #expect(throws: Never.self, "\(text)") { try MQTTCommand(Array(text.utf8), state: nil) }
    }

    @Test func homeAssistantsWords() throws {
        var words: [String] = []
        for line in homeAssistant.split(separator: "\n") {
            guard let match = line.firstMatch(of: /payload: "?([a-z]+)( \{\{|[}"]|$)/) else { continue }
            words.append(String(match.output.1) + (match.output.2 == " {{" ? " 1" : ""))
        }
        #expect(words.contains("announce 1") && words.contains("volume 1") && words.count >= 12, "\(words)")
        for word in words { try expectCommand(word) }
    }

    @Test func theFlowOfNodeRED() throws {
        let nodes = try #require(flow?.arrayValue)
        let ids = nodes.compactMap { $0["id"]?.stringValue }
        #expect(Set(ids).count == nodes.count)
        let core: Set = ["tab", "mqtt-broker", "mqtt in", "mqtt out", "function", "debug", "inject"]
        for node in nodes {
            #expect(core.contains(node["type"]?.stringValue ?? ""), "\(node["type"] ?? .null)")
            let places = node["type"] == "mqtt-broker" ? ["z"] : ["z", "broker"]
            for id in places.compactMap({ node[$0]?.stringValue }) { #expect(ids.contains(id)) }
            for wire in node["wires"]?.arrayValue?.flatMap({ $0.arrayValue ?? [] }) ?? [] {
                #expect(ids.contains(wire.stringValue ?? ""))
            }
            if node["type"] == "inject", let text = node["payload"]?.stringValue { try expectCommand(text) }
        }
    }

    @Test func theFunctionOfTheFlowExtrapolates() throws {
        let code = flow?.arrayValue?.first { $0["type"] == "function" }?["func"]?.stringValue ?? ""
        let anchor = #"{"elapsed":5,"rate":2,"skew":0,"wall":100}"#
        let state = #"{"state":"playing","item":{"title":"A","duration":60},"anchor":\#(anchor)}"#
        func run(_ now: Int, _ payload: String) -> String {
            let answer = "(function (msg) {\(code)})({payload: \(payload)})"
            let script = "Date.now = () => \(now); console.log(JSON.stringify(\(answer)))"
            return TestProcess.run(["node", "-e", script]).text
        }
        #expect(run(110_000, state) == #"{"payload":{"title":"A","state":"playing","position":25}}"# + "\n")
        #expect(run(900_000, state) == #"{"payload":{"title":"A","state":"playing","position":60}}"# + "\n")
        #expect(run(110_000, #"{"state":"stopped","item":null,"anchor":null}"#) == "null\n")
    }
}
