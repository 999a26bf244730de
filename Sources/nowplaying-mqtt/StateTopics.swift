import ControlProtocol
import NowPlaying
import NowPlayingClient

/// Retained topics of a state: one for the whole and one for each field.
enum StateTopics {
    /// Name after the box's topic, and its payload.
    typealias Entry = (name: String, payload: [UInt8])

    /// Bytes of UTF-8 in a field's topic, at most.
    private static let maximumBytes = 4096

    /// The whole state as JSON, with the position members that Home Assistant needs.
    static func whole(_ state: StateView) -> [UInt8] {
        guard case .object(var object) = state.json else { return [] }
        if let anchor = state.anchor, state.item != nil {
            object["media_position"] = .number(anchor.elapsed)
            object["media_position_updated_at"] = .string(UTC.text(anchor.wall))
        }
        return Array(TerminalText.escapedJSON(JSONWriter.text(.object(object))).utf8)
    }

    /// Message of an event, for a topic that is not retained. `causes`: of all events in it, in their order.
    static func event(_ state: StateView, _ causes: [String]) -> [UInt8] {
        var object = JSONObject([.init("cause", .string(state.cause)), .init("state", .string(state.stateName))])
        for name in ["reason", "seq", "by"] {
            if let value = state.json[name], value != .null { object[name] = value }
        }
        if causes.count > 1 { object["causes"] = .array(causes.map { .string($0) }) }
        return Array(TerminalText.escapedJSON(JSONWriter.text(.object(object))).utf8)
    }

    /// All fields; a field without a value is empty.
    static func fields(_ state: StateView) -> [Entry] {
        func number(_ value: Double?) -> String { value.map { ClockText.number($0, places: 3) } ?? "" }
        func field(_ name: String) -> String {
            switch state.item?[name] {
            case .string(let text)?: text
            case .integer(let number)?: String(number)
            case .number(let value)?: ClockText.number(value)
            default: ""
            }
        }
        func flag(_ name: String) -> String {
            state.item.map { $0[name]?.boolValue == true ? "1" : "0" } ?? ""
        }
        let values: [(String, String)] = [
            ("status", state.stateName), ("playing", state.state == .playing ? "1" : "0"), ("title", state.title ?? ""),
            ("artist", field("artist")), ("album", field("albumTitle")), ("album_artist", field("albumArtist")),
            ("genre", field("genre")), ("track", field("trackNumber")), ("uri", field("uri")),
            ("duration", number(state.duration)), ("position", state.item == nil ? "" : number(state.anchor?.elapsed)),
            ("position_updated_at", state.item == nil ? "" : state.anchor.map { UTC.text($0.wall) } ?? ""),
            ("rate", number(state.anchor?.rate)), ("volume", number(state.volume)),
            ("muted", state.isMuted ? "1" : "0"),
            ("output", state.text("output", "description") ?? state.text("output", "name") ?? ""),
            ("queue_index", state.queueIndex.map(String.init) ?? ""), ("queue_count", String(state.queueCount)),
            ("stall", state.stallReason ?? ""), ("error", state.text("error", "message") ?? ""),
            ("session", state.text("session") ?? ""), ("rating", field("rating")), ("bookmark", field("bookmark")),
            ("liked", flag("isLiked")), ("disliked", flag("isDisliked")), ("chapter", chapter(state)),
            ("sleep", sleep(state)),
        ]
        let modes = RemoteCommand.modes.compactMap(\.mode).map { ($0.word, state.text($0.key) ?? "") }
        return (values + modes).map { ($0.0, cut(TerminalText.safe($0.1))) }
    }

    /// Title of the audible chapter, or its number from 1.
    private static func chapter(_ state: StateView) -> String {
        guard let index = state.item?["chapterIndex"]?.integerValue, index >= 0 else { return "" }
        let chapters = state.item?["chapters"]?.arrayValue ?? []
        guard index < chapters.count, let title = chapters[Int(index)]["title"]?.stringValue else {
            return String(index + 1)
        }
        return title
    }

    /// Time at which playback ends by the sleep timer, as ISO 8601, or `item`.
    private static func sleep(_ state: StateView) -> String {
        state.json["sleep"]?["endsWall"]?.doubleValue.map(UTC.text) ?? state.text("sleep", "endOf") ?? ""
    }

    private static func cut(_ text: String) -> [UInt8] {
        var bytes = Array(text.utf8.prefix(maximumBytes + 1))
        guard bytes.count > maximumBytes else { return bytes }
        while let last = bytes.popLast(), UTF8.isContinuation(last) {}
        return bytes
    }
}

/// Unix time as ISO 8601.
enum UTC {
    /// `2026-11-21T10:00:00.123Z`; milliseconds, proleptic Gregorian calendar.
    static func text(_ wall: Double) -> String {
        let milliseconds = Int64(clamping: (max(0, min(wall, 9e9)) * 1000).rounded())
        let seconds = milliseconds / 1000
        let (day, rest) = (seconds / 86400, seconds % 86400)
        // Days from civil, inverted: years begin in March, so that the leap day is the last day of a year.
        let shifted = day + 719_468
        let era = shifted / 146_097
        let ofEra = shifted % 146_097
        let year = (ofEra - ofEra / 1460 + ofEra / 36524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * year + year / 4 - year / 100)
        let month = (5 * ofYear + 2) / 153
        let monthNumber = month < 10 ? month + 3 : month - 9
        func padded(_ number: Int64, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
        }
        let date = [
            padded(year + era * 400 + (monthNumber <= 2 ? 1 : 0), 4), padded(monthNumber, 2),
            padded(ofYear - (153 * month + 2) / 5 + 1, 2),
        ]
        let time = [padded(rest / 3600, 2), padded(rest / 60 % 60, 2), padded(rest % 60, 2)]
        return date.joined(separator: "-") + "T" + time.joined(separator: ":") + "." + padded(milliseconds % 1000, 3)
            + "Z"
    }
}
