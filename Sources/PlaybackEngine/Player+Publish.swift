import AudioCore
import LinuxSystem
import NowPlaying

/// Anchors.
extension Player {
    /// The anchor of a flowing lane at a reading; `segment` pins it to the beginning of an item that is heard just about now.
    func flowingAnchor(_ lane: Lane, _ timing: StreamTiming, of segment: Timeline.Segment? = nil) -> PlaybackAnchor {
        let rate = Double(lane.format.sampleRate)
        let heard = lane.audibleFrame(timing)
        let from = Double(max(lane.heardFrom, segment?.streamStart ?? lane.heardFrom))
        // What is not heard yet is told with the instant when it will be; a boundary just behind us, with when it was.
        let frame = segment.map { Double($0.streamStart) } ?? max(heard, from)
        let time = timing.time.advanced(bySeconds: (frame - heard) / (rate * (1 + lane.clock.skew)))
        let elapsed = lane.timeline.place(at: frame).map { $0.itemFrame / rate } ?? 0
        return anchor(elapsed, rate: lane.timeline.place(at: frame)?.segment.rate ?? 1, at: time, skew: lane.clock.skew)
    }

    /// The anchor of a lane that was corked: what was taken by a device that can't take back will still be heard.
    func heldAnchor(_ lane: Lane, _ timing: StreamTiming) -> PlaybackAnchor {
        let frame = min(max(timing.audibleFrame, Double(lane.heardFrom)), Double(lane.sentStreamEnd))
        let elapsed = lane.timeline.place(at: frame).map { $0.itemFrame / Double(lane.format.sampleRate) } ?? 0
        let late = lane.stream?.canRewind == false ? min(timing.latency, 2) : 0
        return anchor(elapsed, rate: 0, at: timing.time.advanced(bySeconds: late))
    }

    /// The anchor of a position that does not move.
    func resting(at elapsed: Double) -> PlaybackAnchor { anchor(elapsed, rate: 0, at: EventLoop.now) }

    /// The position that listeners compute for `time`, standing from there on.
    func stoppedAnchor(at time: MonotonicTime) -> PlaybackAnchor {
        anchor(state.anchor.position(at: time, duration: state.item?.duration), rate: 0, at: time)
    }

    private func anchor(_ elapsed: Double, rate: Double, at time: MonotonicTime, skew: Double = 0) -> PlaybackAnchor {
        PlaybackAnchor(
            elapsed: elapsed, rate: rate, skew: skew, monotonic: time, wall: WallClock.time(of: time),
            wallSynced: WallClock.isSet)
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
        next.upcoming = next.state == .playing ? upcoming(anchor: next.anchor, item: next.item) : nil
        next.queueIndex = shown.flatMap { transport.queue.index(of: $0.id) }
        next.queueCount = transport.queue.count
        next.queueVersion = transport.queue.version
        if state.queueCount == 0 || next.queueCount == 0, state.queueCount != next.queueCount { commandsVersion += 1 }
        if seekObstacle != shownSeekObstacle {
            shownSeekObstacle = seekObstacle
            commandsVersion += 1
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
        let hasMoved = next.anchor != state.anchor
        state = next
        if hasMoved { scheduleSleep() }
        let watches = transport.wish == .playing || interruption != nil
        if output.watchesNeighbours != watches { output.watchesNeighbours = watches }
        keep()
        onPublish?(next)
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

    func title(of entry: QueueEntry) -> String { entry.details?.metadata.title ?? entry.source.displayName }

    private func upcoming(anchor: PlaybackAnchor, item: NowPlayingItem?) -> UpcomingItem? {
        guard let item, let duration = item.duration, anchor.rate > 0, let next = successor(of: item.id),
            let entry = transport.queue[next]
        else { return nil }
        let time = anchor.monotonic.advanced(
            bySeconds: max(0, duration - anchor.elapsed) / (anchor.rate * (1 + anchor.skew)))
        return UpcomingItem(
            itemID: next, title: title(of: entry), artist: entry.details?.metadata.artist, monotonic: time,
            wall: WallClock.time(of: time))
    }

    /// What follows was opened and is better known than it was told.
    func tellUpcoming(_ item: OpenedItem) {
        guard pending == nil, let told = state.upcoming, told.itemID == item.id, state.state == .playing,
            let entry = transport.queue[item.id]
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
        lane.readTiming { [unowned self] result in
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
        if anchor.rate > 0 {
            let now = EventLoop.now
            anchor.elapsed = anchor.position(at: now, duration: state.item?.duration)
            anchor.monotonic = now
        }
        anchor.wall = WallClock.time(of: anchor.monotonic)
        anchor.wallSynced = WallClock.isSet
        publish(.clockStep, anchor: anchor)
    }
}
