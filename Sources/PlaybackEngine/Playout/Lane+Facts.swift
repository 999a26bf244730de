import AudioCore
import LinuxSystem
import NowPlaying

/// Facts about a lane, computed from its state.
extension Lane {
    var format: AudioFormat { ring.format }
    var clock: DeviceClock { readings.clock }
    var timing: StreamTiming? { readings.last }
    /// Factors of the sent frames.
    var gain: GainPlan { gains.plan }
    /// Largest latency among the last readings in seconds.
    var latency: Double { readings.latency }
    var hasStream: Bool { stream != nil }
    /// True if a device sets the pace, or if there is no stream.
    var isPaced: Bool { stream?.isPaced != false }

    /// True if the server has created the stream.
    var isReady: Bool {
        switch phase {
        case .detached, .opening: false
        case .held, .starting, .flowing: true
        }
    }

    /// True if the flow is stopped by the player's last request.
    var isCorked: Bool {
        switch phase {
        case .detached, .opening, .held: true
        case .starting, .flowing: false
        }
    }

    /// True if the flow is stopped and the timing was not read since.
    var isUnread: Bool {
        if case .held(isRead: false) = phase { return true }
        return false
    }

    /// True until a start is audible.
    var isStarting: Bool {
        if case .starting = phase { return true }
        return false
    }

    /// True while sound flows.
    var isFlowing: Bool {
        if case .flowing = phase { return true }
        return false
    }

    var isDetached: Bool {
        if case .detached = phase { return true }
        return false
    }

    var isStarved: Bool { supply == .starved }
    var isDrained: Bool { supply == .drained }
    var isDraining: Bool { supply == .draining || supply == .drained }

    /// Stream frame after the last sent one.
    var sentStreamEnd: Int64 { sentEnd + (offset ?? 0) }

    /// Stream frame at the end of everything; nil: more follows.
    var streamEnd: Int64? {
        guard let ringEnd, let offset else { return nil }
        return ringEnd + offset
    }

    /// True if a start is audible at once: fewer frames than the prebuffer wait for more, except at the end.
    var canBegin: Bool {
        guard isReady, let stream else { return false }
        let sent = sentStreamEnd
        return sent > 0 && (sent >= stream.prebufferFrames || streamEnd.map { sent >= $0 } == true)
    }

    /// Latency in seconds from which on a device takes so much at once that it runs dry between two blocks of one write.
    private static let largeLatency = 0.1
    /// True if the device can rewrite taken frames in the flow. For a device with a large buffer PulseAudio renders again
    /// after each block of a rewrite and loses the frames in between: there, all is written while corked.
    var canRewriteFlowing: Bool { latency < Self.largeLatency }

    /// Stream frame after which the sent frames are not heard, as they must be sent again: a suspended device dropped
    /// them, or the fade of a pause silenced them; nil: none.
    var unheardFrom: Int64? { standsAt ?? gain.silence }

    /// Next audible stream frame of a corked lane.
    var heldFrame: Double {
        if let standsAt { return Double(standsAt) }
        return min(timing?.audibleFrame ?? Double(audibleFrom), Double(min(sentStreamEnd, gain.silence ?? .max)))
    }

    /// Audible frame at a reading: by the clock once it has enough readings, else by the reading, as on a known schedule.
    func audibleFrame(_ timing: StreamTiming) -> Double {
        isExact ? timing.audibleFrame : readings.audibleFrame(timing)
    }

    /// The same for anchors: on a device that loses blocks, the average frame.
    func averageFrame(_ timing: StreamTiming) -> Double {
        isExact ? timing.audibleFrame : readings.averageFrame(timing)
    }

    /// Reading of this instant by the clock, as if an output that has played everything went on; nil: unknown.
    var timingByClock: StreamTiming? {
        let now = EventLoop.now
        guard var timing, let frame = clock.frame(at: now) else { return nil }
        timing.audibleFrame = frame
        timing.time = now
        timing.isPlaying = true
        return timing
    }

    /// Timing of a stream that commits frames, once it has committed some of the present flow. Until then, the output
    /// may still set the time of the first one. Nil: unknown without a request.
    var begunTiming: StreamTiming? {
        guard let stream, let committed = stream.committedFrame, committed > Double(audibleFrom) else { return nil }
        return stream.presentTiming
    }

    /// Instant of the last reading, if that lies after the frame: a very short item has passed.
    func timeOfPassed(_ frame: Double) -> MonotonicTime? {
        guard let timing, timing.audibleFrame >= frame else { return nil }
        return timing.time
    }

    /// Scatter of this device's readings in seconds: as measured, or the usual figure for its kind. A line through steps has
    /// none.
    var noise: Double {
        clock.noise ?? (stream?.canRewind == false && !isExact && stream?.isStepped != true ? 0.01 : 0)
    }

    /// True while a server that works in steps loses some: it would repeat the position of its last step.
    var isSteppedAndUneven: Bool { stream?.isStepped == true && clock.evenness.isWatched }

    /// True if the stream computes its timing: a difference is a change, and a future one is known.
    var isExact: Bool { stream?.isExact == true }
}
