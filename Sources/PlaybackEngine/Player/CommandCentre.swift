package import NowPlaying

/// Remote commands: availability and parameters. The situation decides first; settings of clients apply on top. A pure value.
package struct CommandCentre: Equatable, Sendable {
    /// Setting of a client for one command; nil: unchanged.
    package struct Setting: Equatable, Sendable {
        package var isEnabled: Bool?
        package var reason: String?
        /// In seconds; the first is the default.
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
                // A reason belongs to its own disabling.
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

        /// No intervals of its own.
        package init() {}
    }

    private struct Layer: Equatable {
        /// Connection that owns the settings; nil: the daemon owns them.
        var connection: Int?
        var settings: [RemoteCommand: Setting] = [:]
    }

    /// Reason for a command that a client disabled without a reason.
    package static let turnedOff = "turned off by a client"

    /// Intervals of the configuration, seconds; the first is the default.
    private var forwardIntervals: [Double]
    /// The same for `skipBackward`.
    private var backwardIntervals: [Double]
    /// Intervals that override those above for a kind of items.
    private var kinds: [MediaType: KindIntervals]
    private var layers: [Layer] = []

    /// Without settings of clients.
    package init(
        forwardIntervals: [Double], backwardIntervals: [Double], kinds: [MediaType: KindIntervals] = [:]
    ) {
        self.forwardIntervals = forwardIntervals
        self.backwardIntervals = backwardIntervals
        self.kinds = kinds
    }

    /// Sets the intervals of a configuration in seconds; the first of each is the default.
    package mutating func setIntervals(forward: [Double], backward: [Double], kinds: [MediaType: KindIntervals]) {
        forwardIntervals = forward
        backwardIntervals = backward
        self.kinds = kinds
    }

    /// Sets parameters of a command until the connection ends or (nil) permanently. The newest setting takes
    /// precedence.
    package mutating func configure(_ command: RemoteCommand, _ setting: Setting, forConnection connection: Int?) {
        let index = layers.firstIndex { $0.connection == connection }
        var layer = index.map { layers.remove(at: $0) } ?? Layer(connection: connection)
        layer.settings[command, default: Setting()].apply(setting)
        layers.append(layer)
    }

    /// Settings that survive the daemon.
    package var lasting: [RemoteCommand: Setting] { layers.first { $0.connection == nil }?.settings ?? [:] }

    /// Restores the settings of an earlier run of the daemon.
    package mutating func restoreLasting(_ settings: [RemoteCommand: Setting]) {
        layers.removeAll { $0.connection == nil }
        if !settings.isEmpty { layers.insert(Layer(connection: nil, settings: settings), at: 0) }
    }

    /// Drops the settings of a connection that ended. True if there were any.
    package mutating func connectionEnded(_ connection: Int) -> Bool {
        let before = layers.count
        layers.removeAll { $0.connection == connection }
        return layers.count != before
    }

    /// Combined setting of all clients for a command.
    private func setting(of command: RemoteCommand) -> Setting {
        var result = Setting()
        for layer in layers { if let setting = layer.settings[command] { result.apply(setting) } }
        return result
    }

    /// Reason and flag of a command that a client disabled.
    package func disabling(of command: RemoteCommand) -> (reason: String?, isDisabled: Bool) {
        let setting = setting(of: command)
        return (setting.reason, setting.isEnabled == false)
    }

    /// Default length of a skip in seconds.
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

    /// Length of a skip in seconds without a setting by the configuration or a client.
    package static let usualInterval = 15.0

    /// Rates that a client can choose.
    package var supportedPlaybackRates: [Double] {
        setting(of: .changePlaybackRate).supportedPlaybackRates ?? Self.usualRates
    }

    /// Rates without a setting by a client.
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

    /// State of the player on which commands depend.
    package struct Situation: Equatable, Sendable {
        package var queueIsEmpty: Bool
        package var hasItem: Bool
        /// Reason why the current item cannot be seeked; nil: it can.
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

    /// The obstacle to a command in a situation, independent of settings by clients; nil: none.
    package static func obstacle(_ command: RemoteCommand, _ situation: Situation) -> CommandObstacle? {
        let missing: CommandObstacle? =
            situation.queueIsEmpty ? .emptyQueue : situation.hasItem ? nil : .noCurrentItem
        switch command.needs {
        case .nothing: return nil
        case .queue, .startableItem: return situation.queueIsEmpty ? .emptyQueue : nil
        case .currentItem: return missing
        case .position: return missing ?? situation.seekObstacle
        // A bookmark refers to the content, and an advertisement does not move that.
        case .contentPosition:
            return missing ?? (situation.seekObstacle == .advertisement ? nil : situation.seekObstacle)
        case .rate:
            if let missing { return missing }
            if situation.isLive { return .liveStream }
            return situation.seekObstacle == .advertisement ? .advertisement : nil
        }
    }
}
