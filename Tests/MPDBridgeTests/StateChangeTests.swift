import ControlProtocol
import MPDProtocol
import NowPlayingClient
import TestSupport
import Testing

@testable import MPDBridge

/// Subsystems in which states differ.
@Suite struct StateChangeTests {
    private static let names = [
        "seq", "cause", "session", "state", "volume", "muted", "repeatMode", "shuffleMode", "consumeMode", "singleMode",
        "loudness", "crossfade", "output", "item", "error", "stall", "anchor",
    ]
    private static let causes = ["play", "volume", "queue", "outputs", "feedback", "metadata", "drift", "error"]

    /// A state in which some members are missing, and others have one of two values.
    private static func state(_ random: inout SeededRandom) -> JSONValue {
        var object = JSONObject()
        for name in names where Int.random(in: 0..<8, using: &random) > 0 {
            let value: JSONValue = Bool.random(using: &random) ? 1 : 2
            switch name {
            case "cause": object[name] = .string(causes.randomElement(using: &random) ?? "")
            case "output": object[name] = ["name": value, "latency": Bool.random(using: &random) ? 3 : 4]
            case "item": object[name] = ["id": value, "feedback": ["liked": .bool(Bool.random(using: &random))]]
            case _: object[name] = value
            }
        }
        return .object(object)
    }

    /// The subsystems by the words of the rule, member by member.
    private static func wanted(_ new: JSONValue, _ old: JSONValue) -> SubsystemSet {
        var result: SubsystemSet = []
        func differs(_ names: String...) -> Bool { names.contains { new[$0] != old[$0] } }
        let cause = new["cause"]?.stringValue ?? ""
        if differs("state", "item", "error", "session", "stall") || ["play", "metadata", "error"].contains(cause) {
            result.formUnion(SubsystemSet(.player))
        }
        if differs("volume", "muted") { result.formUnion(SubsystemSet(.mixer)) }
        if differs("repeatMode", "shuffleMode", "consumeMode", "singleMode", "loudness", "crossfade") {
            result.formUnion(SubsystemSet(.options))
        }
        if new["output"]?["name"] != old["output"]?["name"] || cause == "outputs" {
            result.formUnion(SubsystemSet(.output))
        }
        if new["item"]?["feedback"] != old["item"]?["feedback"] || cause == "feedback" {
            result.formUnion(SubsystemSet(.sticker))
        }
        return result
    }

    @Test func differencesOfGeneratedStates() {
        var random = SeededRandom(seed: 7)
        for _ in 0..<20_000 {
            let (old, new) = (Self.state(&random), Self.state(&random))
            let found = StateView(new).changes(since: StateView(old))
            #expect(found == Self.wanted(new, old), "\(new) after \(old)")
            guard found == Self.wanted(new, old) else { return }
            #expect(StateView(old).changes(since: StateView(old)) == Self.wanted(old, old))
        }
    }
}
