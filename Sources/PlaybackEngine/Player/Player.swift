import AudioCore
package import LinuxSystem
package import NowPlaying

/// The player: a coordinator. It takes commands, lets the transport decide, and carries the effects to the owners: `Playout`
/// plays, `OutputRecovery` and `SourceRecovery` bring sound back, `Publisher` publishes. All of it belongs to the loop.
@PlayerLoop package final class Player {
    /// Seconds that a command waits for the sound server before it is answered with its wish taken.
    static let answerLimit = 1.0

    let loop: EventLoop
    let parts: Parts
    private(set) var transport: Transport
    /// Everybody who listens or answers questions.
    private(set) var listeners = PlayerListeners()
    /// The volume of what we play.
    private(set) var volume = VolumeSetting()
    private var nextItemNumber: Int64
    private var wallClock: WallClockWatch?
    private var tidying: EventSource?
    /// Keeps everything that must survive the process; nil: nobody does.
    private var keeper: (any PlaceKeeper)?
    let failures = FailureRecord()
    private lazy var owners = Owners(self)

    /// The owners of state, each made on first use.
    @PlayerLoop private final class Owners {
        private unowned let player: Player
        private(set) lazy var publisher = Publisher(player)
        private(set) lazy var playout = Playout(player)
        private(set) lazy var outputs = OutputRecovery(player)
        private(set) lazy var sources = SourceRecovery(player)
        private(set) lazy var readWatch = ReadWatch(player)
        private(set) lazy var interruptions = Interruptions(player)
        private(set) lazy var loudness = LoudnessControl(player)
        private(set) lazy var sleeper = Sleeper(player)
        private(set) lazy var scanner = Scanner(player)
        private(set) lazy var marks = ItemMarks(player)
        private(set) lazy var descriptions = StreamDescriptions(player)
        private(set) lazy var knowledge = ItemKnowledge(player)
        private(set) lazy var announcer = Announcer(player, sourcePatience: player.parts.announcementPatience)

        init(_ player: Player) { self.player = player }
    }

    var publisher: Publisher { owners.publisher }
    var playout: Playout { owners.playout }
    var outputs: OutputRecovery { owners.outputs }
    var sources: SourceRecovery { owners.sources }
    var readWatch: ReadWatch { owners.readWatch }
    var interruptions: Interruptions { owners.interruptions }
    var loudness: LoudnessControl { owners.loudness }
    var sleeper: Sleeper { owners.sleeper }
    var scanner: Scanner { owners.scanner }
    var marks: ItemMarks { owners.marks }
    var descriptions: StreamDescriptions { owners.descriptions }
    var knowledge: ItemKnowledge { owners.knowledge }
    var announcer: Announcer { owners.announcer }

    /// A stopped player with an empty queue.
    package init(_ loop: EventLoop, _ parts: Parts) {
        self.loop = loop
        self.parts = parts
        transport = Transport(failureLimit: parts.failureLimit)
        nextItemNumber = parts.firstItemNumber
        parts.output.delegate = self
        wallClock = WallClockWatch(loop) { [unowned self] in playout.clockStepped() }
        _ = publisher
    }

    // MARK: Facts

    var output: any AudioOutput { parts.output }
    /// The state that was published last.
    package var state: NowPlayingState { publisher.state }
    /// The queue as it is.
    package var queue: PlayQueue { transport.queue }
    /// The current item, where play stands or goes to.
    package var currentItem: ItemID? { transport.current }
    /// True while announcements are audible or wait.
    package var isAnnouncing: Bool { announcer.isBusy }
    /// Seconds by which the published clock was ahead at the last reading; nil: there was none yet.
    package var clockError: Double? { playout.feeder.clockError }
    /// The volume, 0 to 1 on the server's cubic scale.
    package var volumeLevel: Double { volume.level }

    /// True if sound shall flow: it is wanted, and nothing but the server may be in its way.
    var wantsFlow: Bool { transport.wish == .playing && interruptions.current == nil && !outputs.awaitsDevice }

    /// Seconds into the item at this moment: of the place that is being prepared, if there is one.
    package var elapsed: Double {
        if let pending = playout.pending { return pending.position }
        if transport.wish == .stopped { return transport.startPosition }
        return state.anchor.position(at: EventLoop.now, duration: state.item?.duration)
    }

    /// Seconds of the current item; nil while unknown.
    package var currentDuration: Double? {
        transport.current.flatMap { transport.queue[$0]?.details?.duration }
    }

    // MARK: State

    /// Sets listeners; those that `change` does not name stay.
    package func listen(_ change: (inout PlayerListeners) -> Void) { change(&listeners) }

    /// Lets the transport decide; the caller carries out its effects.
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
        // No closure: each call of one would check that this is the loop.
        for request in requests {
            entries.append(
                QueueEntry(id: ItemID(nextItemNumber), source: request.source, details: request.details))
            nextItemNumber += 1
        }
        return entries
    }

    /// New items get numbers above this one.
    func reserveNumbers(upTo number: Int64) { nextItemNumber = max(nextItemNumber, number.addingClamped(1)) }

    /// Takes a volume, without a word to the output.
    func setVolume(_ volume: VolumeSetting) { self.volume = volume }

    /// `keeper` keeps everything from now on that must survive. Items that were restored before are not reported.
    package func keepPlace(with keeper: any PlaceKeeper) {
        self.keeper = keeper
        decide { $0.recordEdits() }
    }

    /// Reports to the keeper everything since the last time.
    func keep() {
        guard let keeper else { return }
        keeper.keep(decide { $0.takeEdits() }, transport.queue, place)
    }

    /// A refill that happens anyway is the occasion to note how far sound has come.
    func notePlace() { keeper?.note(place) }

    /// Seconds pass until the next turn of the loop: memory that was used to get here, and that commands needed before, is
    /// given back as soon as there is nothing else to do.
    func tidyUp() {
        guard tidying == nil else { return }
        tidying = loop.deferred(whenIdle: true) { [unowned self] in
            tidying?.release()
            tidying = nil
            publisher.forgetPlays()
            ProgramPages.giveBack()
        }
    }

    /// Makes an announcement audible over the music. The answer comes when it was audible, or can't be.
    package func announce(_ announcement: Announcement, _ answer: @escaping AnnouncementAnswer) {
        announcer.add(announcement, answer)
    }

    /// Ends everything silently; for the end of the process.
    package func shutDown() {
        sleeper.shutDown()
        scanner.shutDown()
        marks.cancel()
        descriptions.cancel()
        sources.shutDown()
        outputs.shutDown()
        announcer.shutDown()
        playout.shutDown()
        output.disconnect()
    }
}
