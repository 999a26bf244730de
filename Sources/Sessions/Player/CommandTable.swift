import ControlProtocol
import ControlServer
import DaemonConfiguration
import LinuxSystem
import NowPlaying
import PlaybackEngine
import StateKeeping

/// The available remote commands and their parameters: lists them, sets them, and guards each request.
@PlayerLoop final class CommandTable {
    private let player: Player
    private let settings: LiveConfiguration
    /// Keeps the lasting settings; nil: nothing does.
    private let store: StateStore?
    private let log: @PlayerLoop (String) -> Void
    /// The settings of clients and of the configuration.
    private(set) var centre: CommandCentre

    /// The commands of this player. `log` takes a warning without control characters.
    init(
        _ player: Player, _ settings: LiveConfiguration, _ store: StateStore?,
        log: @escaping @PlayerLoop (String) -> Void
    ) {
        self.player = player
        self.settings = settings
        self.store = store
        self.log = log
        let configuration = settings.current
        centre = CommandCentre(
            forwardIntervals: configuration.forwardIntervals, backwardIntervals: configuration.backwardIntervals,
            kinds: configuration.kindIntervals)
        watchKinds()
    }

    // MARK: Life

    /// Takes the lasting settings of an earlier run.
    func restoreLasting(_ settings: [RemoteCommand: CommandCentre.Setting]) { centre.restoreLasting(settings) }

    /// Drops the settings for the life of this connection.
    func connectionEnded(_ client: ClientIdentity) {
        if centre.connectionEnded(client.number) { player.commandsChanged(by: client.originator) }
    }

    /// Takes the intervals of the changed configuration.
    func configurationChanged(by: Originator) {
        let configuration = settings.current
        let old = centre
        centre.setIntervals(
            forward: configuration.forwardIntervals, backward: configuration.backwardIntervals,
            kinds: configuration.kindIntervals)
        watchKinds()
        if centre != old { player.commandsChanged(by: by) }
    }

    /// Lets the player publish commands when the kind of the current item changes, if they depend on it.
    private func watchKinds() {
        guard !settings.current.kindIntervals.isEmpty else { return player.listen { $0.kindOf = nil } }
        player.listen { listeners in
            listeners.kindOf = { [weak self] in self?.kind(of: $0) ?? .audio }
        }
    }

    // MARK: List and settings

    /// True if any command is available now.
    var hasEnabledCommand: Bool { statuses.contains(where: \.isEnabled) }

    private var statuses: [CommandStatus] { centre.statuses(of: situation) }

    /// Result of `commands.list`.
    func list() -> JSONValue {
        let commands = statuses.map { status in
            var members = [
                JSONObject.Member("command", .string(status.command.rawValue)),
                JSONObject.Member("enabled", .bool(status.isEnabled)),
            ]
            if let reason = status.reason { members.append(JSONObject.Member("reason", .string(reason))) }
            if !status.preferredIntervals.isEmpty {
                members.append(JSONObject.Member("preferredIntervals", numbers(status.preferredIntervals)))
            }
            if !status.supportedPlaybackRates.isEmpty {
                members.append(JSONObject.Member("supportedPlaybackRates", numbers(status.supportedPlaybackRates)))
            }
            switch status.command.traits.form {
            case .mode:
                if let mode = currentMode(status.command) { members.append(mode) }
            case .stars: members += [.init("minimumRating", .integer(0)), .init("maximumRating", .integer(5))]
            case .opinion:
                let active = player.state.item?.feedback?.activeCommands ?? []
                members.append(.init("isActive", .bool(active.contains(status.command))))
            case .plain, .skip, .scan, .position, .rate: break
            }
            return JSONValue.object(JSONObject(members))
        }
        return ["version": .integer(Int64(player.state.commandsVersion)), "commands": .array(commands)]
    }

    private func numbers(_ values: [Double]) -> JSONValue {
        .array(values.map { $0 == $0.rounded() && abs($0) < 1e15 ? .integer(Int64($0)) : .number($0) })
    }

    /// The mode that a command sets, as the list of commands shows it.
    private func currentMode(_ command: RemoteCommand) -> JSONObject.Member? {
        guard let mode = command.mode else { return nil }
        let word = player.state.modes.words.first { "\($0.name)" == mode.key }?.word
        return word.map { .init(mode.listKey, .string($0)) }
    }

    /// `commands.configure`.
    func configure(_ request: MethodRequest) -> MethodResult {
        guard let name = request.string("command"), let command = RemoteCommand(rawValue: name) else {
            return .failure(.invalidParameter("command", "“command” is not a command"))
        }
        let isForConnection = request.bool("whileConnected") ?? false
        if !isForConnection, request.client.role < .admin {
            return .failure(
                .denied("only the daemon's own user can configure commands permanently; send “whileConnected”: true"))
        }
        let takesIntervals = command.traits.form == .skip
        if request.array("preferredIntervals") != nil, !takesIntervals {
            return .failure(.invalidParameter("preferredIntervals", "“\(name)” takes no intervals"))
        }
        if request.array("supportedPlaybackRates") != nil, command.traits.form != .rate {
            return .failure(.invalidParameter("supportedPlaybackRates", "“\(name)” takes no rates"))
        }
        let before = centre
        centre.configure(
            command,
            CommandCentre.Setting(
                isEnabled: request.bool("enabled"), reason: request.string("reason"),
                preferredIntervals: request.doubles("preferredIntervals"),
                supportedPlaybackRates: request.doubles("supportedPlaybackRates")),
            forConnection: isForConnection ? request.client.number : nil)
        if centre != before {
            store?.keep(centre.lasting)
            player.commandsChanged(by: request.client.originator)
        }
        return .success(["version": .integer(Int64(player.state.commandsVersion))])
    }

    // MARK: Guards

    /// The situation, on which commands depend.
    private var situation: CommandCentre.Situation {
        CommandCentre.Situation(
            queueIsEmpty: player.queue.isEmpty, hasItem: player.currentItem != nil, seekObstacle: player.seekObstacle,
            isLive: player.mediaObstacle == .liveStream, kind: currentKind)
    }

    /// The obstacle to a command before it is carried out: guards and disabling, in the order of the protocol; nil: none.
    func obstacle(_ command: RemoteCommand, _ request: MethodRequest) -> PlayerRefusal? {
        if let wanted = request.itemID("itemId"), command != .play, wanted != player.currentItem { return .otherItem }
        let situation = situation
        let obstacle = CommandCentre.obstacle(command, situation)
        if centre.disabling(of: command).isDisabled {
            if ![.nothing, .queue].contains(command.needs), request.media.isEmpty, obstacle == .emptyQueue {
                return .emptyQueue
            }
            return .disabled(command, reason: centre.disabling(of: command).reason)
        }
        if let other = implied(by: command, request), centre.disabling(of: other).isDisabled {
            return .impliedDisabled(other, reason: centre.disabling(of: other).reason)
        }
        if let obstacle = player.seekObstacle, moves(command, request) { return .noOtherPosition(obstacle) }
        if request.string("phase") != "end", let obstacle, obstacle != .emptyQueue, obstacle != .noCurrentItem {
            return .obstructed(command, obstacle)
        }
        if let limit = request.double("notAfter") {
            if !WallClock.isSet {
                log("ignored notAfter of \(request.client.name): the wall clock was never set")
            } else if WallClock.time(of: EventLoop.now) > limit {
                return .late
            }
        }
        return nil
    }

    /// The command whose work `play` does by its arguments: a move in the present item, or to another item of the queue.
    private func implied(by command: RemoteCommand, _ request: MethodRequest) -> RemoteCommand? {
        guard command == .play, request.media.isEmpty, let current = player.currentItem else { return nil }
        let entries = player.queue.entries
        let index = request.itemID("itemId").flatMap { player.queue.index(of: $0) } ?? request.integer("index")
        guard let index, entries.indices.contains(index), let currentIndex = player.queue.index(of: current) else {
            return request.double("position") == nil ? nil : .changePlaybackPosition
        }
        if index == currentIndex { return .changePlaybackPosition }
        return index > currentIndex ? .nextTrack : .previousTrack
    }

    /// True if it seeks in the current item.
    private func moves(_ command: RemoteCommand, _ request: MethodRequest) -> Bool {
        switch command.traits.form {
        case .skip, .position: true
        case .scan: request.string("phase") == "begin"
        case .plain:
            command == .play && request.double("position") != nil && request.media.isEmpty
                && request.itemID("itemId") == nil && request.integer("index") == nil
        case .rate, .mode, .stars, .opinion: false
        }
    }

    // MARK: Kinds

    /// Kind of the current item, for the defaults of its kind.
    private var currentKind: MediaType {
        guard let item = player.currentItem, let entry = player.queue[item] else { return .audio }
        return kind(of: entry)
    }

    /// Seconds of a skip of the current item without an interval of its own.
    func interval(forward isForward: Bool) -> Double { centre.interval(forward: isForward, for: currentKind) }

    /// Kind of an item in the queue.
    private func kind(of entry: QueueEntry) -> MediaType {
        let metadata = entry.details?.metadata ?? MediaMetadata()
        return settings.current.kinds.kind(of: entry.source, metadata, duration: entry.details?.duration)
    }
}
