package import ControlProtocol
package import NowPlaying

/// A published state for a client. Values that are unknown or of a later version are nil; no state is refused. Every
/// text is safe for a terminal.
package struct StateView: Sendable {
    /// The state as received.
    package let json: JSONValue
    /// The time base of the position; nil: the daemon gave none that can be read.
    package let anchor: PlaybackAnchor?

    /// Reads the result of `nowPlaying.get` or the parameters of `nowPlaying.changed`.
    package init(_ json: JSONValue) {
        self.json = json
        anchor = json["anchor"].flatMap(StateView.anchor)
    }

    /// Cause of the state: the name of a key event, or `snapshot`.
    package var cause: String { text("cause") ?? "" }
    /// Reason of a `track` or `stop` event.
    package var reason: String? { text("reason") }
    /// Playback state; nil for a state of a later version.
    package var state: PlaybackState? { json["state"]?.stringValue.flatMap(PlaybackState.init) }
    /// The state's name from the daemon.
    package var stateName: String { text("state") ?? "unknown" }
    /// Identity of this run of the daemon.
    package var instance: String { json["instance"]?.stringValue ?? "" }
    /// The item that is audible, or would be if playback ran; nil: there is none.
    package var item: JSONValue? { object("item") }
    /// The number of the item.
    package var itemID: Int64? { item?["id"]?.integerValue }
    /// Number of times that the item started.
    package var play: Int64? { item?["play"]?.integerValue }
    /// Seconds; nil: unknown or endless.
    package var duration: Double? { item?["duration"]?.doubleValue }
    /// 0…1.
    package var volume: Double? { json["volume"]?.doubleValue }
    /// The present rate, or the rate at the next play; never 0.
    package var playingRate: Double {
        guard let anchor else { return 1 }
        return anchor.rate > 0 ? anchor.rate : anchor.defaultRate > 0 ? anchor.defaultRate : 1
    }
    /// True if the sound is muted.
    package var isMuted: Bool { json["muted"]?.boolValue ?? false }
    /// Index of the item in the queue, from 0.
    package var queueIndex: Int64? { json["queue"]?["index"]?.integerValue }
    /// Number of items in the queue.
    package var queueCount: Int64 { json["queue"]?["count"]?.integerValue ?? 0 }
    /// Reason for a stall, as the protocol's word.
    package var stallReason: String? { text("stall", "reason") }
    /// Name of the state after the pending change, which is not audible yet; nil: there is none.
    package var pendingState: String? { text("pending", "state") }
    /// Seconds into the item at the pending change.
    package var pendingPosition: Double? { object("pending")?["position"]?.doubleValue }
    /// Instant at which the pending change becomes audible.
    package var pendingTime: MonotonicTime? {
        guard let seconds = object("pending")?["monotonic"]?.doubleValue, abs(seconds) < 9e9 else { return nil }
        return MonotonicTime(seconds: seconds)
    }
    /// The state after the pending change, for readers that show a request at once. If the change is to another item,
    /// the audible item and its position stay.
    package var asRequested: StateView {
        guard let pending = object("pending"), let name = pendingState, let position = pendingPosition,
            var state = json.objectValue, var time = json["anchor"]?.objectValue
        else { return self }
        state["state"] = .string(name)
        if pending["itemId"]?.integerValue == itemID {
            time["elapsed"] = .number(position)
            time["rate"] = name == "playing" ? time["defaultRate"] ?? 1 : 0
            time["monotonic"] = pending["monotonic"]
            time["wall"] = pending["wall"]
            state["anchor"] = .object(time)
        }
        return StateView(.object(state))
    }
    /// Program that interrupts playback; nil: none.
    package var interrupter: String? { text("interruption", "by") }
    /// True if playback resumes when the interruption ends.
    package var resumesAfterInterruption: Bool {
        object("interruption")?["shouldResume"]?.boolValue ?? false
    }
    /// The last run of consecutive items that failed.
    package var error: JSONValue? { object("error") }

    /// The title, or the name in the item's uri.
    package var title: String? {
        guard item != nil else { return nil }
        return text("item", "title") ?? text("item", "uri").map(StateView.name)
    }

    /// Position by the anchor alone, in seconds; nil: there is no item.
    package func position(at time: MonotonicTime) -> Double? {
        guard item != nil else { return nil }
        return anchor?.position(at: time, duration: duration)
    }

    /// The instant after `time` at which the position reaches the next whole second; nil while it does not move or
    /// after the end.
    package func nextSecond(after time: MonotonicTime) -> MonotonicTime? {
        guard let anchor, anchor.rate > 0, item != nil else { return nil }
        let start = max(time, anchor.monotonic)
        let position = anchor.position(at: start, duration: nil)
        let next = position.rounded(.down) + 1
        if let duration, next > duration { return nil }
        // One microsecond more, because rounding could leave the position just below the second.
        return start.advanced(bySeconds: (next - position) / (anchor.rate * (1 + anchor.skew)) + 0.000_001)
    }

    /// The text at this path of names, safe for a terminal; nil: it is missing, not a text, or empty.
    package func text(_ path: String...) -> String? {
        var value: JSONValue? = json
        for name in path { value = value?[name] }
        guard let text = value?.stringValue, !text.isEmpty else { return nil }
        return TerminalText.safe(text)
    }

    /// The last part of a uri or path, with percent signs decoded, safe for a terminal.
    package static func name(ofURI uri: String) -> String {
        let isPath = uri.hasPrefix("/")
        var text = Substring(uri)
        if !isPath, let end = text.firstIndex(where: { $0 == "?" || $0 == "#" }) { text = text[..<end] }
        while text.count > 1, text.hasSuffix("/") { text = text.dropLast() }
        if let slash = text.lastIndex(of: "/"), text.index(after: slash) < text.endIndex {
            text = text[text.index(after: slash)...]
        }
        guard !isPath, text.contains("%") else { return TerminalText.safe(String(text)) }
        return TerminalText.safe(String(decoding: PercentCoding.decoded(text.utf8).bytes, as: UTF8.self))
    }

    /// The member of this name, if it is an object.
    private func object(_ name: String) -> JSONValue? {
        guard let value = json[name], case .object = value else { return .none }
        return value
    }

    private static func anchor(_ json: JSONValue) -> PlaybackAnchor? {
        guard let elapsed = json["elapsed"]?.doubleValue, let rate = json["rate"]?.doubleValue,
            let monotonic = json["monotonic"]?.doubleValue, abs(monotonic) < 9e9
        else { return nil }
        return PlaybackAnchor(
            elapsed: elapsed, rate: rate, defaultRate: json["defaultRate"]?.doubleValue ?? 1,
            skew: json["skew"]?.doubleValue ?? 0,
            monotonic: MonotonicTime(seconds: monotonic),
            wall: json["wall"]?.doubleValue ?? 0, wallSynced: json["wallSynced"]?.boolValue ?? false)
    }
}

extension StateView {
    /// All causes of this state: several if the daemon merged events for a client that did not read.
    package var causes: [String] { json["causes"]?.arrayValue?.compactMap(\.stringValue) ?? [cause] }
}
