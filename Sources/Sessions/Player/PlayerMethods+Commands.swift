import AudioCore
import ControlProtocol
import ControlServer
import DaemonConfiguration
import Glibc
import LinuxSystem
import MediaAccess
import NowPlaying
import PlaybackEngine
import StateKeeping

/// The remote commands: guards first, then what they ask for.
extension PlayerMethods {
    /// A remote command: answered when it is done, its wish taken, or refused.
    func command(
        _ command: RemoteCommand, _ request: MethodRequest, _ answer: @escaping Answer
    ) {
        if let refusal = guarded(command, request) { return answer(.failure(refusal.error)) }
        let by = request.client.originator
        switch command {
        case .play: play(request, answer)
        case .pause: perform(.pause, by, answer)
        case .stop: perform(.stop, by, answer)
        case .togglePlayPause: perform(.togglePlayPause, by, answer)
        case .nextTrack: perform(.nextTrack, by, answer)
        case .previousTrack: perform(.previousTrack(mayRestart: request.bool("restart") ?? true), by, answer)
        case .skipForward: perform(skip(request, forward: true), by, answer)
        case .skipBackward: perform(skip(request, forward: false), by, answer)
        case .seekForward: scan(request, forward: true, answer)
        case .seekBackward: scan(request, forward: false, answer)
        case .changePlaybackPosition:
            guard let position = request.double("position") else { return answer(missing("position")) }
            perform(.seek(position), by, answer)
        case .changePlaybackRate:
            guard let rate = request.double("rate") else { return answer(missing("rate")) }
            let supported = centre.supportedPlaybackRates
            guard supported.contains(rate) else {
                return answer(.failure(PlayerRefusal.unsupportedRate(supported).error))
            }
            perform(.changeRate(rate), by, answer)
        case .changeRepeatMode, .changeShuffleMode, .changeConsumeMode, .changeSingleMode:
            guard let mode = request.string("mode").flatMap({ PlayMode(command, $0) }) else {
                return answer(missing("mode"))
            }
            perform(.mode(mode), by, answer)
        case .rating:
            guard let rating = request.double("rating") else { return answer(missing("rating")) }
            remember(.rating(rating), request, answer)
        case .like: remember(.like(request.bool("active") ?? true), request, answer)
        case .dislike: remember(.dislike(request.bool("active") ?? true), request, answer)
        case .bookmark: remember(.bookmark(request.bool("active") ?? true), request, answer)
        }
    }

    private func remember(_ opinion: ListenerOpinion, _ request: MethodRequest, _ answer: @escaping Answer) {
        feedback.remember(opinion, request) { [self] refusal in
            if let refusal { return answer(.failure(refusal)) }
            answer(self.answer(for: CommandOutcome(state: player.state, isSuperseded: false)))
        }
    }

    /// The catalogue has judged the parameters: only a caller of ours can leave one out.
    private func missing(_ name: String) -> MethodResult {
        .failure(.invalidParameter(name, "“\(name)” is missing"))
    }

    private func perform(
        _ command: PlayerCommand, _ by: Originator, _ answer: @escaping Answer
    ) {
        player.perform(command, by: by) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let outcome): answer(self.answer(for: outcome))
            case .failure(let refusal): answer(failure(refusal))
            }
        }
    }

    private func skip(_ request: MethodRequest, forward isForward: Bool) -> PlayerCommand {
        if let interval = request.double("interval") { return .skip(isForward ? interval : -interval) }
        if configuration.skipsByChapters, player.state.item?.metadata.chapters?.isEmpty == false {
            return .skipChapter(forward: isForward)
        }
        let interval = centre.interval(forward: isForward, for: currentKind)
        return .skip(isForward ? interval : -interval)
    }

    /// Kind of the current item, for the defaults of its kind.
    var currentKind: MediaType {
        guard let item = player.currentItem, let entry = player.queue[item] else { return .audio }
        return kind(of: entry)
    }

    /// Kind of an item in the queue.
    func kind(of entry: QueueEntry) -> MediaType {
        let metadata = entry.details?.metadata ?? MediaMetadata()
        return configuration.kinds.kind(of: entry.source, metadata, duration: entry.details?.duration)
    }

    private func scan(
        _ request: MethodRequest, forward: Bool, _ answer: @escaping Answer
    ) {
        let done: @PlayerLoop (Result<CommandOutcome, CommandRefusal>) -> Void = { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let outcome): answer(self.answer(for: outcome))
            case .failure(let refusal): answer(failure(refusal))
            }
        }
        let by = request.client.originator
        guard request.string("phase") == "begin" else { return player.endScan(by: by, done) }
        guard player.currentItem != nil else { return answer(failure(.noItem)) }
        player.beginScan(forward: forward, owner: request.client.number, by: by, done)
    }

    /// The obstacle to a command before it is looked at: guards and disabling, in the order of the protocol.
    private func guarded(_ command: RemoteCommand, _ request: MethodRequest) -> PlayerRefusal? {
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

    /// The mode that a command sets, as the list of commands shows it.
    func currentMode(_ command: RemoteCommand) -> JSONObject.Member? {
        guard let mode = command.mode else { return nil }
        let word = player.state.modes.words.first { "\($0.name)" == mode.key }?.word
        return word.map { .init(mode.listKey, .string($0)) }
    }

    private func play(_ request: MethodRequest, _ answer: @escaping Answer) {
        let by = request.client.originator
        let position = request.double("position")
        if let position, position < 0 {
            return answer(.failure(PlayerRefusal.positionBeforeItem.error))
        }
        if !request.media.isEmpty { return playMedia(request, by, position, answer) }
        if request.parameters["uri"] != nil || request.parameters["descriptor"] != nil {
            return answer(.failure(PlayerRefusal.nothingPlayable(request.string("uri")).error))
        }
        if let id = request.itemID("itemId") {
            return perform(.playItem(id, position: position), by, answer)
        }
        if let index = request.integer("index") {
            guard player.queue.entries.indices.contains(index) else {
                return answer(.failure(PlayerRefusal.noItemAt(index, count: player.queue.count).error))
            }
            return perform(.playItem(player.queue.entries[index].id, position: position), by, answer)
        }
        perform(.play(position: position), by, answer)
    }

    /// Replaces the queue by what is known to be playable.
    private func playMedia(
        _ request: MethodRequest, _ by: Originator, _ position: Double?,
        _ answer: @escaping Answer
    ) {
        let requests = Self.requests(for: request.media, request.numbers)
        guard requests.count <= QueueLimit.items, QueueRequest.textBytes(of: requests) <= QueueLimit.textBytes
        else { return answer(failure(.queueFull)) }
        _ = request.numbers?.use()
        perform(.playQueue(requests, position: position), by, answer)
    }
}
