import ControlProtocol

/// Accessors of states and answers for tests.
extension JSONValue {
    var elapsed: Double { self["anchor"]?["elapsed"]?.doubleValue ?? .nan }
    var rate: Double { self["anchor"]?["rate"]?.doubleValue ?? .nan }
    var monotonic: Double { self["anchor"]?["monotonic"]?.doubleValue ?? .nan }
    var skew: Double { self["anchor"]?["skew"]?.doubleValue ?? 0 }
    var playing: String { self["state"]?.stringValue ?? "" }
    /// Members of a queue, or of a list of it, that outlive the daemon and its events: all but the revision and its edits.
    var lasting: JSONValue? {
        guard case .object(let queue) = self else { return nil }
        let passing: Set = ["revision", "from", "edits"]
        return .object(JSONObject(queue.members.filter { !passing.contains($0.name) }))
    }
    /// True if play goes on here from `position`: from its frame on, and not further than sound lasts that began after an
    /// instant of CLOCK_MONOTONIC. The anchor belongs to the first reading of the flow, which a busy machine makes late.
    func goesOn(from position: Double, after instant: Double) -> Bool {
        // A position rests on a frame, of which there are 44,100 or more in a second.
        playing == "playing" && elapsed > position - 1 / 44_100 && elapsed - position <= monotonic - instant
    }
    var sequence: Int64 { self["seq"]?.integerValue ?? -1 }
    var itemID: Int64? { self["item"]?["id"]?.integerValue }

    /// Cause and reason of a state: `stop ended`.
    var words: String {
        (self["cause"]?.stringValue ?? "") + (self["reason"]?.stringValue.map { " " + $0 } ?? "")
    }

    /// Seconds into the item at an instant of CLOCK_MONOTONIC, by the protocol's formula.
    func position(at time: Double) -> Double {
        let moved = elapsed + rate * (1 + skew) * max(0, time - monotonic)
        return max(0, min(moved, self["item"]?["duration"]?.doubleValue ?? moved))
    }
}
