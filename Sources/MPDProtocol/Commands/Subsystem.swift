/// A part of the server whose changes `idle` reports, in the order of its answer. The raw value is its name.
package enum Subsystem: String, CaseIterable, Sendable {
    case database
    case storedPlaylist = "stored_playlist"
    case playlist
    case player
    case mixer
    case output
    case options
    case partition
    case sticker
    case update
    case subscription
    case message
    case neighbor
    case mount

    /// The subsystem of this name, whatever the case of its letters; nil: there is none.
    package init?(_ argument: Argument) {
        guard let subsystem = Self.allCases.first(where: { argument.isWord($0.rawValue) }) else { return nil }
        self = subsystem
    }
}

/// Changes that a client was not sent yet.
package struct PendingChanges: Equatable, Sendable {
    private var subsystems: Set<Subsystem> = []

    /// No changes.
    package init() {}

    /// A subsystem has changed.
    package mutating func note(_ subsystem: Subsystem) { subsystems.insert(subsystem) }

    /// Takes the changes of these subsystems out, in the order of their answer. The others stay for a later `idle`.
    package mutating func take(_ wanted: Set<Subsystem>) -> [Subsystem] {
        let taken = Subsystem.allCases.filter { wanted.contains($0) && subsystems.contains($0) }
        subsystems.subtract(taken)
        return taken
    }
}
