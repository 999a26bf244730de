import AudioCore
import LinuxSystem
import NowPlaying

/// Live streams: they break off and come back, tell what they play as they go, and have no other place than now.
extension Player {
    /// Longest pause between two attempts to get a stream back, in seconds.
    private static let longestPause = 30.0
    /// Seconds that a connection must have lasted for the next attempt to be made at once.
    private static let steadySeconds = 10.0

    /// Something that an item says about itself from a frame on.
    struct Description {
        var ticket: Int
        var ring: SampleRing
        /// Frame of the ring.
        var from: Int64
        var metadata: MediaMetadata
    }

    /// Whether the item where we stand is a live stream, as far as that is known.
    var currentIsLive: Bool {
        guard let current = transport.current else { return false }
        return transport.queue[current]?.details?.metadata.isLiveStream == true
    }

    /// Why the present item has no other place to go to; nil: it has, as far as is known.
    package var seekObstacle: CommandObstacle? { advertisement == nil ? mediaObstacle : .advertisement }

    /// The same, but for advertisements.
    package var mediaObstacle: CommandObstacle? {
        guard let current = transport.current, let details = transport.queue[current]?.details else { return nil }
        // What a client calls live, it wants to be treated as that.
        if details.found.isLiveStream == true || details.given.isLiveStream == true { return .liveStream }
        return details.isSeekable ? nil : .notSeekable
    }

    // MARK: Breaking off

    /// A stream broke off. What was decoded is heard; meanwhile it is asked for again, as long as sound is wanted.
    func lost(_ ticket: Int, _ error: DecodingError) {
        guard let link = chain.first(where: { $0.ticket == ticket }) else { return }
        if link.opened?.isLive != true { return fileLost(link, error) }
        onStreamLost?(transport.queue[link.id]?.source.uri ?? "", error.message)
        let now = EventLoop.now
        if let since = regainedAt, now.seconds(since: since) >= Self.steadySeconds { reconnectDelay = 0 }
        regainedAt = nil
        lostTicket = ticket
        scheduleReconnect()
    }

    /// Tries again after a pause that grows.
    func scheduleReconnect() {
        guard transport.wish == .playing, lostTicket != nil, reconnect == nil, !mediaIsAway else { return }
        reconnect = loop.deadline(EventLoop.now.advanced(bySeconds: reconnectDelay)) { [unowned self] in
            reconnect = nil
            guard transport.wish == .playing, let ticket = lostTicket else { return }
            reconnectDelay = min(Self.longestPause, max(0.5, reconnectDelay * 2))
            decoder?.reopen(ticket)
        }
    }

    /// Sound is not wanted any more: nothing is tried.
    func stopReconnecting() { reconnect = nil }

    /// The stream goes on.
    func regained(_ ticket: Int, isOther: Bool) {
        guard lostTicket == ticket else { return }
        let isFile = chain.first { $0.ticket == ticket }?.opened?.isLive != true
        lostTicket = nil
        if isFile { return fileRegained(isOther: isOther) }
        regainedAt = EventLoop.now
        guard isOther, let link = chain.first(where: { $0.ticket == ticket }) else { return }
        startHere(link.id, .unstall)
    }

    /// Whether a held stream is too old to go on where it was held: what was sent meanwhile is more than is kept.
    func isStale(_ lane: Lane) -> Bool {
        if mediaIsAway { return true }
        guard lane.ring.isLive, state.anchor.rate == 0 else { return false }
        let pause = EventLoop.now.seconds(since: state.anchor.monotonic)
        return lostTicket != nil || pause > Double(lane.ring.capacity) / Double(lane.format.sampleRate)
    }

    // MARK: Telling what it plays

    /// From a frame on an item says something else about itself: told when that is heard.
    func described(_ ticket: Int, _ ring: SampleRing, _ from: Int64, _ metadata: MediaMetadata) {
        guard let place = chain.index(of: ticket) else { return }
        loudnessChanges(of: place, in: ring, from: from, metadata.loudness)
        descriptions.append(Description(ticket: ticket, ring: ring, from: from, metadata: metadata))
        if descriptions.count > 256 { descriptions.removeFirst() }
        guard let lane = audible, lane.ring === ring, pending == nil else { return }
        tellDescriptions(on: lane, upTo: lane.timing.map { lane.audibleFrame($0) })
        scheduleDescription()
    }

    /// Sets the deadline for the next change of what an item says about itself.
    func scheduleDescription() {
        guard let lane = audible, pending == nil, !lane.isCorked, stall == nil, let offset = lane.offset,
            let next = descriptions.first(where: { $0.ring === lane.ring }),
            let time = lane.clock.time(of: Double(next.from + offset))
        else {
            descriptionDeadline = nil
            return
        }
        if let descriptionDeadline {
            descriptionDeadline.setDeadline(time)
        } else {
            descriptionDeadline = loop.deadline(time) { [unowned self] in
                descriptionDeadline = nil
                guard let lane = audible, pending == nil, !lane.isCorked, stall == nil else { return }
                tellDescriptions(on: lane, upTo: lane.clock.frame(at: EventLoop.now.advanced(bySeconds: 0.001)))
                scheduleDescription()
            }
        }
    }

    /// What is audible by now says this of itself. `frame` nil: all of it that the lane is about to begin with.
    func tellDescriptions(on lane: Lane, upTo frame: Double?) {
        guard let offset = lane.offset else { return }
        let limit = frame ?? Double(lane.heardFrom)
        let due = descriptions.filter { $0.ring === lane.ring && Double($0.from + offset) <= limit }
        guard !due.isEmpty else { return }
        descriptions.removeAll { $0.ring === lane.ring && Double($0.from + offset) <= limit }
        var isNew = false
        for description in due {
            guard let place = chain.index(of: description.ticket) else { continue }
            loudnessIsHeard(of: place, from: description.from, description.metadata.loudness)
            let link = chain[place]
            guard let old = transport.queue[link.id]?.details, old.found != description.metadata else { continue }
            let details = old.with(found: description.metadata)
            transport.setDetails(details, of: link.id)
            if shown?.id == link.id {
                shown?.details = details
                isNew = true
            }
        }
        guard isNew, let shown, pending == nil else { return }
        publish(.metadata)
        lane.stream?.setTitle(title(of: shown), artist: shown.details?.metadata.artist)
    }
}
