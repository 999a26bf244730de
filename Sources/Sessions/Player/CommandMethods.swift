import ControlProtocol
import ControlServer
import DaemonConfiguration
import LinuxSystem
import MediaAccess
import NowPlaying
import PlaybackEngine
import StateKeeping

/// Carries out the remote commands.
@PlayerLoop final class CommandMethods {
    private let player: Player
    private let settings: LiveConfiguration
    private let encoder: StateEncoder
    private let table: CommandTable
    /// Keeps ratings, likes and bookmarks.
    private let feedback: FeedbackMethods

    /// Commands to this player, as far as the table allows them.
    init(
        _ player: Player, _ settings: LiveConfiguration, _ encoder: StateEncoder, _ table: CommandTable,
        _ feedback: FeedbackMethods
    ) {
        self.player = player
        self.settings = settings
        self.encoder = encoder
        self.table = table
        self.feedback = feedback
    }

    /// A remote command: answered when it is done, its wish taken, or refused.
    func perform(
        _ command: RemoteCommand, _ request: MethodRequest, _ answer: @escaping Answer
    ) {
        if let refusal = table.obstacle(command, request) { return answer(.failure(refusal.error)) }
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
            let supported = table.centre.supportedPlaybackRates
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
            case .failure(let refusal): answer(.failure(refusal.error))
            }
        }
    }

    /// The answer of a command: what was achieved.
    private func answer(for outcome: CommandOutcome) -> MethodResult {
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

    private func skip(_ request: MethodRequest, forward isForward: Bool) -> PlayerCommand {
        if let interval = request.double("interval") { return .skip(isForward ? interval : -interval) }
        if settings.current.skipsByChapters, player.state.item?.metadata.chapters?.isEmpty == false {
            return .skipChapter(forward: isForward)
        }
        let interval = table.interval(forward: isForward)
        return .skip(isForward ? interval : -interval)
    }

    private func scan(
        _ request: MethodRequest, forward: Bool, _ answer: @escaping Answer
    ) {
        let done: @PlayerLoop (Result<CommandOutcome, CommandRefusal>) -> Void = { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let outcome): answer(self.answer(for: outcome))
            case .failure(let refusal): answer(.failure(refusal.error))
            }
        }
        let by = request.client.originator
        guard request.string("phase") == "begin" else { return player.endScan(by: by, done) }
        guard player.currentItem != nil else { return answer(.failure(CommandRefusal.noItem.error)) }
        player.beginScan(forward: forward, owner: request.client.number, by: by, done)
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
        let requests = QueueRequest.list(of: request.media, request.numbers)
        guard requests.count <= QueueLimit.items, QueueRequest.textBytes(of: requests) <= QueueLimit.textBytes
        else { return answer(.failure(CommandRefusal.queueFull.error)) }
        _ = request.numbers?.use()
        perform(.playQueue(requests, position: position), by, answer)
    }
}
