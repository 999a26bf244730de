import AudioCore
import LinuxSystem
import NowPlaying

/// Publishes states. Holds the last state, the shown item, and the play count of each item.
@PlayerLoop final class Publisher {
    unowned let player: Player
    /// State after the last change, also before that is heard: `hearing` holds the state of the listeners.
    private(set) var state: NowPlayingState
    /// Passes each state on when it is heard.
    private(set) lazy var hearing = Hearing(player, state)
    /// Number of states so far.
    private(set) var count = 0
    /// Shown item; kept here, as it may have left the queue.
    private(set) var shown: QueueEntry?
    /// Ticket of the shown play; 0: none.
    private(set) var shownTicket = 0
    private var playCounts: [ItemID: Int] = [:]
    /// Edits of the queue that one state carries, at most.
    private static let carriedChanges = 64
    /// Incremented when the answer to `commands.list` may have changed.
    private var commandsVersion = 1
    private var situation = Situation()

    /// Facts on which commands depend, as last published.
    private struct Situation {
        var hasCurrent = false
        var seekObstacle: CommandObstacle?
        var kind: MediaType?
    }

    /// Publisher of a stopped player. The player's parts must exist.
    init(_ player: Player) {
        self.player = player
        state = NowPlayingState(anchor: AnchorMaker(ContentTime()).resting(media: 0, EventLoop.now))
        state.session = player.parts.session
        state.instance = player.parts.instance
        state.commandsVersion = commandsVersion
        state.loudness = LoudnessStatus(mode: player.parts.loudness.mode, preamp: player.parts.loudness.preamp)
        _ = hearing
    }

    // MARK: Shown item

    /// Shows this item from now on.
    func show(_ id: ItemID, ticket: Int, begins: Bool) {
        if begins || shown?.id != id { playCounts[id, default: 0] += 1 }
        shown = player.queue[id] ?? shown
        shownTicket = ticket
    }

    /// Shows the current item before it is audible.
    func showCurrent() { shown = player.transport.current.flatMap { player.queue[$0] } }

    /// Shows the item where the next play begins.
    func showStopped() {
        showCurrent()
        shownTicket = 0
        if player.queue.isEmpty { playCounts = [:] }
    }

    /// Copies the shown item from the queue.
    func refreshShown() {
        if let shown { self.shown = player.queue[shown.id] ?? shown }
    }

    /// Sets details of the shown item.
    func setDetails(_ details: ItemDetails) { shown?.details = details }

    /// Number of times that an item began.
    func playCount(of id: ItemID) -> Int { playCounts[id] ?? 0 }

    /// True if an item has begun since its insertion into the queue.
    func hasBegun(_ id: ItemID) -> Bool { playCounts[id] != nil }

    /// Restores the play count of an item.
    func restorePlayCount(_ count: Int, of id: ItemID) { playCounts[id] = count }

    /// Drops the play counts of items that left the queue, once there are many.
    func forgetPlays() {
        guard playCounts.count > 2 * player.queue.count + 1024 else { return }
        let kept = Set(player.queue.entries.map(\.id))
        playCounts = playCounts.filter { kept.contains($0.key) || $0.key == shown?.id }
    }

    // MARK: Publishing

    /// Publishes the whole state with this cause; without an anchor the last one holds.
    func publish(
        _ cause: Cause, _ reason: ChangeReason? = nil, anchor: PlaybackAnchor? = nil, by: Originator? = nil,
        route: Route? = nil
    ) {
        // Before the last anchor is taken over.
        hearing.passDue()
        let transport = player.transport
        if cause == .interruptionBegan { player.interruptions.markPublished() }
        var next = state
        count += 1
        next.cause = cause
        next.reason = reason
        next.by = by
        next.state = playbackState
        next.stall = next.state == .stalled ? player.playout.stall : nil
        next.stallTimes = next.stall == nil ? nil : player.playout.stallTimes
        next.interruption = player.interruptions.published(with: cause)
        next.route = route
        if let anchor {
            next.anchor = anchor
        } else if next.state == .stopped {
            next.anchor = player.playout.resting(at: transport.startPosition)
        }
        next.anchor.defaultRate = player.shownDefaultRate
        next.item = shown.map { item(of: $0) }
        player.marks.take(next.item, next.anchor)
        let chapter = next.item?.chapter(at: next.anchor.elapsed)
        next.item?.chapterIndex = chapter
        next.upcoming = upcoming(next)
        next.queueIndex = shown.flatMap { transport.queue.index(of: $0.id) }
        next.queueCount = transport.queue.count
        next.queueVersion = transport.queue.version
        next.queueRevision = transport.queue.revision
        next.queueChanges = changes(in: transport.queue)
        // Unknown feedback is published as none: most items have none.
        let feedback = player.listeners.feedbackOf.map { $0(next) ?? Feedback() }
        next.item?.feedback = feedback
        next.modes = transport.order.modes
        next.commandsVersion = versionOfCommands(next)
        next.volume = player.volume.level
        next.muted = player.volume.isMuted
        next.loudness = player.loudness.status
        next.crossfade = player.playout.crossfade.settings
        next.fades = player.fades.settings
        next.output = outputStatus
        next.sleep = player.sleeper.status
        next.error = player.failures.error(in: transport.queue, transport.failures, wish: transport.wish)
        take(next)
    }

    /// Shifts the times of the output: all sound from an instant on is heard `seconds` later.
    func shift(by seconds: Double, from time: MonotonicTime) {
        if state.anchor.monotonic >= time { move(by: seconds) }
        hearing.shift(by: seconds, from: time)
    }

    /// Moves the last anchor by `seconds` if its sound was heard before an instant.
    func follow(by seconds: Double, before time: MonotonicTime) {
        if state.anchor.mediaRate > 0, state.anchor.monotonic < time { move(by: seconds) }
    }

    private func move(by seconds: Double) {
        state.move(by: seconds)
        player.sleeper.schedule()
    }

    /// Passes the beginning of an item that is heard before the target of a change; the player's state stays.
    func passInterlude(_ id: ItemID, anchor: PlaybackAnchor) {
        guard let entry = player.queue[id] else { return }
        playCounts[id, default: 0] += 1
        var next = state
        next.cause = .track
        next.reason = .ended
        next.by = nil
        next.route = nil
        next.state = .playing
        next.anchor = anchor
        next.anchor.defaultRate = state.anchor.defaultRate
        next.item = item(of: entry)
        let chapter = next.item?.chapter(at: anchor.elapsed)
        next.item?.chapterIndex = chapter
        next.upcoming = nil
        next.queueIndex = player.queue.index(of: id)
        next.queueChanges = nil
        hearing.takeInterlude(next)
    }

    /// Changes of the queue since the published state, as a state carries them.
    private func changes(in queue: PlayQueue) -> QueueChanges? {
        guard queue.revision != state.queueRevision, let new = queue.history.changes(since: state.queueRevision),
            new.changes.count <= Self.carriedChanges
        else { return nil }
        return new
    }

    private func take(_ next: NowPlayingState) {
        let (hasMoved, modesBefore) = (next.anchor != state.anchor, state.modes)
        state = next
        if hasMoved { player.sleeper.schedule() }
        let watches = player.transport.wish == .playing || player.interruptions.current != nil
        if player.output.watchesNeighbours != watches { player.output.watchesNeighbours = watches }
        player.keep()
        hearing.take(next)
        player.marks.publishAdvertisement()
        player.titles.statePublished()
        // Clients that follow only the modes get this change, too.
        if next.cause != .mode, next.modes.tookEffect(since: modesBefore) { publish(.mode) }
    }

    /// Version of the commands in this state, incremented with each fact on which they depend.
    private func versionOfCommands(_ next: NowPlayingState) -> Int {
        let before = situation
        situation.hasCurrent = player.transport.current != nil
        let isFilled = (state.queueCount == 0) != (next.queueCount == 0)
        let activeBefore = state.item?.feedback?.activeCommands ?? []
        let active = next.item?.feedback?.activeCommands ?? []
        if isFilled || before.hasCurrent != situation.hasCurrent || activeBefore != active { commandsVersion += 1 }
        let isInAdvertisement = next.anchor.ad != nil && next.state != .stopped
        situation.seekObstacle = isInAdvertisement ? .advertisement : player.mediaObstacle
        if before.seekObstacle != situation.seekObstacle { commandsVersion += 1 }
        if let kindOf = player.listeners.kindOf, let kind = shown.flatMap({ player.queue[$0.id] }).map(kindOf),
            kind != situation.kind
        {
            if situation.kind != nil { commandsVersion += 1 }
            situation.kind = kind
        }
        if state.modes != next.modes { commandsVersion += 1 }
        return commandsVersion
    }

    /// Publishes a change of the commands.
    func publishCommands(by: Originator) {
        commandsVersion += 1
        publish(.commands, by: by)
    }

    /// State of an event: the part of the transport's wish that took effect.
    private var playbackState: PlaybackState {
        switch player.transport.wish {
        case .stopped: return .stopped
        case .paused: return .paused
        case .playing:
            if let interruptions = player.interruptions.current.map({ _ in player.interruptions }) {
                return interruptions.isPublished ? .interrupted : state.state
            }
            if player.playout.stall != nil { return .stalled }
            // Until the sound is audible, the last state holds.
            let isAudible = player.playout.audible.map { !$0.isCorked } ?? false
            return isAudible ? .playing : state.state
        }
    }

    /// Publishes a last, empty state. Nothing is published after it.
    func publishEnd(by: Originator?, anchor: PlaybackAnchor) {
        var last = state
        last.cause = .session
        last.reason = nil
        last.by = by
        last.state = .stopped
        last.item = nil
        last.upcoming = nil
        last.anchor = anchor
        state = last
        hearing.end(with: last)
        player.listen { $0.onPublish = nil }
    }

    // MARK: Items

    private func item(of entry: QueueEntry) -> NowPlayingItem {
        let entry = player.queue[entry.id] ?? entry
        var metadata = entry.details?.metadata ?? MediaMetadata()
        if metadata.title == nil { metadata.title = entry.source.displayName }
        return NowPlayingItem(
            id: entry.id, play: playCounts[entry.id] ?? 0, uri: entry.source.uri, metadata: metadata,
            duration: entry.details?.duration, format: entry.details?.format,
            artwork: player.listeners.artworkOf?(entry.id) ?? [])
    }

    /// Item that follows the shown one without a message. Nil: none does, or play ends or pauses before it.
    private func upcoming(_ state: NowPlayingState) -> UpcomingItem? {
        guard let item = state.item, let next = player.successor(ofShown: item.id), let entry = player.queue[next]
        else {
            return nil
        }
        let end = state.state == .playing ? end(of: item.id, by: state.anchor) : nil
        if let end, player.sleeper.endsPlay(before: end) { return nil }
        let overlap = player.playout.crossfade.overlap(of: entry, after: item.id)
        let time = overlap == 0 ? end : end?.advanced(bySeconds: -overlap / (1 + state.anchor.skew))
        var upcoming = UpcomingItem(
            itemID: next, title: entry.title, artist: entry.details?.metadata.artist,
            instant: time.map { UpcomingItem.Instant(monotonic: $0, wall: WallClock.time(of: $0)) })
        upcoming.texts = entry.details?.given.texts?.filter { $0.key == .title || $0.key == .artist } ?? []
        return upcoming
    }

    /// Instant at which the end of an item is audible by this anchor; nil: unknown.
    func end(of id: ItemID, by anchor: PlaybackAnchor) -> MonotonicTime? {
        guard anchor.mediaRate > 0, let duration = (player.queue[id] ?? shown)?.details?.mediaDuration else {
            return nil
        }
        return anchor.monotonic.advanced(
            bySeconds: max(0, duration - anchor.media) / (anchor.mediaRate * (1 + anchor.skew)))
    }

    /// Publishes the following item again if its file provides something new.
    func publishUpcoming(_ id: ItemID) {
        guard player.playout.pending == nil, let known = state.upcoming, known.itemID == id,
            state.state == .playing,
            let entry = player.queue[id]
        else { return }
        if known.title != entry.title || known.artist != entry.details?.metadata.artist { publish(.metadata) }
    }

    /// Publishes the instant of the item that a waiting lane begins with, if it changes by its overlap.
    func publishUpcoming(at lane: Lane) {
        guard player.playout.pending == nil, state.state == .playing, let known = state.upcoming,
            lane.timeline.segments.first?.item == known.itemID,
            let before = known.instant?.monotonic, let now = upcoming(state)?.instant?.monotonic
        else { return }
        if abs(now.seconds(since: before)) > Self.upcomingLimit { publish(.metadata) }
    }

    /// Error in seconds of the published instant of the following item up to which no event follows.
    private static let upcomingLimit = 0.001
}

extension QueueEntry {
    /// Display name at the sound server and in lists: its title, or the name of its source.
    var title: String { details?.metadata.title ?? source.displayName }
}
