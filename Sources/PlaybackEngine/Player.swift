package import AudioCore
package import LinuxSystem
package import NowPlaying

/// The player: carries out what the transport decides, on the decode thread and the output, and publishes what is audible.
///
/// All of it belongs to the loop. A new place goes through four rooms: `Player+Start` asks for it, `Player+Decode` hears of
/// it, `Player+Splice` puts it into what is heard, `Player+Publish` tells everybody.
@PlayerLoop package final class Player {
    /// What a player is made of.
    package struct Parts {
        package var output: any AudioOutput
        package var openDecoder: DecoderOpener
        /// Frames that a ring has to hold for a format.
        package var ringCapacity: @Sendable (AudioFormat) -> Int64
        /// Items in a row that may fail without a sample heard before play stops.
        package var failureLimit: Int
        /// What is done about loudness until a client says otherwise.
        package var loudness: LoudnessSettings
        package var rates: RateRules
        package var knowledge: SourceKnowledge
        /// Whether an item is an audiobook or a podcast.
        package var isSpoken: @PlayerLoop (MediaSource, MediaMetadata) -> Bool
        /// Name of the session that it plays in.
        package var session: String
        /// Numbers the events.
        package var events: EventCounter
        /// This run of the daemon, as published.
        package var instance: String
        /// First number for items of the queue.
        package var firstItemNumber: Int64
        /// What to do when the device goes; nil: what is usual for its kind.
        package var onOutputLost: OutputLostPolicy?
        /// Watches for the sound server coming up and calls back; keeps watching as long as what it returns lives.
        package var watchServer: (@escaping @PlayerLoop () -> Void) -> AnyObject?

        /// Watches for the medium of a source that is away, and calls back when it may be there again; keeps watching as long
        /// as what it returns lives. `isNews`: it may have come back since it was missed, which is told, too.
        package var watchMedia: (MediaSource, _ isNews: Bool, @escaping @PlayerLoop () -> Void) -> AnyObject?

        /// The parts, each by its name.
        package init(
            output: any AudioOutput, openDecoder: @escaping DecoderOpener,
            ringCapacity: @escaping @Sendable (AudioFormat) -> Int64, failureLimit: Int = 5,
            loudness: LoudnessSettings = LoudnessSettings(), rates: RateRules = RateRules(),
            knowledge: SourceKnowledge = SourceKnowledge(),
            isSpoken: @escaping @PlayerLoop (MediaSource, MediaMetadata) -> Bool = { _, _ in false },
            session: String = "main",
            events: EventCounter, instance: String,
            firstItemNumber: Int64 = 1, onOutputLost: OutputLostPolicy? = nil,
            watchServer: @escaping (@escaping @PlayerLoop () -> Void) -> AnyObject? = { _ in nil },
            watchMedia: @escaping (MediaSource, _ isNews: Bool, @escaping @PlayerLoop () -> Void) -> AnyObject? = {
                _, _, _ in nil
            }
        ) {
            self.output = output
            self.openDecoder = openDecoder
            self.ringCapacity = ringCapacity
            self.failureLimit = failureLimit
            self.loudness = loudness
            self.rates = rates
            self.knowledge = knowledge
            self.isSpoken = isSpoken
            self.session = session
            self.events = events
            self.instance = instance
            self.firstItemNumber = firstItemNumber
            self.onOutputLost = onOutputLost
            self.watchServer = watchServer
            self.watchMedia = watchMedia
        }
    }

    /// Seconds that a command waits for the sound server before it is answered with its wish taken.
    static let answerLimit = 1.0
    /// Seconds before the first new attempt at a lost server.
    static let firstRetryDelay = 0.2
    /// Seconds between two attempts, at most; each takes twice as long as the one before.
    static let longestRetryDelay = 30.0

    let loop: EventLoop
    let parts: Parts
    var output: any AudioOutput { parts.output }
    var transport: Transport
    /// What was published last.
    package internal(set) var state: NowPlayingState
    /// Called with every state as it is published.
    package var onPublish: (@PlayerLoop (NowPlayingState) -> Void)?
    /// Answers the pictures of an item that are known by now; nil: nobody looks for any.
    package var artworkOf: (@PlayerLoop (ItemID) -> [Artwork])?
    /// Called when an announcement is about to be heard, and (nil) when the last one was.
    package var onAnnouncement: (@PlayerLoop (Announcement?) -> Void)?
    /// Answers what is remembered of the item of a state that is about to be told; nil: nothing, or not known yet.
    package var feedbackOf: (@PlayerLoop (NowPlayingState) -> Feedback?)?
    /// Called when an item is asked for that was not shown before: what is remembered of it will be wanted soon.
    package var onAsked: (@PlayerLoop (ItemID) -> Void)?
    /// What an entry is, where commands depend on it; nil: they don't.
    package var kindOf: (@PlayerLoop (QueueEntry) -> MediaType)?
    /// The kind that commands depended on last.
    var shownKind: MediaType?
    /// Called with a line for the log: an item's fault.
    package var onItemFailure: (@PlayerLoop (_ uri: String, _ message: String) -> Void)?
    /// The same for an item whose medium is away and is waited for.
    package var onMediaAway: (@PlayerLoop (_ uri: String, _ message: String) -> Void)?
    /// The same for a live stream that broke off and is tried again.
    package var onStreamLost: (@PlayerLoop (_ uri: String, _ message: String) -> Void)?

    /// Is told of all that must survive the process; nil: nobody is.
    var keeper: (any PlaceKeeper)?
    var decoder: DecodeThread?
    /// What it told that was not looked at yet.
    var reports: ArraySlice<DecodeReport> = []
    /// Number of the newest run asked of the decode thread.
    var run = 0
    /// Ticket of the item that was handed out last.
    var nextTicket = 0
    var nextItemNumber: Int64
    /// Items handed to the decode thread, in order, the audible one first.
    var chain: [ChainLink] = []
    /// Items that could not be played since the last start: what plays by itself passes them over.
    var skipped: Set<ItemID> = []
    /// The item at which earlier runs died.
    let startFault = StartFault()
    /// Whether a failure has not been published yet.
    var errorIsUntold = false
    /// What is heard, or was and is held.
    var audible: Lane?
    /// What takes over at the next change of format.
    var ahead: Lane?
    /// Whether the audible one has ended and the other is not ready yet.
    var awaitsHandOver = false
    /// Lanes whose last frames are on their way to the ear.
    var retiring: [Lane] = []
    var pending: PendingChange?
    var flow: FlowChange?
    /// The items that were opened last, the newest at the end.
    var recentlyOpened: [ItemID] = []
    /// How many times each item began.
    var playCounts: [ItemID: Int] = [:]
    /// The run of failures behind which an item stands that nobody has heard yet; nil: none.
    var unheardFailures: Transport.FailureRun?
    /// The item that listeners were told of; kept apart, as it may have left the queue.
    var shown: QueueEntry?
    /// The time of its playing that listeners were told of.
    var shownTicket = 0
    /// Why wanted sound can't be heard; nil while it can.
    var stall: StallReason?
    /// Who silences us; nil: nobody.
    var interruption: Interruption? {
        didSet { if interruption == nil { interruptionIsTold = false } }
    }
    /// Whether listeners know of it; what else they hear before that holds the state and the anchor from before.
    var interruptionIsTold = false
    /// The one that has just ended, until that is told.
    var endedInterruption: Interruption?
    /// Whether the sound server asks for silence: it mutes what plays all the same.
    var isAskedForSilence = false
    /// Whether a program that the configuration names plays.
    var isInterruptedByProgram = false
    /// For whom we are quiet or silent.
    var yields: [(who: String, how: Yielding)] = []
    /// What everything is multiplied by while somebody else speaks.
    var duckLevel = 1.0
    /// Has announcements heard; made at the first of them.
    var announcer: Announcer?
    /// The device in use, as it was told last.
    var device: OutputDevice?
    /// Set while sound is wanted on a device that is away.
    var loss: DeviceLoss?
    var lastLoss: MonotonicTime?
    /// The device is back: called when that is believed.
    var deviceReturn: EventSource?
    /// Why the device is another one when a stream is opened anew.
    var absence = RouteReason.serverBack
    var untoldRoute: Route?
    var deviceNews: EventSource?
    var lastDeviceNews: MonotonicTime?
    /// Seconds by which the position that listeners computed from the last event was ahead of what was heard, at the last
    /// reading that came anyway; nil: there was none yet.
    package internal(set) var clockError: Double?
    /// Called at the audible boundary of an item or the end.
    var boundary: EventSource?
    var retry: EventSource?
    var retryDelay = Player.firstRetryDelay
    var serverWatch: AnyObject?
    var starvation: EventSource?
    /// Called when there is nothing else to do, to give back what it took to get here.
    var tidying: EventSource?
    /// The live stream that broke off; nil: none.
    var lostTicket: Int?
    /// Called when it is asked for again.
    var reconnect: EventSource?
    /// Seconds until then, growing.
    var reconnectDelay = 0.0
    /// When it came back last.
    var regainedAt: MonotonicTime?
    /// What items say about themselves from frames on that are not heard yet, in order.
    var descriptions: [Description] = []
    /// Called when the next of them is heard.
    var descriptionDeadline: EventSource?
    /// Places of the item that listeners are told of.
    var marks = Marks()
    /// Called when the next of them is heard.
    var markDeadline: EventSource?
    /// The seek button that is held down; nil: none.
    var scan: Scan?
    /// Called when it has to go faster.
    var scanDeadline: EventSource?
    /// Whether a seek over an advertisement that was not heard goes to its beginning.
    package var landsOnAdvertisements = true
    /// Whether there was an item where we stand, as listeners were told by way of `commandsVersion`.
    var shownCurrent = false
    /// The obstacle to seeking that listeners were told of, by way of `commandsVersion`.
    var shownSeekObstacle: CommandObstacle?
    var wallClock: WallClockWatch?
    /// 0 to 1, as the sound server has it; without what loudness and fades do to the samples.
    package internal(set) var volume = 1.0
    var muted = false
    var loudness: LoudnessSettings
    var commandsVersion = 1
    /// Decode threads that hang in a read and were given up, until they end.
    var hungThreads: [DecodeThread] = []
    /// What follows the present item, its medium being away; nil: it is not.
    var awayItem: ItemID?
    /// Set while a medium is away.
    var mediaWatch: AnyObject?
    /// The item that was missed last, until one is heard.
    var missedItem: ItemID?
    /// Seconds of the last pause before it was looked for.
    var mediaDelay = 0.0
    /// When play is to end by itself; nil: when nothing follows.
    var sleep: Sleep?
    /// Called when it has to grow quiet, or to end.
    var sleepDeadline: EventSource?
    /// Whether it grows quiet.
    var isFadingOut = false
    /// Called when a read has taken too long.
    var hangWatch: EventSource?

    /// An item that the decode thread works on or has worked on.
    struct ChainLink {
        var ticket: Int
        var id: ItemID
        /// What was found; nil until it is opened.
        var opened: OpenedItem?
        /// Ring frame behind its last one; nil until it is decoded.
        var ringEnd: Int64?
        /// What its samples are multiplied by, as it was decided when it was opened; nil: nothing is done to them.
        var gain: ItemGain?
        /// What the item says from later frames of the ring on, where links of an Ogg file differ in loudness, until that is
        /// heard.
        var laterLoudness: [(from: Int64, tags: LoudnessTags?)] = []
        /// Whether it is the rest of the item before, behind a change of format in the middle.
        var isRest = false
    }

    /// A stopped player with an empty queue.
    package init(_ loop: EventLoop, _ parts: Parts) {
        self.loop = loop
        self.parts = parts
        transport = Transport(failureLimit: parts.failureLimit)
        nextItemNumber = parts.firstItemNumber
        loudness = parts.loudness
        let now = EventLoop.now
        state = NowPlayingState(
            anchor: PlaybackAnchor(
                elapsed: 0, rate: 0, monotonic: now, wall: WallClock.time(of: now), wallSynced: WallClock.isSet))
        state.session = parts.session
        state.instance = parts.instance
        state.commandsVersion = commandsVersion
        state.loudness = loudnessStatus()
        parts.output.delegate = self
        wallClock = WallClockWatch(loop) { [unowned self] in clockStepped() }
    }

    /// Whether sound shall flow: it is wanted, and nothing but the server may be in its way.
    var wantsFlow: Bool { transport.wish == .playing && interruption == nil && loss == nil }

    /// The queue as it is.
    package var queue: PlayQueue { transport.queue }

    /// Seconds into the item at this moment: of the place that is being prepared, if there is one.
    package var elapsed: Double {
        if let pending { return pending.position }
        if transport.wish == .stopped { return transport.startPosition }
        return state.anchor.position(at: EventLoop.now, duration: state.item?.duration)
    }

    /// Seconds of the current item; nil while unknown.
    package var currentDuration: Double? {
        guard let current = transport.current else { return nil }
        return transport.queue[current]?.details?.duration
    }

    /// Whether announcements are heard or wait.
    package var isAnnouncing: Bool { announcer?.isBusy ?? false }

    /// The item where we stand or go to.
    package var currentItem: ItemID? { transport.current }

    /// Ends everything silently; for the end of the process.
    package func shutDown() {
        boundary = nil
        retry = nil
        starvation = nil
        deviceReturn = nil
        deviceNews = nil
        reconnect = nil
        descriptionDeadline = nil
        markDeadline = nil
        scanDeadline = nil
        forgetAwayMedia()
        sleepDeadline = nil
        pending?.deadline?.release()
        flow?.deadline?.release()
        announcer?.shutDown()
        decoder?.end()
        audible?.close()
        ahead?.close()
        output.disconnect()
    }
}
