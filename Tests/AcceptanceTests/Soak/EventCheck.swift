import ControlProtocol

/// Follows all key events of a daemon and checks each against the one before it: no number is missing, a position moves by
/// the clock or by a named cause, an item ends at its end, and the queue determines the next item.
struct EventCheck {
    /// Seconds by which a position may be off.
    let tolerance: Double
    /// Seconds of silence, at most, in which a stream of another format begins or a stall is noticed.
    let gap: Double
    /// Identities of the queue of `main` in its order, and the version that it has so; empty: unknown.
    var order: [Int64] = []
    var version: Int64 = -1
    /// Items that can't be played.
    var broken: Set<Int64> = []
    /// Violations.
    private(set) var complaints: [String] = []
    /// Number of events so far, and of events that merge several because the client did not read.
    private(set) var count = 0
    private(set) var merged = 0
    /// Greatest distance between a published position and the previous event's for that instant, in seconds.
    var greatestError: Double { errors.max() ?? 0 }
    /// 99th percentile of these distances.
    var usualError: Double { errors.isEmpty ? 0 : errors.sorted()[(errors.count - 1) * 99 / 100] }
    private var errors: [Double] = []
    /// Events that correct the position because the sound came too late, and the longest correction, in seconds.
    private(set) var corrections = 0
    /// Those of them that are longer than the wait for a processor since the event before.
    private(set) var unexplained = 0
    private(set) var greatestCorrection = 0.0
    /// Those of them that include it: the cause of the end or the return of sound came before it was noticed.
    private(set) var remarks = 0
    /// Items that began by themselves at the end of another.
    private(set) var successions = 0
    private var last: [String: JSONValue] = [:]
    private var sequence: Int64?
    /// Seconds of the daemon's clock that its threads waited for a processor since the event before.
    private var waited = 0.0

    init(tolerance: Double, gap: Double) { (self.tolerance, self.gap) = (tolerance, gap) }

    /// Causes that say that the position is another one now.
    private static let moving: Set<String> = ["seek", "track", "stop"]
    /// Causes that correct an earlier published position.
    private static let correcting: Set<String> = ["stall", "unstall", "drift", "rate"]
    /// Causes that may come with another item.
    private static let choosing: Set<String> = ["track", "stop", "play", "stall", "unstall", "queue", "session"]

    /// Takes the next event. `waited`: seconds of the daemon's clock that its threads waited for a processor since the one
    /// before.
    mutating func take(_ state: JSONValue, waited: Double) {
        self.waited = waited
        // A new session has no number.
        if state["cause"] == "snapshot" { return }
        count += 1
        if state["causes"]?.arrayValue?.isEmpty == false {
            merged += 1
            last = [:]
        } else if let sequence, state.sequence != sequence + 1 {
            complain("number \(state.sequence) follows \(sequence)", state)
        }
        sequence = state.sequence
        guard let session = state["session"]?.stringValue else { return complain("an event of no session", state) }
        defer { last[session] = state }
        // An external session moves as its program likes.
        guard session == "main", let before = last[session] else { return }
        let isSamePlay = before.itemID == state.itemID && before["item"]?["play"] == state["item"]?["play"]
        if isSamePlay {
            if !Self.moving.contains(state["cause"]?.stringValue ?? "") { compare(before, state) }
        } else if state.words == "track ended" {
            succeed(before, state)
        } else if state.words == "stop ended" {
            compareEnd(before, state)
        } else if !Self.choosing.contains(state["cause"]?.stringValue ?? ""), state.rate != 0 {
            complain("another item without a word", state)
        }
    }

    /// Seconds into the item at an instant, by a state, within the item or not.
    private func expected(_ state: JSONValue, _ time: Double) -> Double {
        state.elapsed + state.rate * (1 + state.skew) * max(0, time - state.monotonic)
    }

    private mutating func compare(_ before: JSONValue, _ state: JSONValue) {
        guard !state.elapsed.isNaN, !before.elapsed.isNaN else { return }
        let expected = before.position(at: state.monotonic)
        let late = expected - state.elapsed
        // That nothing was heard, or too late, is noticed a little later; it stands where the sound does then. At another
        // rate it begins when that is decoded.
        if Self.correcting.contains(state["cause"]?.stringValue ?? ""), abs(late) <= gap { return correct(late) }
        // Either the sound ended and a client stopped playback before the daemon noticed it, or the sound returned a moment
        // before the event.
        if abs(late) > tolerance, abs(late) <= gap, late > 0 ? state.rate == 0 : before.rate == 0 {
            remarks += 1
            return correct(late)
        }
        let error = abs(late)
        errors.append(error)
        if error > tolerance { complain("it is at \(state.elapsed), not at \(expected) as published", before, state) }
    }

    private mutating func compareEnd(_ before: JSONValue, _ state: JSONValue) {
        guard let duration = before["item"]?["duration"]?.doubleValue, before.rate > 0 else { return }
        let late = expected(before, state.monotonic) - duration
        // Another format has a stream of its own, which begins after the last frame of the other stream, and may begin late.
        // Until then the position is the end.
        if late > tolerance, late <= gap { return correct(late) }
        errors.append(abs(late))
        if abs(late) > tolerance { complain("it ended \(late) s after its end of \(duration)", before, state) }
    }

    private mutating func correct(_ late: Double) {
        corrections += 1
        if abs(late) > tolerance + waited { unexplained += 1 }
        greatestCorrection = max(greatestCorrection, abs(late))
    }

    private mutating func succeed(_ before: JSONValue, _ state: JSONValue) {
        successions += 1
        compareEnd(before, state)
        // A bookmark, or a place where it was left, is where it begins.
        if state["item"]?["bookmark"] == nil, abs(state.elapsed) > tolerance {
            complain("it begins at \(state.elapsed)", before, state)
        }
        // Items that can't play are skipped, with an event.
        guard before["error"] == .null, state["error"] == .null else { return }
        if let next = before["upcoming"]?["itemId"]?.integerValue, next != state.itemID {
            complain("\(state.itemID ?? 0) follows, not \(next) as published", before, state)
        }
        guard before["shuffleMode"] == "off", before["repeatMode"] == "off", state["shuffleMode"] == "off",
            [before, state].allSatisfy({ $0["queue"]?["version"]?.integerValue == version }),
            let left = before.itemID, let place = order.firstIndex(of: left), let right = state.itemID
        else { return }
        // The sound of the earlier item may have cleared the error.
        if order[(place + 1)...].first(where: { !broken.contains($0) }) != right {
            complain("\(right) follows \(left) in \(order)", before, state)
        }
    }

    private mutating func complain(_ what: String, _ states: JSONValue...) {
        guard complaints.count < 20 else { return }
        let all = states.map { state in
            "\(state.words) seq \(state.sequence) item \(state.itemID ?? 0) \(state.playing) "
                + JSONWriter.text(state["anchor"] ?? .null)
        }
        complaints.append("\(what): \(all.joined(separator: " then "))")
    }
}
