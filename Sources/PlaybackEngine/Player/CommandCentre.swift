package import NowPlaying

/// What the remote commands take and whether they can be used: the situation's own word, and what clients set on top of it.
/// A pure value.
package struct CommandCentre: Equatable, Sendable {
    /// What a client set for one command; nil: as it is.
    package struct Setting: Equatable, Sendable {
        package var isEnabled: Bool?
        package var reason: String?
        /// Seconds, the first is the default.
        package var preferredIntervals: [Double]?
        /// Multiples of normal speed.
        package var supportedPlaybackRates: [Double]?

        /// A setting, by its parts.
        package init(
            isEnabled: Bool? = nil, reason: String? = nil, preferredIntervals: [Double]? = nil,
            supportedPlaybackRates: [Double]? = nil
        ) {
            self.isEnabled = isEnabled
            self.reason = reason
            self.preferredIntervals = preferredIntervals
            self.supportedPlaybackRates = supportedPlaybackRates
        }

        fileprivate mutating func apply(_ newer: Setting) {
            if let enabled = newer.isEnabled {
                isEnabled = enabled
                // A reason belongs to the disabling that it came with.
                reason = newer.reason
            } else if let reason = newer.reason {
                self.reason = reason
            }
            preferredIntervals = newer.preferredIntervals ?? preferredIntervals
            supportedPlaybackRates = newer.supportedPlaybackRates ?? supportedPlaybackRates
        }
    }

    /// Intervals of the configuration for one kind of items, seconds; nil: those of all.
    package struct KindIntervals: Equatable, Sendable {
        /// For `skipForward`.
        package var forward: [Double]?
        /// For `skipBackward`.
        package var backward: [Double]?

        /// Nothing of its own.
        package init() {}
    }

    private struct Layer: Equatable {
        /// The connection for whose life it holds; nil: the daemon's.
        var connection: Int?
        var settings: [RemoteCommand: Setting] = [:]
    }

    /// Reason that is shown for a command that a client turned off without one.
    package static let turnedOff = "turned off by a client"

    /// Intervals of the configuration, seconds; the first is the default.
    private var forwardIntervals: [Double]
    /// The same for skipping backward.
    private var backwardIntervals: [Double]
    /// Intervals of kinds of items, which count more.
    private var kinds: [MediaType: KindIntervals]
    private var layers: [Layer] = []

    /// Nothing set by clients yet.
    package init(
        forwardIntervals: [Double], backwardIntervals: [Double], kinds: [MediaType: KindIntervals] = [:]
    ) {
        self.forwardIntervals = forwardIntervals
        self.backwardIntervals = backwardIntervals
        self.kinds = kinds
    }

    /// Takes the intervals of a configuration, seconds; the first of each is the default.
    package mutating func setIntervals(forward: [Double], backward: [Double], kinds: [MediaType: KindIntervals]) {
        forwardIntervals = forward
        backwardIntervals = backward
        self.kinds = kinds
    }

    /// Sets what a command takes, for a connection's life or (nil) the daemon's. The newest setting wins.
    package mutating func configure(_ command: RemoteCommand, _ setting: Setting, forConnection connection: Int?) {
        let place = layers.firstIndex { $0.connection == connection }
        var layer = place.map { layers.remove(at: $0) } ?? Layer(connection: connection)
        layer.settings[command, default: Setting()].apply(setting)
        layers.append(layer)
    }

    /// What was set for the daemon's life, and longer.
    package var lasting: [RemoteCommand: Setting] { layers.first { $0.connection == nil }?.settings ?? [:] }

    /// Takes over what an earlier run of the daemon was told.
    package mutating func restoreLasting(_ settings: [RemoteCommand: Setting]) {
        layers.removeAll { $0.connection == nil }
        if !settings.isEmpty { layers.insert(Layer(connection: nil, settings: settings), at: 0) }
    }

    /// A connection ended: what it set is given back. True if it had set anything.
    package mutating func connectionEnded(_ connection: Int) -> Bool {
        let before = layers.count
        layers.removeAll { $0.connection == connection }
        return layers.count != before
    }

    /// What clients set for a command, all in all.
    private func setting(of command: RemoteCommand) -> Setting {
        var result = Setting()
        for layer in layers { if let setting = layer.settings[command] { result.apply(setting) } }
        return result
    }

    /// Whether a client turned the command off, and with which words.
    package func disabling(of command: RemoteCommand) -> (reason: String?, isDisabled: Bool) {
        let setting = setting(of: command)
        return (setting.reason, setting.isEnabled == false)
    }

    /// Seconds that a skip takes without an interval of its own.
    package func interval(forward: Bool, for kind: MediaType) -> Double {
        let intervals = intervals(of: forward ? .skipForward : .skipBackward, for: kind)
        return intervals.first ?? Self.usualInterval
    }

    private func intervals(of command: RemoteCommand, for kind: MediaType) -> [Double] {
        guard command.traits.form == .skip else { return [] }
        if let chosen = setting(of: command).preferredIntervals { return chosen }
        return command == .skipForward
            ? kinds[kind]?.forward ?? forwardIntervals : kinds[kind]?.backward ?? backwardIntervals
    }

    /// Seconds of a skip as long as neither the configuration nor a client says otherwise.
    package static let usualInterval = 15.0

    /// Rates to choose from.
    package var supportedPlaybackRates: [Double] {
        setting(of: .changePlaybackRate).supportedPlaybackRates ?? Self.usualRates
    }

    /// What is offered as long as nobody says otherwise.
    private static let usualRates = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3]

    /// One status for every command in this situation.
    package func statuses(of situation: Situation) -> [CommandStatus] {
        RemoteCommand.allCases.map { command in
            let setting = setting(of: command)
            let obstacle = Self.obstacle(command, situation)
            let isEnabled = obstacle == nil && setting.isEnabled != false
            var status = CommandStatus(command, isEnabled: isEnabled)
            if !isEnabled { status.reason = obstacle?.words ?? setting.reason ?? Self.turnedOff }
            status.preferredIntervals = intervals(of: command, for: situation.kind)
            if command == .changePlaybackRate { status.supportedPlaybackRates = supportedPlaybackRates }
            return status
        }
    }

    /// What commands depend on.
    package struct Situation: Equatable, Sendable {
        package var queueIsEmpty: Bool
        package var hasItem: Bool
        /// Why the present item has no other place to go to; nil: it has.
        package var seekObstacle: CommandObstacle?
        package var isLive: Bool
        package var kind: MediaType

        /// A situation, by its parts.
        package init(
            queueIsEmpty: Bool, hasItem: Bool, seekObstacle: CommandObstacle? = nil, isLive: Bool = false,
            kind: MediaType = .audio
        ) {
            self.queueIsEmpty = queueIsEmpty
            self.hasItem = hasItem
            self.seekObstacle = seekObstacle
            self.isLive = isLive
            self.kind = kind
        }
    }

    /// The obstacle to a command in a situation, whatever clients set; nil: none.
    package static func obstacle(_ command: RemoteCommand, _ situation: Situation) -> CommandObstacle? {
        let missing: CommandObstacle? =
            situation.queueIsEmpty ? .emptyQueue : situation.hasItem ? nil : .noCurrentItem
        switch command.needs {
        case .nothing: return nil
        case .queue, .startableItem: return situation.queueIsEmpty ? .emptyQueue : nil
        case .currentItem: return missing
        case .position: return missing ?? situation.seekObstacle
        // It marks a position of the content, which an advertisement does not move.
        case .contentPosition:
            return missing ?? (situation.seekObstacle == .advertisement ? nil : situation.seekObstacle)
        case .rate:
            if let missing { return missing }
            if situation.isLive { return .liveStream }
            return situation.seekObstacle == .advertisement ? .advertisement : nil
        }
    }
}
