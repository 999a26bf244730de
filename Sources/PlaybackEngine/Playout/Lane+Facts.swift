import AudioCore
import LinuxSystem
import NowPlaying

/// Facts about a lane, computed from its state.
extension Lane {
    var format: AudioFormat { ring.format }
    var clock: DeviceClock { readings.clock }
    var timing: StreamTiming? { readings.last }
    /// The largest latency among the last readings, seconds.
    var latency: Double { readings.latency }
    var hasStream: Bool { stream != nil }
    /// True if frames are taken at a device's pace, or there is no stream.
    var isPaced: Bool { stream?.isPaced != false }

    /// True if the stream exists at the server.
    var isReady: Bool {
        switch phase {
        case .detached, .opening: false
        case .held, .starting, .flowing: true
        }
    }

    /// True if the flow is stopped, as far as we have asked for it.
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

    /// True while a start is not audible.
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

    /// Stream frame after the last one that was sent.
    var sentStreamEnd: Int64 { sentEnd + (offset ?? 0) }

    /// Stream frame where everything ends; nil while more comes.
    var streamEnd: Int64? {
        guard let ringEnd, let offset else { return nil }
        return ringEnd + offset
    }

    /// True if a start is audible at once: with less than a stream's prebuffer it waits for more, but at its end.
    var canBegin: Bool {
        guard isReady, let stream else { return false }
        let sent = sentStreamEnd
        return sent > 0 && (sent >= stream.prebufferFrames || streamEnd.map { sent >= $0 } == true)
    }

    /// Seconds of latency from which on a device takes so much at once that it runs dry between two blocks of one write.
    private static let largeLatency = 0.1
    /// True if frames that were taken can be rewritten while they flow. Where a device takes much at once, PulseAudio renders
    /// anew after each block of a rewrite, and what was rendered meanwhile is lost: there, everything is written while corked.
    var canRewriteFlowing: Bool { latency < Self.largeLatency }

    /// The stream frame that is audible next on a corked lane.
    var heldFrame: Double {
        if let standsAt { return Double(standsAt) }
        return min(timing?.audibleFrame ?? Double(heardFrom), Double(sentStreamEnd))
    }

    /// The frame that is audible at a reading: by the clock once it has enough of them, else by the reading.
    func audibleFrame(_ timing: StreamTiming) -> Double { readings.audibleFrame(timing) }

    /// The instant of the last reading, if that lies after the frame: all of something very short.
    func timeOfPassed(_ frame: Double) -> MonotonicTime? {
        guard let timing, timing.audibleFrame >= frame else { return nil }
        return timing.time
    }

    /// Seconds by which this device's readings scatter: as measured, and until then the usual figure for its kind.
    var noise: Double { clock.noise ?? (stream?.canRewind == false ? 0.01 : 0) }
}
