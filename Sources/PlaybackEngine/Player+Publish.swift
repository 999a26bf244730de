import AudioCore
import LinuxSystem
import NowPlaying

/// Anchors.
extension Player {
    /// The anchor of a flowing lane at a reading; `segment` pins it to the beginning of an item that is heard just about now.
    func flowingAnchor(_ lane: Lane, _ timing: StreamTiming, of segment: Timeline.Segment? = nil) -> PlaybackAnchor {
        // What is not heard yet is told with the instant when it will be; a boundary just behind us, with when it was.
        let (frame, place) =
            segment.map { (Double($0.streamStart), Timeline.Place(segment: $0, itemFrame: Double($0.itemStart))) }
            ?? toldPlace(on: lane, at: max(lane.audibleFrame(timing), Double(lane.heardFrom)))
        let media = place.map { heardSeconds($0, on: lane) } ?? 0
        return flowingAnchor(lane, timing, at: frame, media: media, of: place?.segment)
    }

    /// Seconds into the file at a place: behind the last frame of an item there may be silence that waits for the next.
    func heardSeconds(_ place: Timeline.Place, on lane: Lane) -> Double {
        var frame = place.itemFrame
        if let link = chain.first(where: { $0.ticket == place.segment.ticket }), let item = link.opened,
            let end = link.ringEnd, item.rate > 0
        {
            frame = min(frame, Double(item.itemStart) + Double(end - item.ringStart) * item.rate)
        }
        return frame / Double(lane.format.sampleRate)
    }

    /// What listeners are told to be at this frame of the stream, and the frame where that is: an item that they have not
    /// heard of is not told with the name of the one before.
    private func toldPlace(on lane: Lane, at frame: Double) -> (frame: Double, place: Timeline.Place?) {
        lane.timeline.place(of: shownTicket, at: frame) ?? (frame, lane.timeline.place(at: frame))
    }

    /// The anchor of a flowing lane at the instant when this frame of the stream is heard, at `media` seconds into the file.
    func flowingAnchor(
        _ lane: Lane, _ timing: StreamTiming, at frame: Double, media: Double, of segment: Timeline.Segment? = nil
    ) -> PlaybackAnchor {
        let late = (frame - lane.audibleFrame(timing)) / (Double(lane.format.sampleRate) * (1 + lane.clock.skew))
        let segment = segment ?? toldPlace(on: lane, at: frame).place?.segment
        return anchor(
            media: media, rate: segment?.rate ?? 1, of: segment?.item, at: timing.time.advanced(bySeconds: late),
            skew: lane.clock.skew)
    }

    /// The anchor of a lane that was corked: what was taken by a device that can't take back will still be heard.
    func heldAnchor(_ lane: Lane, _ timing: StreamTiming) -> PlaybackAnchor {
        let frame = min(max(timing.audibleFrame, Double(lane.heardFrom)), Double(lane.sentStreamEnd))
        // Held before anything of it was heard, it took over from a lane that has ended.
        guard let (_, place) = lane.timeline.place(of: shownTicket, at: frame) else {
            return stoppedAnchor(at: timing.time)
        }
        let late = lane.stream?.canRewind == false ? min(timing.latency, 2) : 0
        return anchor(
            media: place.itemFrame / Double(lane.format.sampleRate), rate: 0, of: place.segment.item,
            at: timing.time.advanced(bySeconds: late))
    }

    /// The anchor of a position (seconds of the content of the item where we stand) that does not move.
    func resting(at position: Double) -> PlaybackAnchor {
        let id = transport.current
        return anchor(media: contentTime(of: id).media(ofContent: position), rate: 0, of: id, at: EventLoop.now)
    }

    /// The anchor of a place in the file of the item where we stand, that does not move.
    func resting(media: Double) -> PlaybackAnchor {
        anchor(media: media, rate: 0, of: transport.current, at: EventLoop.now)
    }

    /// The position that listeners compute for `time`, standing from there on.
    func stoppedAnchor(at time: MonotonicTime) -> PlaybackAnchor {
        let place = state.anchor.mediaPosition(at: time)
        let duration = shown.flatMap { transport.queue[$0.id] ?? $0 }?.details?.mediaDuration
        return anchor(media: min(place, duration ?? place), rate: 0, of: shown?.id, at: time)
    }

    /// The anchor of a place `media` seconds into the file of an item, where the sound has this rate.
    func anchor(
        media: Double, rate: Double, of id: ItemID?, at time: MonotonicTime, skew: Double = 0
    ) -> PlaybackAnchor {
        let content = contentTime(of: id)
        var anchor = PlaybackAnchor(
            elapsed: content.content(ofMedia: media), rate: rate, skew: skew, monotonic: time,
            wall: WallClock.time(of: time), wallSynced: WallClock.isSet)
        anchor.media = media
        guard let index = content.range(atMedia: media) else { return anchor }
        anchor.rate = 0
        let left = (content.ranges[index].end - media) / (rate * (1 + skew))
        anchor.ad = PlaybackAnchor.AdPlace(index: index, ends: rate > 0 ? time.advanced(bySeconds: left) : nil)
        return anchor
    }
}

/// Telling everybody.
extension Player {
    /// Listeners see this item from now on.
    func show(_ id: ItemID, ticket: Int, begins: Bool) {
        if begins || shown?.id != id { playCounts[id, default: 0] += 1 }
        shown = transport.queue[id] ?? shown
        shownTicket = ticket
    }

    /// Listeners see the item where we stand, though it is not heard.
    func showCurrent() { shown = transport.current.flatMap { transport.queue[$0] } }

    /// The same while stopped, at the place where play would begin.
    func showStopped() {
        showCurrent()
        shownTicket = 0
        if transport.queue.isEmpty { playCounts = [:] }
    }

    /// Publishes the whole state with this cause; without an anchor the last one holds.
    func publish(
        _ cause: Cause, _ reason: ChangeReason? = nil, anchor: PlaybackAnchor? = nil, by: Originator? = nil,
        route: Route? = nil
    ) {
        if cause == .interruptionBegan { interruptionIsTold = true }
        var next = state
        next.sequence = parts.events.next()
        next.cause = cause
        next.reason = reason
        next.by = by
        next.state = playbackState(cause)
        next.stall = next.state == .stalled ? stall : nil
        next.interruption = interruptionIsTold ? interruption : cause == .interruptionEnded ? endedInterruption : nil
        next.route = route
        if let anchor {
            next.anchor = anchor
        } else if next.state == .stopped {
            next.anchor = resting(at: transport.startPosition)
        }
        next.anchor.defaultRate = shownDefaultRate
        next.item = shown.map { item(of: $0) }
        takeMarks(next.item, next.anchor)
        next.item?.tellChapter(at: next.anchor.elapsed)
        next.upcoming = next.state == .playing ? upcoming(anchor: next.anchor, item: next.item) : nil
        next.queueIndex = shown.flatMap { transport.queue.index(of: $0.id) }
        next.queueCount = transport.queue.count
        next.queueVersion = transport.queue.version
        // What is not known yet is told as nothing: nothing is what most items have.
        let feedback = feedbackOf.map { $0(next) ?? Feedback() }
        next.item?.feedback = feedback
        let hadItem = shownCurrent
        shownCurrent = transport.current != nil
        let isFilled = (state.queueCount == 0) != (next.queueCount == 0)
        let activeBefore = state.item?.feedback?.activeCommands ?? []
        if isFilled || hadItem != shownCurrent || activeBefore != next.item?.feedback?.activeCommands ?? [] {
            commandsVersion += 1
        }
        let obstacle = next.anchor.ad != nil && next.state != .stopped ? CommandObstacle.advertisement : mediaObstacle
        if obstacle != shownSeekObstacle {
            shownSeekObstacle = obstacle
            commandsVersion += 1
        }
        if let kindOf, let kind = shown.flatMap({ transport.queue[$0.id] }).map(kindOf), kind != shownKind {
            if shownKind != nil { commandsVersion += 1 }
            shownKind = kind
        }
        if cause == .mode { commandsVersion += 1 }
        next.commandsVersion = commandsVersion
        next.repeatMode = transport.order.repeatMode
        next.shuffleMode = transport.order.shuffleMode
        next.volume = volume
        next.muted = muted
        next.loudness = loudnessStatus()
        next.output = outputStatus()
        next.sleep = sleepStatus
        next.error = transport.failures.map { run in
            PlaybackError(
                itemID: run.last, uri: transport.queue[run.last]?.source.uri ?? "", status: "noSuchContent",
                message: run.message, count: run.count)
        }
        if transport.wish == .playing { startFault.clear() }
        if next.error == nil { next.error = startFault.error(in: transport.queue) }
        let hasMoved = next.anchor != state.anchor
        state = next
        if hasMoved { scheduleSleep() }
        let watches = transport.wish == .playing || interruption != nil
        if output.watchesNeighbours != watches { output.watchesNeighbours = watches }
        keep()
        onPublish?(next)
        tellAdvertisement()
    }

    /// The state that an event of this cause leads to: what the transport wants, as far as it has come true.
    private func playbackState(_ cause: Cause) -> PlaybackState {
        switch transport.wish {
        case .stopped: return .stopped
        case .paused: return .paused
        case .playing:
            if interruption != nil { return interruptionIsTold ? .interrupted : state.state }
            if stall != nil { return .stalled }
            // Not audible yet: what was told last holds until it is.
            let isAudible = audible.map { !$0.isCorked } ?? false
            return isAudible ? .playing : (state.state == .playing ? .playing : state.state)
        }
    }

    private func item(of entry: QueueEntry) -> NowPlayingItem {
        let entry = transport.queue[entry.id] ?? entry
        var metadata = entry.details?.metadata ?? MediaMetadata()
        if metadata.title == nil { metadata.title = entry.source.displayName }
        return NowPlayingItem(
            id: entry.id, play: playCounts[entry.id] ?? 0, uri: entry.source.uri, metadata: metadata,
            duration: entry.details?.duration, format: entry.details?.format, artwork: artworkOf?(entry.id) ?? [])
    }

    /// What to call it at the sound server and in lists: its title, or the name of its source.
    func title(of entry: QueueEntry) -> String { entry.details?.metadata.title ?? entry.source.displayName }

    private func upcoming(anchor: PlaybackAnchor, item: NowPlayingItem?) -> UpcomingItem? {
        guard let item, let time = end(of: item.id, by: anchor), let next = successor(of: item.id),
            let entry = transport.queue[next]
        else { return nil }
        var upcoming = UpcomingItem(
            itemID: next, title: title(of: entry), artist: entry.details?.metadata.artist, monotonic: time,
            wall: WallClock.time(of: time))
        upcoming.texts = entry.details?.given.texts?.filter { $0.key == .title || $0.key == .artist } ?? []
        return upcoming
    }

    /// When the end of an item is heard by this anchor; nil: nobody knows.
    func end(of id: ItemID, by anchor: PlaybackAnchor) -> MonotonicTime? {
        guard anchor.mediaRate > 0, let duration = (transport.queue[id] ?? shown)?.details?.mediaDuration else {
            return nil
        }
        return anchor.monotonic.advanced(
            bySeconds: max(0, duration - anchor.media) / (anchor.mediaRate * (1 + anchor.skew)))
    }

    /// What follows was opened and is better known than it was told.
    func tellUpcoming(_ id: ItemID) {
        guard pending == nil, let told = state.upcoming, told.itemID == id, state.state == .playing,
            let entry = transport.queue[id]
        else { return }
        if told.title != title(of: entry) || told.artist != entry.details?.metadata.artist { publish(.metadata) }
    }

    func outputStatus() -> OutputStatus? {
        guard let device = output.device else { return nil }
        let latency = audible?.timing.map { $0.latency }
        // What flows makes it run, though it may have been looked at before.
        let runs = device.state == .idle && wantsFlow && audible.map { !$0.isCorked } ?? false
        return OutputStatus(
            name: device.name, description: device.description,
            state: (runs ? .running : device.state).rawValue, latency: latency,
            sampleRate: device.format?.sampleRate, bitPerfect: fidelity(at: device))
    }

    /// The wall clock was set, or the host woke: what is heard now, with the new wall time. What the device had taken when the
    /// host fell asleep may be lost, so the server is asked.
    func clockStepped() {
        guard wantsFlow, pending == nil, flow == nil, stall == nil, let lane = audible, !lane.isCorked,
            lane.onStarted == nil
        else { return publishClockStep() }
        lane.readTiming { [weak self] result in
            guard let self else { return }
            guard case .success(let timing) = result, lane === audible, timing.isPlaying, wantsFlow, stall == nil else {
                return publishClockStep()
            }
            lane.note(timing, isPrompt: false)
            publish(.clockStep, anchor: flowingAnchor(lane, timing))
            scheduleBoundary()
        }
    }

    /// The same position as told before, with the new wall time.
    private func publishClockStep() {
        var anchor = state.anchor
        if anchor.mediaRate > 0 {
            // A place that will be told of is not passed over.
            anchor = mappedAnchor()
            if marks.next < marks.marks.count, anchor.media >= marks.marks[marks.next].media { anchor = state.anchor }
            anchor.elapsed = min(anchor.elapsed, state.item?.duration ?? anchor.elapsed)
        }
        anchor.wall = WallClock.time(of: anchor.monotonic)
        anchor.wallSynced = WallClock.isSet
        publish(.clockStep, anchor: anchor)
    }
}
