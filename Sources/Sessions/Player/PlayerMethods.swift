package import AudioCore
import ControlProtocol
package import ControlServer
package import DaemonConfiguration
package import LinuxSystem
package import MediaAccess
import NowPlaying
package import PlaybackEngine
package import StateKeeping

/// Carries out the methods that act on the player or ask it.
@PlayerLoop package final class PlayerMethods {
    package let player: Player
    package let output: any AudioOutput
    let opener: DecoderOpener
    /// Known mounts of disks with media; nil: none.
    private let mounts: MediaMounts?
    let encoder: StateEncoder
    let loop: EventLoop
    let log: @PlayerLoop (String) -> Void
    /// Keeps what must survive; nil: nothing does.
    let store: StateStore?
    /// Remembers what is said of items; nil: nothing does.
    private let keeper: FeedbackKeeper?
    /// Methods of feedback.
    let feedback: FeedbackMethods
    /// Hands out pictures; nil: there are none.
    let artwork: ArtworkKeeper?
    var centre: CommandCentre
    var fade: VolumeFade?
    /// True if a client has selected an output.
    var hasChosenOutput = false
    private let settings: LiveConfiguration
    /// The settings that hold now.
    var configuration: Configuration { settings.current }
    /// Folders below which foreign peers may name media.
    var mediaRoots: MediaRoots { settings.mediaRoots }
    /// Threads for looks at disks; made at the first of them.
    lazy var workers = Workers(loop, name: "diagnosis")
    /// When the methods were there first.
    let began = EventLoop.now

    /// A pause of all work with media, because an earlier run may have died of it.
    private enum Rest {
        case no
        /// The state of the earlier run is being restored.
        case restoring(EarlyDeaths)
        /// It ends with the first state that has another item than this one, or plays.
        case until(otherThan: ItemID?, EarlyDeaths)
    }
    private var rest = Rest.no
    /// Why nothing that was restored is opened; nil: nothing is in its way.
    var restReason: String? {
        switch rest {
        case .no: nil
        case .restoring(let deaths), .until(_, let deaths): deaths.words
        }
    }

    /// Carries out methods on this player. `log` takes a warning without control characters.
    package init(
        _ loop: EventLoop, player: Player, output: any AudioOutput, opener: @escaping DecoderOpener,
        mounts: MediaMounts? = nil, encoder: StateEncoder, settings: LiveConfiguration, store: StateStore? = nil,
        artwork: ArtworkKeeper? = nil, feedback: FeedbackKeeper? = nil, log: @escaping @PlayerLoop (String) -> Void
    ) {
        self.loop = loop
        self.player = player
        self.output = output
        self.opener = opener
        self.mounts = mounts
        self.encoder = encoder
        self.settings = settings
        self.store = store
        self.artwork = artwork
        keeper = feedback
        self.feedback = FeedbackMethods(player, settings, feedback)
        self.log = log
        let configuration = settings.current
        centre = CommandCentre(
            forwardIntervals: configuration.forwardIntervals, backwardIntervals: configuration.backwardIntervals,
            kinds: configuration.kindIntervals)
        player.setLanding(onAdvertisements: configuration.landsOnAdvertisements)
        player.outputDelays.configure(configuration.outputDelays)
        watchKinds()
    }

    /// Lets the player publish commands when the kind of the current item changes, if they depend on it.
    private func watchKinds() {
        guard !configuration.kindIntervals.isEmpty else { return player.listen { $0.kindOf = nil } }
        player.listen { listeners in
            listeners.kindOf = { [weak self] in self?.kind(of: $0) ?? .audio }
        }
    }

    /// Carries out a request that is meant for this player.
    package func perform(_ request: MethodRequest, _ answer: @escaping Answer) {
        switch request.method {
        case .command(let command): self.command(command, request, answer)
        case .other(let method): perform(method, request, answer)
        }
    }

    private func perform(
        _ method: MethodName.Other, _ request: MethodRequest, _ answer: @escaping Answer
    ) {
        switch method {
        case .commandsList: answer(.success(commandList()))
        case .commandsConfigure: answer(configure(request))
        case .queueList: atVersion(request, answer) { list(request, $0) }
        case .queueGet: atVersion(request, answer) { get(request, $0) }
        case .queueChanges: answer(changes(request))
        case .queueAdd: atVersion(request, answer) { add(request, $0) }
        case .queueRemove: atVersion(request, answer) { remove(request, $0) }
        case .queueMove: atVersion(request, answer) { move(request, $0) }
        case .queueClear: atVersion(request, answer) { clear(request, $0) }
        case .queueShuffle: atVersion(request, answer) { shuffle(request, $0) }
        case .queuePrioritize: atVersion(request, answer) { prioritize(request, $0) }
        case .itemUpdate: atVersion(request, answer) { update(request, $0) }
        case .feedbackGet: feedback.get(request, answer)
        case .feedbackSet: feedback.set(request, answer)
        case .feedbackChanges: feedback.listChanges(request, answer)
        case .volumeSet: answer(volume(request))
        case .loudnessSet: answer(loudness(request))
        case .crossfadeSet: answer(crossfade(request))
        case .fadeSet: answer(fades(request))
        case .sleepSet: answer(sleep(request))
        case .announce: announce(request, answer)
        case .outputList: listOutputs(answer)
        case .artworkGet:
            guard let artwork else { return answer(.failure(.noSuchContent("there are no pictures"))) }
            artwork.get(request, answer)
        case .formatsList: answer(.success(Self.formats))
        case .outputSelect: selectOutput(request, answer)
        case .outputDelaySet: setOutputDelay(request, answer)
        case .diagnosticsGet: diagnose(request, answer)
        case .hello, .nowPlayingGet, .nowPlayingSubscribe, .nowPlayingUnsubscribe, .nowPlayingMap, .rpcDiscover,
            .daemonReload,
            .daemonQuit, .sessionList, .sessionCreate, .sessionActivate, .sessionClose, .nowPlayingPublish,
            .feedbackSubscribe, .feedbackUnsubscribe:
            answer(.failure(.invalidRequest("the control server answers “\(request.method.rawValue)”")))
        }
    }

    /// A connection ended: settings for its life are undone.
    func clientGone(_ client: ClientIdentity) {
        player.connectionEnded(client.number, by: client.originator)
        keeper?.desk.clientGone(client.number)
        if centre.connectionEnded(client.number) { player.commandsChanged(by: client.originator) }
    }

    /// The settings were read anew.
    func configurationChanged(from before: Configuration, by: Originator) {
        let configuration = configuration
        // A client's setting counts more, as long as the file says the same as before.
        let loudness = configuration.loudness != before.loudness ? configuration.loudness : nil
        let preamp = configuration.loudnessPreamp != before.loudnessPreamp ? configuration.loudnessPreamp : nil
        if loudness != nil || preamp != nil { player.setLoudness(loudness, preamp: preamp, by: by) }
        mounts?.setRoots(settings.mediaRoots)
        let old = centre
        centre.setIntervals(
            forward: configuration.forwardIntervals, backward: configuration.backwardIntervals,
            kinds: configuration.kindIntervals)
        watchKinds()
        player.setLanding(onAdvertisements: configuration.landsOnAdvertisements)
        if centre != old { player.commandsChanged(by: by) }
        player.outputDelays.configure(configuration.outputDelays)
        player.outputDelaysChanged(by: by)
    }

    /// A state of the player was published.
    func follow(_ state: NowPlayingState) {
        if case .until(let item, let deaths) = rest {
            let isAtRest = state.state == .paused || state.state == .stopped
            if !isAtRest || state.item?.id != item {
                deaths.asked()
                wake()
            }
        }
        artwork?.follow(state)
    }

    /// Stops the sound and saves the position at the end of the daemon.
    func finish() {
        fade = nil
        store?.finish(player.savedPosition)
        player.shutDown()
    }

    /// Ends it for good: nothing of it is kept. `gone` is called when nothing of it is written any more.
    func abandon(_ gone: @escaping @PlayerLoop () -> Void) {
        fade = nil
        player.shutDown()
        if let store { store.abandon(gone) } else { gone() }
    }

    /// Opens no media and searches no pictures, until a state departs from the restored one (`restored`).
    func rest(after deaths: EarlyDeaths) {
        rest = .restoring(deaths)
        artwork?.rest()
        keeper?.rest()
        player.pauseTitles()
    }

    /// The state of the earlier run is restored: a state with another item, or one that plays, ends the rest.
    func restored() {
        if case .restoring(let deaths) = rest { rest = .until(otherThan: player.state.item?.id, deaths) }
    }

    private func wake() {
        rest = .no
        artwork?.wake()
        keeper?.wake()
        player.resumeTitles()
    }

    /// The answer of a command: what was achieved.
    func answer(for outcome: CommandOutcome) -> MethodResult {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("status", "success")
        writer.member("state", outcome.state.state.rawValue)
        writer.member("seq", outcome.state.sequence)
        writer.key("anchor")
        encoder.anchor(outcome.state.anchor, to: &writer)
        if outcome.isSuperseded { writer.member("superseded", true) }
        writer.endObject()
        return .encoded(writer.bytes)
    }

    /// Why a command failed, as the wire has it.
    func failure(_ refusal: CommandRefusal) -> MethodResult { .failure(refusal.error) }

    /// The situation, on which commands depend.
    var situation: CommandCentre.Situation {
        CommandCentre.Situation(
            queueIsEmpty: player.queue.isEmpty, hasItem: player.currentItem != nil, seekObstacle: player.seekObstacle,
            isLive: player.mediaObstacle == .liveStream, kind: currentKind)
    }

    private var statuses: [CommandStatus] { centre.statuses(of: situation) }

    /// True if any command is available now.
    var hasEnabledCommand: Bool { statuses.contains(where: \.isEnabled) }

    private func commandList() -> JSONValue {
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

    private func configure(_ request: MethodRequest) -> MethodResult {
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
}
