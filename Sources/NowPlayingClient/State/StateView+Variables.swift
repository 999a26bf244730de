import ControlProtocol
package import NowPlaying

extension StateView {
    /// The value of a template's variable for this state at `time`: playerctl's names with their units (`position` and
    /// `mpris:length` in microseconds), our own (`state cause elapsed remaining duration`, in seconds), the item's fields by
    /// their names, and any other member of the state by its path (`output.description`).
    package func variable(_ name: String, at time: MonotonicTime) -> TemplateValue {
        switch name {
        case "playerName": .text("nowplayingd")
        case "playerInstance": .text("nowplayingd")
        case "status": .text(playbackStatus)
        case "position": position(at: time).map { .number(($0 * 1_000_000).rounded()) } ?? .nothing
        case "mpris:length": duration.map { .number(($0 * 1_000_000).rounded()) } ?? .nothing
        case "elapsed": position(at: time).map { .seconds($0) } ?? .nothing
        case "duration", "length": duration.map { .seconds($0) } ?? .nothing
        case "remaining": remaining(at: time).map { .seconds($0) } ?? .nothing
        case "title", "xesam:title": title.map { .text($0) } ?? .nothing
        case "loop": .text(StateView.loops[text("repeatMode") ?? ""] ?? "None")
        case "shuffle": .text((text("shuffleMode") ?? "off") == "off" ? "false" : "true")
        default: value(at: StateView.aliases[name] ?? name)
        }
    }

    /// The fields of an item that a variable of a template needs; empty: it is not a field of an item.
    package static func fields(of variable: String) -> [ItemField] {
        switch variable {
        case "title", "xesam:title": return [.title, .uri]
        case "duration", "length", "mpris:length", "remaining": return [.duration]
        default:
            let path = (aliases[variable] ?? variable).split(separator: ".").map(String.init)
            let name = path.first == "item" ? path.dropFirst().first : path.first
            return name.flatMap(ItemField.init).map { [$0] } ?? []
        }
    }

    /// The state as one of MPRIS's three words.
    private var playbackStatus: String {
        switch state {
        case .playing, .stalled: "Playing"
        case .paused, .interrupted: "Paused"
        case .stopped, nil: "Stopped"
        }
    }

    private func remaining(at time: MonotonicTime) -> Double? {
        guard let duration, let position = position(at: time) else { return nil }
        return max(0, duration - position)
    }

    /// Value at a path with dots: in the item, else in the state.
    private func value(at path: String) -> TemplateValue {
        let names = path.split(separator: ".").map(String.init)
        guard let last = names.last else { return .nothing }
        var found = item
        for name in names { found = found?[name] }
        if found == nil {
            found = json
            for name in names { found = found?[name] }
        }
        switch found {
        case .string(let text): return .text(TerminalText.safe(text))
        case .bool(let flag): return .text(flag ? "true" : "false")
        case .integer(let value):
            return StateView.times.contains(last) ? .seconds(Double(value)) : .number(Double(value))
        case .number(let value): return StateView.times.contains(last) ? .seconds(value) : .number(value)
        case .array(let values):
            return .text(TerminalText.safe(values.compactMap(\.stringValue).joined(separator: ", ")))
        case .null, .object, nil: return .nothing
        }
    }

    private static let loops = ["one": "Track", "all": "Playlist"]
    private static let times: Set<String> = ["elapsed", "duration", "latency", "bookmark"]

    /// Other names of the item's fields.
    private static let aliases = [
        "album": "albumTitle", "xesam:album": "albumTitle", "xesam:artist": "artist",
        "xesam:albumArtist": "albumArtist",
        "xesam:composer": "composer", "xesam:genre": "genre", "xesam:trackNumber": "trackNumber",
        "xesam:discNumber": "discNumber", "xesam:contentCreated": "releaseDate", "xesam:url": "uri",
        "xesam:comment": "description", "mpris:trackid": "item.id",
    ]
}
