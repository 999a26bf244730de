/// A part of the server whose changes `idle` reports, in the order of the answer. The raw value is its name.
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

    /// The subsystem of this name, regardless of case; nil: there is none.
    package init?(_ argument: Argument) {
        guard let subsystem = Self.allCases.first(where: { argument.isWord($0.rawValue) }) else { return nil }
        self = subsystem
    }
}

/// Several subsystems.
package struct SubsystemSet: OptionSet, Hashable, Sendable {
    /// One bit for each subsystem.
    package let rawValue: UInt16

    /// The subsystems of these bits.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// This subsystem alone.
    package init(_ subsystem: Subsystem) { rawValue = 1 << Self.bit(subsystem) }

    /// Every subsystem.
    package static let all = SubsystemSet(Subsystem.allCases.map(SubsystemSet.init))

    /// The subsystems in the order of an answer.
    package var members: [Subsystem] { Subsystem.allCases.filter { contains(SubsystemSet($0)) } }

    private static func bit(_ subsystem: Subsystem) -> UInt16 {
        switch subsystem {
        case .database: 0
        case .storedPlaylist: 1
        case .playlist: 2
        case .player: 3
        case .mixer: 4
        case .output: 5
        case .options: 6
        case .partition: 7
        case .sticker: 8
        case .update: 9
        case .subscription: 10
        case .message: 11
        case .neighbor: 12
        case .mount: 13
        }
    }
}

/// Changes that were not sent to a client yet.
package struct PendingChanges: Equatable, Sendable {
    private var subsystems: SubsystemSet = []

    /// No changes.
    package init() {}

    /// Adds changes of subsystems.
    package mutating func note(_ changed: SubsystemSet) { subsystems.formUnion(changed) }

    /// Removes and returns the changes of these subsystems. The other changes stay for a later `idle`.
    package mutating func take(_ wanted: SubsystemSet) -> SubsystemSet {
        let taken = subsystems.intersection(wanted)
        subsystems.subtract(taken)
        return taken
    }
}
