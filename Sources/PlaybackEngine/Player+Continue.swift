import AudioCore
import LinuxSystem
import NowPlaying

/// Going on after the stream was lost, with the frame that would have been heard next: the ring keeps it.
extension Player {
    /// Takes the audible lane off its dead stream, keeping what was not heard. Listeners' anchor for the place where it
    /// stands; nil: nothing was kept, it has to be asked for anew.
    func detachAudible() -> PlaybackAnchor? {
        guard let lane = audible else { return nil }
        guard pending == nil, let frame = nextFrame(lane, at: EventLoop.now) else {
            lane.close()
            audible = nil
            return nil
        }
        let place = lane.timeline.place(of: shownTicket, at: Double(frame))?.place
        lane.detach(at: frame)
        if let ahead { ahead.rewindToStart() }
        // What took over from another one's end has not been told of yet.
        guard let place else { return stoppedAnchor(at: EventLoop.now) }
        return resting(media: lane.format.seconds(frames: Int64(clamping: place.itemFrame.rounded())))
    }

    /// The stream frame that would be heard next at this instant; nil if nothing of the lane is left to be heard.
    func nextFrame(_ lane: Lane, at time: MonotonicTime) -> Int64? {
        guard !lane.isDetached else { return lane.sentStreamEnd }
        guard let offset = lane.offset, !lane.awaitsSplice, !lane.timeline.segments.isEmpty else { return nil }
        let isFlowing = !lane.isCorked && lane.onStarted == nil
        let heard = (isFlowing ? lane.clock.frame(at: time) : nil) ?? heldFrame(lane)
        // A boundary that nobody was told of yet is not passed.
        var last = lane.sentStreamEnd
        if let (boundary, isEnd) = nextBoundary(on: lane), !isEnd { last = min(last, boundary) }
        let frame = max(min(Int64(clamping: heard.rounded()), last), lane.heardFrom, lane.ring.begin + offset)
        if let end = lane.streamEnd, frame >= end { return nil }
        return frame <= lane.ring.end + offset ? frame : nil
    }

    /// Goes on with the lane that lost its stream, if there is one: opens a stream for it. False: there is none.
    func continueDetached() -> Bool {
        guard pending == nil, let lane = audible, lane.isDetached, !isStale(lane) else { return false }
        for lane in [lane, ahead] { if let lane, lane.stream == nil { openStream(of: lane) } }
        return true
    }

    /// The lane has a stream again: puts what was not heard into it, and lets it flow if sound is wanted.
    func attach(_ lane: Lane) {
        guard lane.stream != nil, lane.isReady else { return }
        lane.attach(at: 0)
        lane.send(upTo: min(sendableEnd(of: lane), lane.sentEnd + (lane.stream?.targetFrames ?? 0)))
        decoder?.setAudible(lane.ring)
        mapChain(on: lane)
        if wantsFlow { letGo(lane) } else { topUp(lane) }
    }

    /// The same with the stream that the lane has: what the device had taken is sent anew.
    func attachAgain() {
        guard let lane = audible, let stream = lane.stream, let frame = lane.standsAt, let offset = lane.offset else {
            return
        }
        stream.flush { _ in }
        lane.readTiming { [weak self] result in
            guard let self else { return }
            guard lane === audible, lane.standsAt == frame, pending == nil else { return }
            guard case .success(let timing) = result else { return }
            lane.sentEnd = frame - offset
            lane.attach(at: max(0, timing.takenFrame))
            lane.send(
                upTo: min(sendableEnd(of: lane), lane.sentEnd + stream.targetFrames), at: lane.heardFrom)
            if wantsFlow { letGo(lane) }
        }
    }

    /// Lets a filled lane flow, and tells that it is heard again.
    private func letGo(_ lane: Lane) {
        letFlow(lane) { [weak self] timing in
            guard let self else { return }
            guard lane === audible, wantsFlow else { return }
            lane.note(timing)
            stall = nil
            retryDelay = Player.firstRetryDelay
            let segment = lane.timeline.place(at: lane.audibleFrame(timing))?.segment
            if let change = flow {
                finish(change, anchor: flowingAnchor(lane, timing))
            } else if let segment, segment.ticket != shownTicket {
                // The server went at a boundary.
                itemBecameAudible(lane, segment, flowingAnchor(lane, timing, of: segment))
            } else {
                publish(.unstall, anchor: flowingAnchor(lane, timing))
            }
            if let entry = shown { lane.stream?.setTitle(title(of: entry), artist: entry.details?.metadata.artist) }
            refill(lane, timing)
        }
    }
}

extension Lane {
    /// Gives up the stream; the frame at `streamFrame` will be the first that the next one gets.
    func detach(at streamFrame: Int64) {
        close()
        stopFlow()
        writesAt = nil
        if let offset { sentEnd = streamFrame - offset }
        rewrite = nil
        standsAt = nil
        isDetached = true
    }

    /// The next stream, empty until now, gets its frames from `streamFrame` on.
    func attach(at streamFrame: Int64) {
        let moved = streamFrame - sentStreamEnd
        timeline.shift(by: moved)
        gain.shift(by: moved)
        offset = streamFrame - sentEnd
        heardFrom = streamFrame
        ring.release(before: sentEnd)
        clock = DeviceClock(sampleRate: format.sampleRate)
        timing = nil
        standsAt = nil
        isDetached = false
    }

    /// The lane that waits for its turn gives up its stream and will fill the next one from its first frame.
    func rewindToStart() {
        close()
        stopFlow()
        if let offset { sentEnd = -offset }
    }

    private func stopFlow() {
        isCorked = true
        flowingSince = nil
        isDraining = false
        isDrained = false
        isStarved = false
        onStarted = nil
        clock.restart()
    }
}
