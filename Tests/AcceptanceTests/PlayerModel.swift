import ControlProtocol

/// A simple model of a player: its state after requests and its own actions.
struct PlayerModel: Equatable {
    var queue: [Int64] = []
    var current: Int64?
    /// `stopped`, `paused` or `playing`: the requested state.
    var wish = "stopped"
    /// Wrong actions of the player.
    private(set) var complaints: [String] = []

    /// Something that a client asks for.
    enum Command: Equatable {
        case play, pause, stop, toggle, next, previous
        case playItem(Int64)
        case seek(Double)
        case add(Int, at: Int)
        case remove([Int64])
        case move([Int64], to: Int)
        case clear

        /// Parameters for the daemon, for a queue of this many items; `file`: one to be added.
        func parameters(queueCount: Int, _ file: () -> JSONValue) -> JSONValue {
            switch self {
            case .playItem(let id): ["itemId": .integer(id)]
            case .seek(let position): ["position": .number(position)]
            case .add(let count, let place):
                ["items": .array((0..<count).map { _ in file() }), "at": .integer(Int64(place))]
            case .remove(let ids): ["ids": .array(ids.map(JSONValue.integer))]
            case .move(let ids, let place):
                ["ids": .array(ids.map(JSONValue.integer)), "to": .integer(Int64(min(place, queueCount - 1)))]
            default: [:]
            }
        }

        var method: String {
            switch self {
            case .play, .playItem: "play"
            case .pause: "pause"
            case .stop: "stop"
            case .toggle: "togglePlayPause"
            case .next: "nextTrack"
            case .previous: "previousTrack"
            case .seek: "changePlaybackPosition"
            case .add: "queue.add"
            case .remove: "queue.remove"
            case .move: "queue.move"
            case .clear: "queue.clear"
            }
        }
    }

    private func successor(of id: Int64) -> Int64? {
        guard let place = queue.firstIndex(of: id), place + 1 < queue.count else { return nil }
        return queue[place + 1]
    }

    private mutating func end() {
        wish = "stopped"
        current = nil
    }

    /// Carries out a request. Returns the code of the refusal, or 0. `added`: the ids of the added items. Items last less than
    /// 3 s.
    mutating func apply(_ command: Command, added: [Int64] = []) -> Int64 {
        switch command {
        case .play, .toggle:
            if command == .toggle, wish == "playing" {
                wish = "paused"
            } else if wish == "stopped" {
                guard let first = current ?? queue.first else { return 110 }
                current = first
                wish = "playing"
            } else {
                wish = "playing"
            }
        case .playItem(let id):
            guard queue.contains(id) else { return 100 }
            current = id
            wish = "playing"
        case .pause: if wish == "playing" { wish = "paused" }
        case .stop: wish = "stopped"
        case .next:
            guard !queue.isEmpty else { return 110 }
            let target = current.map { successor(of: $0) } ?? queue.first
            if let target { current = target } else if wish != "stopped" { end() }
        case .previous:
            guard !queue.isEmpty else { return 110 }
            guard let here = current, let place = queue.firstIndex(of: here) else {
                current = queue.last
                return 0
            }
            current = queue[max(0, place - 1)]
        case .seek: if current == nil { return 110 }
        case .add(_, let place): queue.insert(contentsOf: added, at: min(place, queue.count))
        case .remove(let ids):
            let rest = current.flatMap { queue.firstIndex(of: $0) }.map { queue[$0...].first { !ids.contains($0) } }
            queue.removeAll(where: ids.contains)
            guard let here = current, ids.contains(here) else { return 0 }
            current = rest ?? nil
            if current == nil { wish = "stopped" }
        case .move(let ids, let place):
            let moved = ids.filter(queue.contains)
            queue.removeAll(where: moved.contains)
            queue.insert(contentsOf: moved, at: min(place, queue.count))
        case .clear:
            queue = []
            end()
        }
        return 0
    }

    /// Takes an event that no request caused.
    mutating func observe(_ event: JSONValue) {
        switch event.words {
        case "track ended":
            let next = current.flatMap { successor(of: $0) }
            if wish != "playing" || event.itemID != next {
                complaints.append("\(event.itemID ?? 0) follows \(current ?? 0) in \(queue) while \(wish)")
            }
            current = event.itemID
        case "stop ended":
            if wish != "playing" || current.flatMap({ successor(of: $0) }) != nil {
                complaints.append("the end at \(current ?? 0) in \(queue) while \(wish)")
            }
            end()
        case "error", "stop error", "track error": complaints.append("\(event.words): \(event["error"] ?? .null)")
        default: break
        }
    }

    /// Difference of a state from the expected one; nil: none.
    func difference(from state: JSONValue) -> String? {
        let isWanted =
            state.playing == wish || (wish == "playing" && ["stalled", "interrupted"].contains(state.playing))
        let index = current.flatMap { queue.firstIndex(of: $0) }.map { Int64($0) }
        if isWanted, state.itemID == current, state["queue"]?["count"]?.integerValue == Int64(queue.count),
            state["queue"]?["index"]?.integerValue == index
        {
            return nil
        }
        return "\(wish) at \(current ?? 0), place \(index ?? -1) of \(queue.count); but it is \(state.playing) at "
            + "\(state.itemID ?? 0), \(state["queue"] ?? .null)"
    }
}
