/// Playback state for clients.
package enum PlaybackState: String, Sendable, CaseIterable {
    case stopped, playing, paused, interrupted, stalled
}

/// Reason for silence although sound is requested.
package enum StallReason: String, Sendable, CaseIterable {
    case noServer, serverHung, noOutput, suspended, sourceLate, mediaGone
    /// This machine reaches no network, or its clock is not set.
    case noNetwork
    /// The address of the item fails.
    case unreachable

    /// True if the item's source is the reason, and not the output.
    package var isOfSource: Bool {
        switch self {
        case .noServer, .serverHung, .noOutput, .suspended: false
        case .sourceLate, .mediaGone, .noNetwork, .unreachable: true
        }
    }
}

/// Times of a silence although sound is requested, in Unix time.
package struct StallTimes: Equatable, Sendable {
    /// Beginning of the silence.
    package var since: Double
    /// Next attempt to reach the source; nil: none is planned.
    package var nextTry: Double?

    /// Times of a silence.
    package init(since: Double, nextTry: Double?) {
        self.since = since
        self.nextTry = nextTry
    }
}

/// Cause of a published state: the key events. No other event publishes one.
package enum Cause: String, Sendable, CaseIterable {
    case snapshot
    case play, pause, stop, seek, rate, track, metadata, feedback, chapter
    case adBegan = "ad-began"
    case adEnded = "ad-ended"
    case stall, unstall
    case interruptionBegan = "interruption-began"
    case interruptionEnded = "interruption-ended"
    case route, outputs, volume, mode, queue, commands, session, sleep, error, drift
    case clockStep = "clock-step"
    /// A command was accepted and becomes audible later.
    case pending
}

/// Reason of a `track` or `stop` event.
package enum ChangeReason: String, Sendable, CaseIterable {
    case ended, next, previous, jump, removed, error, replaced, command, sleep
}

/// Reason for another output device.
package enum RouteReason: String, Sendable, CaseIterable {
    /// A client chose it.
    case selected
    /// The sound server has another default.
    case defaultChanged
    /// Another program moved our stream, such as a mixer.
    case moved
    /// The device in use went away.
    case deviceGone
    /// The awaited device has returned.
    case deviceBack
    /// The sound server restarted, and plays on another device.
    case serverBack
}

/// A change of the device, by names; nil: no device.
package struct Route: Equatable, Sendable {
    package var from: String?
    package var to: String?
    package var reason: RouteReason

    /// A change, by its parts.
    package init(from: String?, to: String?, reason: RouteReason) {
        self.from = from
        self.to = to
        self.reason = reason
    }
}

/// Program that interrupts playback.
package struct Interruption: Equatable, Sendable {
    /// The program's name, for people, without control characters.
    package var by: String
    /// True if playback resumes after it: the session was playing, and no client has paused it since.
    package var shouldResume: Bool

    /// An interruption, by its parts.
    package init(by: String, shouldResume: Bool) {
        self.by = by
        self.shouldResume = shouldResume
    }
}

/// Client that requested a change.
package struct Originator: Equatable, Sendable {
    /// Name from the client's `hello`, or its program's name; without control characters.
    package var client: String
    package var pid: Int32
    package var uid: UInt32
    /// Path of the request: `socket`.
    package var via: String

    /// An originator, by its parts.
    package init(client: String, pid: Int32, uid: UInt32, via: String = "socket") {
        self.client = client
        self.pid = pid
        self.uid = uid
        self.via = via
    }
}

/// The item that is audible, or would be if playback ran.
package struct NowPlayingItem: Equatable, Sendable {
    package var id: ItemID
    /// Number of times that this item started.
    package var play: Int
    package var uri: String
    package var metadata: MediaMetadata
    /// Seconds; nil: unknown or endless.
    package var duration: Double?
    package var format: MediaFormat?
    /// Index of the audible chapter, from 0; nil without chapters or before the first one.
    package var chapterIndex: Int?
    /// Saved feedback about it; nil: not looked up yet.
    package var feedback: Feedback?
    /// Its pictures; empty if none is known.
    package var artwork: [Artwork]

    /// An item, by its parts.
    package init(
        id: ItemID, play: Int, uri: String, metadata: MediaMetadata, duration: Double?, format: MediaFormat? = nil,
        artwork: [Artwork] = []
    ) {
        self.id = id
        self.play = play
        self.uri = uri
        self.metadata = metadata
        self.duration = duration
        self.format = format
        self.artwork = artwork
    }

    /// Seconds before its start at which a chapter counts as begun, because positions are exact only to the frame.
    private static let chapterTolerance = 0.001

    /// The index of the chapter at this position in seconds; nil without chapters or before the first one.
    package func chapter(at elapsed: Double) -> Int? {
        metadata.chapters?.lastIndex { $0.start <= elapsed + Self.chapterTolerance }
    }
}

/// The next item, and the instant at which it becomes audible without a further request.
package struct UpcomingItem: Equatable, Sendable {
    /// The instant of its first sample.
    package struct Instant: Equatable, Sendable {
        package var monotonic: MonotonicTime
        /// Unix time, seconds.
        package var wall: Double

        /// An instant on both clocks.
        package init(monotonic: MonotonicTime, wall: Double) {
            self.monotonic = monotonic
            self.wall = wall
        }
    }

    package var itemID: ItemID
    package var title: String?
    package var artist: String?
    /// Title and artist in other languages.
    package var texts: [LocalizedText] = []
    /// Nil: it does not play now, or the end of the present item is unknown.
    package var instant: Instant?

    /// An upcoming item, by its parts.
    package init(itemID: ItemID, title: String?, artist: String?, instant: Instant?) {
        self.itemID = itemID
        self.title = title
        self.artist = artist
        self.instant = instant
    }
}

/// Fidelity of the samples on their way from the file to the device.
package enum Fidelity: Equatable, Sendable {
    /// Bit-perfect, to the knowledge of the sound server.
    case exact
    /// Changed samples; this is the first change on the path.
    case changed(Change)

    /// Causes of changed samples, in the order of the signal path.
    package enum Change: String, Sendable, CaseIterable {
        /// A rate other than 1.
        case rate
        /// A gain from the item's tags.
        case loudness
        /// Our stream's volume at the server, or its muting.
        case volume
        /// The server plays at another sample rate.
        case sampleRate
        /// The device accepts fewer bits than the item has.
        case sampleFormat
        /// The device has other channels, or another order of channels.
        case channels
        /// The device's own volume, if the server applies it.
        case deviceVolume
    }

    /// The change by its name on the wire; nil: none.
    package var reason: String? {
        if case .changed(let change) = self { return change.rawValue }
        return nil
    }
}

/// The output for clients.
package struct OutputStatus: Equatable, Sendable {
    package var name: String
    package var description: String
    /// `running`, `idle`, `suspended`.
    package var state: String
    /// Seconds from a sample's leaving the server's queue until it is audible; nil: unknown.
    package var latency: Double?
    /// Seconds of latency that the sound server does not report.
    package var delay: Double
    /// Seconds by which the position may be wrong, as it follows the clock of another machine; nil: unknown, or our clock.
    package var uncertainty: Double?
    /// Frames a second of the device; nil: unknown.
    package var sampleRate: Int?
    /// Fidelity of the playback; nil: nothing plays.
    package var bitPerfect: Fidelity?

    /// An output, by its parts.
    package init(
        name: String, description: String, state: String, latency: Double? = nil, delay: Double = 0,
        uncertainty: Double? = nil, sampleRate: Int? = nil, bitPerfect: Fidelity? = nil
    ) {
        self.uncertainty = uncertainty
        self.bitPerfect = bitPerfect
        self.name = name
        self.description = description
        self.state = state
        self.latency = latency
        self.delay = delay
        self.sampleRate = sampleRate
    }
}

/// The end of playback by a client's sleep timer.
package struct SleepStatus: Equatable, Sendable {
    /// Instant of the end; nil: the end of the present item.
    package var time: MonotonicTime?
    /// Unix time of that instant, seconds.
    package var wall: Double?
    /// Seconds of the fade before the end.
    package var fade: Double

    /// An end, by its parts.
    package init(time: MonotonicTime?, wall: Double?, fade: Double) {
        self.time = time
        self.wall = wall
        self.fade = fade
    }
}

/// A change that is not audible yet, because the output plays later than it takes frames.
package struct PendingEffect: Equatable, Sendable {
    /// Playback state from that instant on.
    package var state: PlaybackState
    /// Item from that instant on; nil: none.
    package var itemID: ItemID?
    /// Seconds into the item at that instant.
    package var position: Double
    /// Instant at which the change becomes audible.
    package var monotonic: MonotonicTime
    /// The same instant in Unix time, seconds.
    package var wall: Double
    /// Cause of its event at that instant. Unpublished.
    package var cause: Cause

    /// The pending change to this state, with its anchor and cause.
    package init(_ next: NowPlayingState) {
        state = next.state
        itemID = next.item?.id
        position = next.anchor.elapsed
        monotonic = next.anchor.monotonic
        wall = next.anchor.wall
        cause = next.cause
    }
}

/// The whole published state: built, compared and sent as one value.
package struct NowPlayingState: Equatable, Sendable {
    package var session: String = "main"
    /// Increases by one with each event of the daemon.
    package var sequence: Int = 0
    /// Random identity of this run of the daemon.
    package var instance: String = ""
    package var cause: Cause = .snapshot
    package var reason: ChangeReason?
    package var by: Originator?
    package var state: PlaybackState = .stopped
    package var stall: StallReason?
    /// Times of the silence; nil: `stall` is nil, or they are unknown.
    package var stallTimes: StallTimes?
    /// The last change that is not audible yet; nil: none.
    package var pending: PendingEffect?
    /// Present while it lasts, and once more in the event of its end.
    package var interruption: Interruption?
    /// Present in `route` events only.
    package var route: Route?
    /// Present in the event `session` of a change alone.
    package var activeChanged: ActiveChange?
    package var anchor: PlaybackAnchor
    package var item: NowPlayingItem?
    package var upcoming: UpcomingItem?
    /// Index of the item in the queue, from 0.
    package var queueIndex: Int?
    package var queueCount: Int = 0
    package var queueVersion: Int = 0
    /// Increases by one with each visible change of the queue.
    package var queueRevision: Int = 0
    /// Visible changes of the queue since the previous state; nil: none, or too many.
    package var queueChanges: QueueChanges?
    package var commandsVersion: Int = 0
    package var modes = PlayModes()
    /// 0…1 on the server's cubic scale.
    package var volume: Double = 1
    package var muted: Bool = false
    package var loudness = LoudnessStatus()
    package var crossfade = CrossfadeSettings()
    package var fades = FadeSettings()
    /// End of playback by the sleep timer; nil: no timer is set.
    package var sleep: SleepStatus?
    package var output: OutputStatus?
    package var error: PlaybackError?

    /// A state in which nothing plays.
    package init(anchor: PlaybackAnchor) { self.anchor = anchor }

    /// The state after the pending change has become audible, with its cause; the item stays unchanged.
    package var asRequested: NowPlayingState {
        guard let pending else { return self }
        var state = self
        state.state = pending.state
        state.cause = pending.cause
        return state
    }
}
