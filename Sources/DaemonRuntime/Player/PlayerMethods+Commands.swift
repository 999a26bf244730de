import AudioCore
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import PlaybackEngine

/// The remote commands: guards first, then what they ask for.
extension PlayerMethods {
    /// A remote command: answered when it is done, its wish taken, or refused.
    func command(_ request: MethodRequest, _ answer: @escaping @PlayerLoop (MethodResult) -> Void) {
        if let refusal = guarded(request) { return answer(.failure(refusal)) }
        let by = request.client.originator
        let command: PlayerCommand
        switch request.method {
        case .play: return play(request, answer)
        case .pause: command = .pause
        case .stop: command = .stop
        case .togglePlayPause: command = .togglePlayPause
        case .nextTrack: command = .nextTrack
        case .previousTrack: command = .previousTrack
        case .skipForward, .skipBackward: command = skip(request)
        case .seekForward, .seekBackward: return scan(request, answer)
        case .rating, .like, .dislike, .bookmark: return remember(request, answer)
        case .changeRepeatMode: command = .repeatMode(request.string("mode").flatMap(RepeatMode.init) ?? .off)
        case .changeShuffleMode: command = .shuffleMode(request.string("mode").flatMap(ShuffleMode.init) ?? .off)
        case .changePlaybackRate:
            let rate = request.double("rate") ?? 1
            guard centre.supportedPlaybackRates.contains(rate) else {
                let rates = centre.supportedPlaybackRates.map { JSONWriter.text(.number($0)) }.joined(separator: ", ")
                return answer(.failure(.commandFailed("outOfRange", "the supported rates are \(rates)")))
            }
            command = .changeRate(rate)
        default: command = .seek(request.double("position") ?? 0)
        }
        perform(command, by, answer)
    }

    private func perform(
        _ command: PlayerCommand, _ by: Originator, _ answer: @escaping @PlayerLoop (MethodResult) -> Void
    ) {
        player.perform(command, by: by) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let outcome): answer(self.answer(for: outcome))
            case .failure(let refusal): answer(failure(refusal))
            }
        }
    }

    private func skip(_ request: MethodRequest) -> PlayerCommand {
        let isForward = request.method == .skipForward
        if let interval = request.double("interval") { return .skip(isForward ? interval : -interval) }
        if configuration.skipsByChapters, player.state.item?.metadata.chapters?.isEmpty == false {
            return .skipChapter(forward: isForward)
        }
        let interval = centre.interval(forward: isForward, for: currentKind)
        return .skip(isForward ? interval : -interval)
    }

    /// What the present item is, for what is usual with its kind.
    var currentKind: MediaType {
        guard let item = player.currentItem, let entry = player.queue[item] else { return .audio }
        return kind(of: entry)
    }

    /// What an entry of the queue is.
    func kind(of entry: QueueEntry) -> MediaType {
        let metadata = entry.details?.metadata ?? MediaMetadata()
        return configuration.kinds.kind(of: entry.source, metadata, duration: entry.details?.duration)
    }

    private func scan(_ request: MethodRequest, _ answer: @escaping @PlayerLoop (MethodResult) -> Void) {
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
        player.beginScan(forward: request.method == .seekForward, owner: request.client.number, by: by, done)
    }

    /// What stands against the command before it is looked at: guards and disabling, in the order of `protocol.md` §3.
    private func guarded(_ request: MethodRequest) -> RPCError? {
        let command = RemoteCommand(rawValue: request.method.rawValue)
        if let wanted = request.itemID("itemId"), request.method != .play, wanted != player.currentItem {
            return .noSuchContent("another item plays by now", reason: "otherItem")
        }
        if let command, centre.disabling(of: command).isDisabled {
            let needsItem = ![.pause, .stop, .changeRepeatMode, .changeShuffleMode].contains(command)
            if needsItem, request.media.isEmpty, CommandCentre.obstacle(command, situation) == CommandCentre.emptyQueue
            {
                return .noItem("there is nothing to play: the queue is empty; add something with queue.add")
            }
            let reason = centre.disabling(of: command).reason ?? "turned off by a client"
            return .commandFailed("disabled", "\(command.rawValue) is disabled: \(reason)")
        }
        if let other = implied(by: request), centre.disabling(of: other).isDisabled {
            let reason = centre.disabling(of: other).reason ?? "turned off by a client"
            return .commandFailed(
                "disabled", "play does the work of \(other.rawValue) here, which is disabled: \(reason)")
        }
        if let obstacle = player.seekObstacle, moves(request) {
            return .commandFailed("disabled", "there is no other place to go to: \(obstacle)")
        }
        if let command, request.string("phase") != "end", let obstacle = CommandCentre.obstacle(command, situation),
            obstacle != CommandCentre.emptyQueue, obstacle != CommandCentre.noCurrentItem
        {
            return .commandFailed("disabled", "\(command.rawValue) can't be done now: \(obstacle)")
        }
        if let limit = request.double("notAfter") {
            if !WallClock.isSet {
                log("notAfter of \(request.client.name) is ignored: the wall clock was never set")
            } else if WallClock.time(of: EventLoop.now) > limit {
                return .commandFailed("late", "the command came after its “notAfter”: nothing was done")
            }
        }
        return nil
    }

    /// The command whose work `play` does by its arguments: a move in the present item, or to another item of the queue.
    private func implied(by request: MethodRequest) -> RemoteCommand? {
        guard request.method == .play, request.media.isEmpty, let current = player.currentItem else { return nil }
        let entries = player.queue.entries
        let index = request.itemID("itemId").flatMap { player.queue.index(of: $0) } ?? request.integer("index")
        guard let index, entries.indices.contains(index), let place = player.queue.index(of: current) else {
            return request.double("position") == nil ? nil : .changePlaybackPosition
        }
        if index == place { return .changePlaybackPosition }
        return index > place ? .nextTrack : .previousTrack
    }

    /// Whether it goes to another place of the present item.
    private func moves(_ request: MethodRequest) -> Bool {
        switch request.method {
        case .skipForward, .skipBackward, .changePlaybackPosition: true
        case .seekForward, .seekBackward: request.string("phase") == "begin"
        case .play:
            request.double("position") != nil && request.media.isEmpty && request.itemID("itemId") == nil
                && request.integer("index") == nil
        default: false
        }
    }

    private func play(_ request: MethodRequest, _ answer: @escaping @PlayerLoop (MethodResult) -> Void) {
        let by = request.client.originator
        let position = request.double("position")
        if let position, position < 0 {
            return answer(.failure(.commandFailed("outOfRange", "the position lies before the beginning of the item")))
        }
        if !request.media.isEmpty { return playMedia(request, by, position, answer) }
        if request.parameters["uri"] != nil || request.parameters["descriptor"] != nil {
            return answer(
                .failure(
                    .noSuchContent("there is nothing playable in it", uris: request.string("uri").map { [$0] } ?? [])))
        }
        if let id = request.itemID("itemId") {
            return perform(.playItem(id, position: position), by, answer)
        }
        if let index = request.integer("index") {
            guard player.queue.entries.indices.contains(index) else {
                return answer(
                    .failure(.noSuchContent("the queue has \(player.queue.count) entries: there is none at \(index)")))
            }
            return perform(.playItem(player.queue.entries[index].id, position: position), by, answer)
        }
        perform(.play(position: position), by, answer)
    }

    /// Replaces the queue by what is known to be playable.
    private func playMedia(
        _ request: MethodRequest, _ by: Originator, _ position: Double?,
        _ answer: @escaping @PlayerLoop (MethodResult) -> Void
    ) {
        let requests = request.media.map { QueueRequest(source: $0.source, details: $0.details) }
        guard requests.count <= Player.queueLimit, QueueRequest.textBytes(of: requests) <= Player.queueTextLimit
        else { return answer(failure(.queueFull)) }
        perform(.playQueue(requests, position: position), by, answer)
    }
}
