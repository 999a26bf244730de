import AudioCore
package import LinuxSystem
package import NowPlaying

/// The player: a coordinator. The transport decides about commands, and the player passes the effects to their owners:
/// `Playout` plays, `OutputRecovery` and `SourceRecovery` restore sound, `Publisher` publishes. Everything belongs to the
/// loop.
@PlayerLoop package final class Player {
    /// Seconds after which a command is answered although the sound server has not confirmed it.
    nonisolated static let answerLimit = 1.0

    let loop: EventLoop
    let parts: PlayerParts
    private(set) var transport: Transport
    /// Listeners, and sources of facts kept elsewhere.
    private(set) var listeners = PlayerListeners()
    /// Volume of this player.
    private(set) var volume = VolumeSetting()
    private var nextItemNumber: Int64
    private var wallClock: WallClockWatch?
    private var tidying: EventSource?
    /// Saves the state that must survive the process; nil: nothing is saved.
    private var keeper: (any PositionKeeper)?
    let failures = FailureRecord()
    private lazy var owners = Owners(self)

    /// Owners of state, each created on first use.
    @PlayerLoop private final class Owners {
        private unowned let player: Player
        private(set) lazy var publisher = Publisher(player)
        private(set) lazy var playout = Playout(player)
        private(set) lazy var outputs = OutputRecovery(player)
        private(set) lazy var sources = SourceRecovery(player)
        private(set) lazy var network = NetworkRecovery(player)
        private(set) lazy var readWatch = ReadWatch(player)
        private(set) lazy var interruptions = Interruptions(player)
        private(set) lazy var loudness = LoudnessControl(player)
        private(set) lazy var sleeper = Sleeper(player)
        private(set) lazy var scanner = Scanner(player)
        private(set) lazy var fades = PauseFades(player)
        private(set) lazy var marks = ItemMarks(player)
        private(set) lazy var descriptions = StreamDescriptions(player)
        private(set) lazy var knowledge = ItemKnowledge(player)
        private(set) lazy var titles = Titles(player)
        private(set) lazy var announcer = Announcer(player, sourcePatience: player.parts.announcementPatience)

        init(_ player: Player) { self.player = player }
    }

    var publisher: Publisher { owners.publisher }
    var playout: Playout { owners.playout }
    var outputs: OutputRecovery { owners.outputs }
    var sources: SourceRecovery { owners.sources }
    var network: NetworkRecovery { owners.network }
    var readWatch: ReadWatch { owners.readWatch }
    var interruptions: Interruptions { owners.interruptions }
    var loudness: LoudnessControl { owners.loudness }
    var sleeper: Sleeper { owners.sleeper }
    var scanner: Scanner { owners.scanner }
    var fades: PauseFades { owners.fades }
    var marks: ItemMarks { owners.marks }
    var descriptions: StreamDescriptions { owners.descriptions }
    var knowledge: ItemKnowledge { owners.knowledge }
    var announcer: Announcer { owners.announcer }
    var titles: Titles { owners.titles }

    /// A stopped player with an empty queue.
    package init(_ loop: EventLoop, _ parts: PlayerParts) {
        self.loop = loop
        self.parts = parts
        transport = Transport(failureLimit: parts.failureLimit, order: PlayOrder(seed: parts.shuffleSeed))
        nextItemNumber = parts.firstItemNumber
        parts.output.delegate = self
        wallClock = WallClockWatch(loop) { [unowned self] in
            playout.clockStepped()
            network.clockWasSet()
        }
        _ = publisher
    }

    // MARK: Facts

    var output: any AudioOutput { parts.output }
    /// Last published state that is heard.
    package var state: NowPlayingState { publisher.hearing.state }
    /// Current queue.
    package var queue: PlayQueue { transport.queue }
    /// Item that plays or is about to play.
    package var currentItem: ItemID? { transport.current }
    /// True while an announcement plays or waits.
    package var isAnnouncing: Bool { announcer.isBusy }
    /// Error of the published clock at the last reading in seconds, positive if it was ahead; nil: no reading yet.
    package var clockError: Double? { playout.feeder.clockError }
    /// Times since the start at which the output ran out of frames during playback.
    package var underruns: Int { playout.starvation.count }
    /// Evenness of the device that plays; nil: no sound.
    package var evenness: Evenness? { playout.audible?.clock.evenness }
    /// The volume, 0 to 1 on the server's cubic scale.
    package var volumeLevel: Double { volume.level }

    /// True if sound shall flow: play is requested, and at most the server prevents it.
    var wantsFlow: Bool { transport.wish == .playing && interruptions.current == nil && !outputs.awaitsDevice }

    /// Current position in the item in seconds; while a seek is being prepared, its target.
    package var elapsed: Double {
        if let pending = playout.pending { return pending.position }
        if transport.wish == .stopped { return transport.startPosition }
        let state = publisher.state
        return state.anchor.position(at: EventLoop.now, duration: state.item?.duration)
    }

    /// Duration of the file of the current item in seconds; nil: unknown.
    package var currentDuration: Double? {
        transport.current.flatMap { transport.queue[$0]?.details?.fileDuration }
    }

    // MARK: State

    /// Changes listeners; `change` leaves the others as they are.
    package func listen(_ change: (inout PlayerListeners) -> Void) { change(&listeners) }

    /// Runs a decision of the transport; the caller carries out its effects.
    @discardableResult
    func decide<Decision, Refusal: Error>(
        _ decision: (inout Transport) throws(Refusal) -> Decision
    ) throws(Refusal) -> Decision {
        try decision(&transport)
    }

    /// Gives new items their identities.
    func makeEntries(_ requests: [QueueRequest]) -> [QueueEntry] {
        var entries: [QueueEntry] = []
        entries.reserveCapacity(requests.count)
        // A closure would check the isolation at each call.
        for request in requests {
            entries.append(
                QueueEntry(
                    id: ItemID(request.number ?? nextItemNumber), source: request.source, details: request.details))
            if request.number == nil { nextItemNumber += 1 }
        }
        return entries
    }

    /// Numbers new items above this number.
    func reserveNumbers(upTo number: Int64) { nextItemNumber = max(nextItemNumber, number.addingClamped(1)) }

    /// Stores a volume without a call to the output.
    func setVolume(_ volume: VolumeSetting) { self.volume = volume }

    /// Lets `keeper` save the state from now on. It does not get items that were restored before.
    package func keepPosition(with keeper: any PositionKeeper) {
        self.keeper = keeper
        decide { $0.recordEdits() }
    }

    /// Passes all changes since the last call to the keeper.
    func keep() {
        guard let keeper else { return }
        keeper.keep(decide { $0.takeEdits() }, transport.queue, savedPosition)
    }

    /// Passes the position to the keeper, at a refill.
    func notePosition() { keeper?.note(savedPosition) }

    /// Returns unused memory to the system: the next turn of the loop is seconds away.
    func tidyUp() {
        guard tidying == nil else { return }
        tidying = loop.deferred(whenIdle: true) { [unowned self] in
            tidying?.release()
            tidying = nil
            publisher.forgetPlays()
            loop.giveBackPages()
        }
    }

    /// Plays an announcement over the music. The answer comes after its end or its failure.
    package func announce(_ announcement: Announcement, _ answer: @escaping AnnouncementAnswer) {
        announcer.add(announcement, answer)
    }

    /// Stops everything silently at the end of the process.
    package func shutDown() {
        sleeper.shutDown()
        scanner.shutDown()
        fades.shutDown()
        marks.cancel()
        descriptions.cancel()
        sources.shutDown()
        outputs.shutDown()
        announcer.shutDown()
        publisher.hearing.shutDown()
        titles.shutDown()
        playout.shutDown()
        output.disconnect()
    }
}
