import AudioCore
import ControlProtocol
import ControlServer
import DaemonConfiguration
import LinuxSystem
import MediaAccess
import NowPlaying
import PlaybackEngine
import StateKeeping

/// A session of a client that plays by itself and publishes its state. Commands are sent to the client as requests.
@PlayerLoop final class ExternalSession: PlaybackSession, ArtworkSubject {
    let name: String
    let terms: SessionTerms
    /// The connection of the client.
    let client: Int
    private(set) var state: NowPlayingState
    /// Commands that the client accepts.
    let commands: Set<RemoteCommand>
    /// Environment with the connection to the client.
    private let context: SessionContext
    private let events: EventCounter
    private let numbers: ItemNumbers
    private unowned let listener: any StateListener
    /// Searches pictures; created when the client names the first one.
    private(set) var artwork: ArtworkKeeper?
    /// True if the last publishing client runs as the daemon's own user.
    private var hasOwnClient = false
    private var artworkOf: (@PlayerLoop (ItemID) -> [Artwork])?
    /// Names of the sessions or announcements that it was paused for.
    private var pausedFor: Set<String> = []

    /// Seconds within which the client must answer.
    private static let patience = 2.0
    /// Seconds between a published position and the extrapolated one. Up to `noise` there is no event; up to `jump` it
    /// is a drift; above that, it is a seek.
    private static let noise = 0.02
    private static let jump = 0.25

    /// A session that a client creates by this request; it starts without an item. Its states go to `listener`.
    init(
        _ name: String, _ terms: SessionTerms, _ request: MethodRequest, _ context: SessionContext,
        _ events: EventCounter, _ numbers: ItemNumbers, listener: any StateListener
    ) {
        self.name = name
        self.terms = terms
        client = request.client.number
        commands = Set((request.array("commands") ?? []).compactMap { $0.stringValue.flatMap(RemoteCommand.init) })
        self.context = context
        self.events = events
        self.numbers = numbers
        self.listener = listener
        state = NowPlayingState(anchor: Self.anchor(0, rate: 0, at: EventLoop.now))
        state.session = name
        state.instance = context.instance
        state.commandsVersion = 1
    }

    var owner: Int? { client }
    var isExternal: Bool { true }
    var hasCommands: Bool { !commands.isEmpty && state.item != nil }

    // MARK: The client's states

    /// Takes the client's whole state, and publishes its changes.
    func publish(_ request: MethodRequest) -> MethodResult {
        let now = EventLoop.now
        var next = state
        next.state = request.string("state").flatMap(PlaybackState.init) ?? .stopped
        next.stall = next.state == .stalled ? .sourceLate : nil
        next.item = item(request.parameters["item"])
        let given = request.parameters["anchor"]
        let isNewItem = next.item.map { identity($0) } != state.item.map { identity($0) }
        let moves = next.state == .playing
        let rate = moves ? given?["rate"]?.doubleValue ?? 1 : 0
        var time = now
        if let seconds = given?["monotonic"]?.doubleValue, abs(seconds - now.seconds) < 60 {
            time = MonotonicTime(seconds: seconds)
        }
        let standing = isNewItem ? 0 : state.anchor.position(at: time, duration: state.item?.duration)
        let elapsed = next.state == .stopped ? 0 : given?["elapsed"]?.doubleValue ?? standing
        next.anchor = Self.anchor(min(elapsed, next.item?.duration ?? elapsed), rate: rate, at: time)
        if isNewItem, next.item != nil { next.item?.id = ItemID(numbers.takeOne()) }
        guard let cause = cause(next, isNewItem: isNewItem, expected: standing) else {
            return .success(["seq": .integer(Int64(state.sequence))])
        }
        hasOwnClient = !request.client.isForeign
        if let item = next.item {
            if artwork == nil, item.metadata.namesPictures {
                artwork = ArtworkKeeper.make(context, self)
            }
        }
        publish(next, cause, reason: isNewItem ? .jump : nil, by: request.client.originator)
        return .success(["seq": .integer(Int64(state.sequence))])
    }

    /// Values that identify an item.
    private func identity(_ item: NowPlayingItem) -> [String?] {
        item.uri.isEmpty ? [item.metadata.title, item.metadata.artist, item.metadata.albumTitle] : [item.uri]
    }

    private func item(_ value: JSONValue?) -> NowPlayingItem? {
        guard case .object(let fields)? = value else { return nil }
        var item = NowPlayingItem(
            id: state.item?.id ?? ItemID(0), play: 1, uri: fields["uri"]?.stringValue ?? "",
            metadata: MediaMetadata(fields: fields).localized(in: []), duration: fields["duration"]?.doubleValue)
        item.metadata.title = item.metadata.title.map { PrintableText.stripped($0, limit: 4096) }
        if fields["isLiked"] != nil || fields["isDisliked"] != nil || fields["rating"] != nil {
            var feedback = Feedback()
            feedback.isLiked = fields["isLiked"] == true
            feedback.isDisliked = fields["isDisliked"] == true
            feedback.rating = fields["rating"]?.doubleValue
            item.feedback = feedback
        }
        return item
    }

    /// Event of a state; nil: it changes nothing.
    private func cause(_ next: NowPlayingState, isNewItem: Bool, expected: Double) -> Cause? {
        if next.state != state.state {
            switch next.state {
            case .playing: return state.state == .stalled ? .unstall : .play
            case .paused: return .pause
            case .stopped: return .stop
            case .stalled, .interrupted: return .stall
            }
        }
        if isNewItem { return .track }
        let off = abs(next.anchor.elapsed - expected)
        if off > Self.jump { return .seek }
        if next.anchor.rate != state.anchor.rate { return .rate }
        if next.item?.metadata != state.item?.metadata || next.item?.duration != state.item?.duration {
            return .metadata
        }
        if next.item?.feedback != state.item?.feedback { return .feedback }
        return off > Self.noise ? .drift : nil
    }

    private func publish(
        _ next: NowPlayingState, _ cause: Cause, reason: ChangeReason? = nil, by: Originator?
    ) {
        let liked = state.item?.feedback?.activeCommands ?? []
        state = next
        // The function reads `state`: a call during the assignment to `state` would violate exclusive access and trap.
        let pictures = next.item.flatMap { artworkOf?($0.id) } ?? []
        state.item?.artwork = pictures
        if liked != state.item?.feedback?.activeCommands ?? [] { state.commandsVersion += 1 }
        state.sequence = events.next()
        state.cause = cause
        state.reason = cause == .track ? reason : cause == .stop ? .command : nil
        state.by = by
        listener.published(state)
    }

    func follow(_ state: NowPlayingState) { artwork?.follow(state) }

    // MARK: Pictures

    func takeArtwork(from answer: @escaping @PlayerLoop (ItemID) -> [Artwork]) { artworkOf = answer }

    func entry(of item: ItemID) -> QueueEntry? {
        guard let shown = state.item, shown.id == item else { return nil }
        return QueueEntry(
            id: item, source: .handedOver(name: shown.uri),
            details: ItemDetails(
                given: shown.metadata, hasOwnPictures: hasOwnClient && shown.metadata.namesPictures))
    }

    func artworkFound(for item: ItemID) {
        guard let shown = state.item, shown.id == item, shown.artwork != artworkOf?(item) ?? [] else { return }
        publish(state, .metadata, by: nil)
    }

    private static func anchor(_ elapsed: Double, rate: Double, at time: MonotonicTime) -> PlaybackAnchor {
        PlaybackAnchor(
            elapsed: elapsed, rate: rate, monotonic: time, wall: WallClock.time(of: time), wallSynced: WallClock.isSet)
    }

    func publishActivation(by: Originator?) { publish(state, .session, by: by) }

    func close(by: Originator?) {
        var last = state
        last.state = .stopped
        last.item = nil
        last.anchor = Self.anchor(0, rate: 0, at: EventLoop.now)
        publish(last, .session, by: by)
        artworkOf = nil
        artwork = nil
    }

    // MARK: Commands for the client

    func perform(_ request: MethodRequest, _ answer: @escaping Answer) {
        if request.method == .other(.commandsList) { return answer(.success(commandList)) }
        if request.method == .other(.artworkGet), let artwork { return artwork.get(request, answer) }
        guard case .command(let command) = request.method else {
            return answer(
                .failure(
                    .commandFailed(
                        .disabled, "another program plays “\(name)”; it has no \(request.method.rawValue)")))
        }
        guard commands.contains(command) else {
            return answer(
                .failure(.commandFailed(.disabled, "\(command.rawValue) is disabled: “\(name)” does not support it")))
        }
        if let wanted = request.itemID("itemId"), wanted != state.item?.id {
            return answer(.failure(PlayerRefusal.otherItem.error))
        }
        if let limit = request.double("notAfter"), WallClock.isSet, WallClock.time(of: EventLoop.now) > limit {
            return answer(.failure(PlayerRefusal.late.error))
        }
        var parameters = request.parameters
        for guarded in ["itemId", "notAfter"] { parameters[guarded] = nil }
        parameters["session"] = .string(name)
        context.server.call(client, command.rawValue, parameters, within: Self.patience) { [self] response in
            answer(result(of: command, response))
        }
    }

    /// The answer for the caller, from the client's status.
    private func result(of command: RemoteCommand, _ response: RPCResponse?) -> MethodResult {
        guard let response else {
            return .failure(
                .commandFailed(.noAnswer, "“\(name)” did not answer \(command.rawValue) within 2 seconds"))
        }
        let words = "“\(name)” failed to run \(command.rawValue)"
        if let message = response.errorMessage {
            return .failure(.commandFailed(.refused, "\(words): \(PrintableText.escaped(message, limit: 200))"))
        }
        switch response.result?["status"]?.stringValue {
        case "success": break
        case "noSuchContent": return .failure(.noSuchContent(words))
        case "noActionableNowPlayingItem": return .failure(.noItem(words))
        case "deviceNotFound": return .failure(.deviceNotFound(words))
        case "commandFailed": return .failure(.commandFailed(.refused, words))
        default:
            return .failure(
                .commandFailed(.notUnderstood, "“\(name)” answered \(command.rawValue) without a status"))
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("status", "success")
        writer.member("state", state.state.rawValue)
        writer.member("seq", state.sequence)
        writer.key("anchor")
        context.board.encoder.anchor(state.anchor, to: &writer)
        writer.endObject()
        return .encoded(writer.bytes)
    }

    private var commandList: JSONValue {
        let active = state.item?.feedback?.activeCommands ?? []
        let list = RemoteCommand.allCases.map { command -> JSONValue in
            guard commands.contains(command) else {
                return [
                    "command": .string(command.rawValue), "enabled": false,
                    "reason": .string("“\(name)” does not support it"),
                ]
            }
            var entry = JSONObject([.init("command", .string(command.rawValue)), .init("enabled", true)])
            switch command.traits.form {
            case .opinion where command != .bookmark: entry["isActive"] = .bool(active.contains(command))
            case .stars: (entry["minimumRating"], entry["maximumRating"]) = (0, 5)
            case .plain, .skip, .scan, .position, .rate, .mode, .opinion: break
            }
            return .object(entry)
        }
        return ["version": .integer(Int64(state.commandsVersion)), "commands": .array(list)]
    }

    /// Pauses the client if it accepts that: the daemon does not have its samples and cannot duck them.
    func yield(to who: String, _ demand: DuckingDemand) {
        guard isHeld(by: demand.policy), state.state == .playing, commands.contains(.pause) else { return }
        let isFirst = pausedFor.isEmpty
        pausedFor.insert(who)
        if isFirst { ask(.pause) }
    }

    func endYielding(to who: String, release: Double) {
        guard pausedFor.remove(who) != nil, pausedFor.isEmpty else { return }
        if commands.contains(.play), state.state == .paused { ask(.play) }
    }

    /// True if the policy pauses this session.
    private func isHeld(by policy: AnnouncementPolicy) -> Bool {
        switch policy {
        case .pause: true
        case .pauseSpoken: state.item.map { context.configuration.isSpoken($0.metadata) } ?? false
        case .duck, .mix: false
        }
    }

    private func ask(_ command: RemoteCommand) {
        let parameters = JSONObject([.init("session", .string(name))])
        context.server.call(client, command.rawValue, parameters, within: Self.patience) { _ in }
    }
}
