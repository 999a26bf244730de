package import BridgeRuntime
import ControlProtocol
package import LinuxSystem
import NowPlaying
import NowPlayingClient

/// Shows the daemon on a message bus as a media player. Specification: MPRIS 2.2, D-Bus interface.
///
/// Clients see the player while the daemon runs. The bridge sleeps between key events: it computes a property at each read.
@PlayerLoop package final class MediaPlayerBridge: Bridge {
    /// Its section of the configuration.
    package typealias Settings = MPRISSettings

    let daemon: FollowedDaemon
    let restricted: RestrictedDaemon
    let judge: SenderJudge
    let receivers: SignalReceivers
    let tracks: TrackWindow
    let pictures: PictureFiles
    private let context: BridgeContext
    private var presence: BusPresence?
    private var status: BridgeStatus?

    /// The last state; nil while there is no daemon.
    private(set) var state: StateView?
    private(set) var commands = CommandTable()
    /// Key of the last request for `commands`; nil: none.
    private var commandsKey: [String]?
    private var hasCommands = false
    /// Properties as clients know them; `position` is the position that they extrapolate.
    private var published = BusDictionary()
    private var position: PositionModel?
    /// Calls that the daemon has not answered.
    private(set) var outstanding = 0

    /// Looks for its bus, and follows the daemon.
    package convenience init(_ context: BridgeContext, _ settings: Settings) throws(BridgeFailure) {
        let judge = SenderJudge(
            controlGroup: try Self.group(settings.controlGroup), readGroup: try Self.group(settings.readGroup))
        let address = settings.bus.text(environment: SocketLocation.variable)
        self.init(context, address: address, judge, settings.bus.signalScope)
        status = BridgeStatus(context, program: "nowplaying-mpris") { [unowned self] in
            let isThere = presence?.connection != nil
            let isHidden = isThere && hasCommands && presence?.isSeen == false
            return .init(
                peer: "the bus \(address)", isConnected: isThere && !isHidden,
                problem: isHidden ? "another program owns the name \(BusPresence.name), or the bus denies it" : nil)
        }
    }

    /// The same on the bus at this address, without a status socket.
    init(_ context: BridgeContext, address: String, _ judge: SenderJudge, _ scope: SignalReceivers.Scope) {
        self.context = context
        daemon = context.daemon
        restricted = RestrictedDaemon(context.loop, paths: daemon.paths)
        self.judge = judge
        let receivers = SignalReceivers(scope)
        self.receivers = receivers
        tracks = TrackWindow(daemon)
        pictures = PictureFiles(daemon)
        let log = context.log
        let handlers = BusPresence.Handlers(
            call: { [unowned self] message, bus in called(message, bus) },
            seen: { [unowned self] in seen() },
            lost: {
                judge.forget()
                receivers.forget()
            },
            log: { log.info($0) },
            failed: { [loop = context.loop] reason in
                log.error(reason)
                loop.exit(1)
            })
        presence = BusPresence(context.loop, address: address, handlers)
        daemon.onState = { [unowned self] in follow($0.asRequested) }
        daemon.onLoss = { [unowned self] in lost() }
    }

    package func reload(_ settings: MPRISSettings) {
        context.log.info("changes in [mpris] take effect after a restart")
    }

    package func end() {
        presence?.end()
        status = nil
        context.loop.exit(0)
    }

    private static func group(_ name: String?) throws(BridgeFailure) -> UInt32? {
        guard let name else { return nil }
        guard let number = GroupAccess.number(of: name) else {
            throw BridgeFailure(
                "the configuration names the group “\(name)” in [mpris], which does not exist", isOfConfiguration: true)
        }
        return number
    }

    // MARK: Calls

    /// Maximum number of calls that wait for the daemon.
    private static let maximumOutstanding = 256

    /// Counts a call to the daemon until `endCall`; false: too many wait.
    func beginCall() -> Bool {
        guard outstanding < Self.maximumOutstanding else { return false }
        outstanding += 1
        return true
    }

    /// Counts the answer of a call.
    func endCall() { outstanding -= 1 }

    // MARK: Following the daemon

    private func follow(_ state: StateView) {
        let isFirst = self.state == nil
        let isNewTrack = self.state?.itemID != state.itemID
        self.state = state
        if isFirst { daemon.call("hello", ["client": "nowplaying-mpris"]) { _ in } }
        askForCommands(state)
        publish()
        pictures.look(for: state.item) { [weak self] in self?.publish() }
        guard tracks.isWanted else { return }
        if !tracks.isCurrent(state) {
            let (before, offset) = (tracks.paths, tracks.offset)
            tracks.refresh(state) { [unowned self] isDone in
                guard isDone, tracks.paths != before else { return }
                let changes = tracks.offset == offset ? TrackListChange.between(before, tracks.paths) : nil
                changed(changes)
            }
        } else if !isNewTrack, state.causes.contains("metadata"), let item = state.item {
            changedMetadata(item)
        }
    }

    private func lost() {
        state = nil
        commandsKey = nil
        hasCommands = false
        tracks.forget()
        presence?.setSeen(false)
        context.log.info("the daemon has ended; waiting for a new one")
    }

    /// Requests the allowed commands, which depend on the configuration of commands and on the current item.
    private func askForCommands(_ state: StateView) {
        let version = state.json["commandsVersion"]?.integerValue ?? 0
        let key = [state.instance, "\(version)", "\(state.itemID ?? 0)", "\(state.queueCount == 0)"]
        guard key != commandsKey else { return }
        commandsKey = key
        daemon.call("commands.list") { [weak self] answer in
            guard let self, self.state != nil, let result = answer?["result"] else { return }
            commands = CommandTable(result)
            hasCommands = true
            // The player is complete before clients see it.
            if presence?.isSeen == true { publish() } else { presence?.setSeen(true) }
        }
    }

    // MARK: Signals

    /// The properties of the player that change by events: all but its position.
    func properties(of state: StateView) -> BusDictionary {
        PlayerProperties.player(state, commands, picture: pictures.path(of: state.item))
    }

    private func seen() {
        guard let state else { return }
        published = properties(of: state)
        position = PositionModel(state, at: EventLoop.now)
    }

    /// Sends only the changed properties.
    private func publish() {
        guard let state, hasCommands, let bus = presence?.connection, bus.isOwner else { return }
        let properties = properties(of: state)
        let changes = properties.changes(since: published)
        published = properties
        if !changes.isEmpty { changed(bus, Introspection.player, changes) }
        if let seconds = position?.follow(state, at: EventLoop.now),
            let microseconds = TrackMetadata.microseconds(seconds)
        {
            receivers.send(bus, Introspection.player, "Seeked") { $0.append(.int64(microseconds)) }
        }
    }

    private func changed(
        _ bus: BusConnection, _ interface: String, _ changes: BusDictionary, invalidated: [String] = []
    ) {
        receivers.send(bus, Introspection.properties, "PropertiesChanged") {
            $0.append(.string(interface))
            $0.append(.dictionary(changes))
            $0.append(.strings(invalidated))
        }
    }

    /// Sends the changes of the list; nil: the list is replaced.
    private func changed(_ list: [TrackListChange]?) {
        guard let state, let bus = presence?.connection, bus.isOwner else { return }
        func signal(_ member: String, _ values: BusValue...) {
            receivers.send(bus, Introspection.trackList, member) { message in
                for value in values { message.append(value) }
            }
        }
        for change in list ?? [] {
            switch change {
            case .removed(let path): signal("TrackRemoved", .path(path))
            case .added(let path, let before):
                signal("TrackAdded", .dictionary(metadata(path) ?? [:]), .path(before ?? TrackPath.none))
            }
        }
        if list == nil {
            signal("TrackListReplaced", .paths(tracks.paths), .path(state.itemID.map(TrackPath.of) ?? TrackPath.none))
        }
        changed(bus, Introspection.trackList, [:], invalidated: ["Tracks"])
    }

    private func changedMetadata(_ item: JSONValue) {
        guard let bus = presence?.connection, bus.isOwner, let id = item["id"]?.integerValue else { return }
        receivers.send(bus, Introspection.trackList, "TrackMetadataChanged") {
            $0.append(.path(TrackPath.of(id)))
            $0.append(.dictionary(TrackMetadata.of(item, picture: pictures.path(of: item))))
        }
    }
}
