import ControlProtocol

/// Sound, states and bytes of a row.
struct BadServerOutcome: CustomStringConvertible, Sendable {
    /// States that were published, in words, without repetitions: `playing`, `stalled unreachable`, ….
    private(set) var states: [String] = []
    /// Errors in states.
    private(set) var errors: [String] = []
    /// Message of the error of the first command; nil: none.
    private(set) var refusal: String?
    /// Words of the item while it played: live or not, artist, title, album.
    private(set) var items: Set<String> = []
    /// Position of the last anchor before the first daemon ended, and the first one of the second daemon.
    private(set) var positions: (left: Double, found: Double?) = (0, nil)
    /// Bytes that were sent in all, and before the restart.
    private(set) var (sent, sentBefore) = (0, 0)
    /// Offset and bytes of each connection with audio.
    private(set) var bodies: [(offset: Int, sent: Int)] = []
    /// Number of those before the restart.
    private(set) var bodiesBefore = 0
    private(set) var hadTrouble = false
    private(set) var heard = HeardFrames([], of: [])
    private(set) var seconds = 0.0
    /// Failures on the way.
    private(set) var failures: [String] = []
    private var isRestarted = false
    /// True once the present daemon has played.
    private(set) var hasPlayed = false

    /// The states without waits for the source and the output, and without the state before the first sound.
    var events: [String] {
        var result: [String] = []
        let waits: Set = ["stalled sourceLate", "stalled noOutput", "stalled serverHung"]
        for state in states where !waits.contains(state) {
            let isBeginning = result.isEmpty || result.last == "|"
            if isBeginning && state == "stopped" || result.last == state { continue }
            result.append(state)
        }
        return result
    }

    /// True if a state says that the source is late.
    var hasWaited: Bool { states.contains("stalled sourceLate") }

    /// Bytes that were loaded, after the restart if there was one.
    var loaded: Int { sent - sentBefore }

    /// Takes a state.
    mutating func saw(_ state: JSONValue) {
        let words = [state.playing, state["stall"]?["reason"]?.stringValue].compactMap(\.self).joined(separator: " ")
        if !words.isEmpty, states.last != words { states.append(words) }
        if let error = state["error"], error != .null { errors.append(error["message"]?.stringValue ?? "\(error)") }
        if state.playing == "playing", let item = state["item"] {
            hasPlayed = true
            let texts = [item["artist"]?.stringValue, item["title"]?.stringValue, item["albumTitle"]?.stringValue]
            let live = item["isLiveStream"] == .bool(true) ? "live" : "file"
            items.insert(([live] + texts.compactMap(\.self)).joined(separator: " / "))
        }
        guard !state.elapsed.isNaN else { return }
        if !isRestarted {
            positions.left = state.elapsed
        } else if positions.found == nil {
            positions.found = state.elapsed
        }
    }

    /// Notes the answer to the first command.
    mutating func answered(_ error: JSONValue?) { refusal = error?["message"]?.stringValue }

    /// Notes the end of the daemon, with its last states.
    mutating func stopped(_ status: Int32, _ last: [JSONValue]) {
        for state in last { saw(state) }
        require(status == 0, "the daemon ended with status \(status)")
    }

    /// Notes the start of the second daemon.
    mutating func restarted(_ progress: BadServerScript.Progress) {
        (sentBefore, bodiesBefore) = (progress.sent, progress.bodies.count)
        isRestarted = true
        hasPlayed = false
        states.append("|")
    }

    /// Notes something that must be.
    mutating func require(_ isRight: Bool, _ words: @autoclosure () -> String) {
        if !isRight { failures.append(words()) }
    }

    /// Notes all that is known at the end.
    mutating func end(_ progress: BadServerScript.Progress, seconds: Double, heard: HeardFrames) {
        (sent, bodies, hadTrouble) = (progress.sent, progress.bodies, progress.hadTrouble)
        (self.seconds, self.heard) = (seconds, heard)
    }

    var description: String {
        "  heard: \(heard)\n  states: \(states.joined(separator: ", ")); errors: \(errors); refusal: \(refusal ?? "-")\n"
            + "  items: \(items.sorted()); positions: \(positions); sent \(sent), before the restart \(sentBefore), "
            + "as \(bodies.map { "\($0.sent) from \($0.offset)" }); trouble: \(hadTrouble); \(seconds) s; \(failures)"
    }
}
