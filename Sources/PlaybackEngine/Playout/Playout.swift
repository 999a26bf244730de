import AudioCore
import LinuxSystem
import NowPlaying

/// Plays: owns the lanes, and the parts that prepare, feed, stop and resume them. It alone talks to `AudioStream`.
@PlayerLoop final class Playout {
    unowned let player: Player
    /// The lane that is audible, or was and is held.
    private(set) var audible: Lane?
    /// The lane that takes over at the next change of format.
    private(set) var ahead: Lane?
    /// True if the audible lane has ended and the other is not ready yet.
    private(set) var awaitsHandOver = false
    /// Lanes whose last frames are on their way to the ear.
    private var retiring: [Lane] = []
    /// The reason for silence where sound is wanted; nil while there is none.
    private(set) var stall: StallReason?

    private(set) lazy var decoding = Decoding(self)
    private(set) lazy var preparation = Preparation(self)
    private(set) lazy var splicer = Splicer(self)
    private(set) lazy var flow = FlowControl(self)
    private(set) lazy var starter = FlowStarter(self)
    private(set) lazy var feeder = Feeder(self)
    private(set) lazy var drains = Drains(self)
    private(set) lazy var starvation = Starvation(self)
    private(set) lazy var boundaries = Boundaries(self)
    private(set) lazy var resumption = Resumption(self)
    private(set) lazy var gains = GainRewriter(self)

    /// Plays nothing.
    init(_ player: Player) { self.player = player }

    // MARK: Facts

    /// The place that is being prepared; nil: none.
    var pending: PendingChange? { preparation.pending }

    /// True if sound shall flow: it is wanted, and nothing but the server may be in its way.
    var wantsFlow: Bool { player.wantsFlow }

    /// The audible lane, if it flows and nothing else is under way.
    var settledLane: Lane? {
        guard let lane = audible, pending == nil, !lane.isCorked, stall == nil, wantsFlow else { return nil }
        return lane
    }

    /// The lane that this ring is of: the audible one, the one ahead or a pending change's; nil: none has it any more.
    func lane(of ring: SampleRing) -> Lane? {
        if audible?.ring === ring { return audible }
        if ahead?.ring === ring { return ahead }
        return pending?.lane?.ring === ring ? pending?.lane : nil
    }

    // MARK: Questions

    /// Conditions under which the answer to a question is of use.
    struct Conditions: OptionSet {
        /// One bit for each condition.
        let rawValue: Int
        /// The lane is the audible one.
        static let audible = Conditions(rawValue: 1)
        /// No place is being prepared.
        static let settled = Conditions(rawValue: 2)
        static let uncorked = Conditions(rawValue: 4)
        static let wanted = Conditions(rawValue: 8)
        static let unstalled = Conditions(rawValue: 16)
        /// The frames of the ring may be sent.
        static let unspliced = Conditions(rawValue: 32)
        /// The change of the flow is the one of the question.
        static let sameFlow = Conditions(rawValue: 64)
        /// The place that is prepared is the one of the question.
        static let sameChange = Conditions(rawValue: 128)
        /// No start is awaited.
        static let begun = Conditions(rawValue: 256)
    }

    /// The world as it was when a question was asked.
    struct Token {
        let lane: Lane
        let conditions: Conditions
        let flow: FlowChange?
        let change: PendingChange?
    }

    /// Asks a lane for its timing. The answer is dropped, here and nowhere else, if the conditions do not hold any more: then
    /// `stale` is called. `failed`: the server did not answer.
    func ask(
        _ lane: Lane, if conditions: Conditions, failed: (@PlayerLoop (OutputError) -> Void)? = nil,
        stale: (@PlayerLoop () -> Void)? = nil, _ answer: @escaping @PlayerLoop (StreamTiming) -> Void
    ) {
        let token = Token(lane: lane, conditions: conditions, flow: flow.change, change: pending)
        lane.readTiming { [weak self] result in
            guard let self else { return }
            guard holds(token) else { return stale?() ?? () }
            switch result {
            case .success(let timing): answer(timing)
            case .failure(let error): failed?(error)
            }
        }
    }

    private func holds(_ token: Token) -> Bool {
        let (lane, wanted) = (token.lane, token.conditions)
        if wanted.contains(.audible), lane !== audible { return false }
        if wanted.contains(.settled), pending != nil { return false }
        if wanted.contains(.uncorked), lane.isCorked { return false }
        if wanted.contains(.wanted), !wantsFlow { return false }
        if wanted.contains(.unstalled), stall != nil { return false }
        if wanted.contains(.unspliced), lane.awaitsSplice { return false }
        if wanted.contains(.begun), lane.isStarting { return false }
        if wanted.contains(.sameFlow), flow.change !== token.flow { return false }
        return !wanted.contains(.sameChange) || pending === token.change
    }

    /// A request to a stream failed. One that we closed ourselves answers so, too: that says nothing of the server.
    func requestFailed(_ error: OutputError, on lane: Lane) {
        if lane.hasStream, lane === audible || lane === pending?.lane { player.outputs.serverFailed(error) }
    }

    // MARK: Lanes

    /// A lane for an item that was opened, as quiet as everything is now.
    func makeLane(for item: OpenedItem) -> Lane {
        let lane = Lane(ring: item.ring, sentEnd: item.ringStart)
        let level = player.interruptions.duckLevel
        if level != 1 { lane.setDuck(.constant(level)) }
        return lane
    }

    /// Opens the lane's stream; nothing happens while there is no server, or if it has one.
    func openStream(of lane: Lane) {
        guard player.output.isConnected, !lane.hasStream else { return }
        lane.open(player.output.openStream(lane.format, isLive: lane.ring.isLive, delegate: self))
    }

    /// The server is back: lanes that wait for it get their streams.
    func openStreams() {
        if let lane = pending?.lane { openStream(of: lane) }
        if let ahead, player.transport.wish == .playing { openStream(of: ahead) }
    }

    /// This lane is the audible one from now on.
    func makeAudible(_ lane: Lane) {
        audible = lane
        decoding.thread?.setAudible(lane.ring)
    }

    /// This lane takes over at the next change of format.
    func wait(_ lane: Lane) { ahead = lane }

    /// The audible lane ended. True: the next one is not ready, and is waited for.
    func awaitHandOver(_ isAwaited: Bool) { awaitsHandOver = isAwaited }

    /// The waiting lane becomes the audible one; the caller retires the other.
    func takeOver(_ next: Lane) {
        ahead = nil
        makeAudible(next)
    }

    /// No lane waits any more.
    func dropAhead() {
        ahead?.close()
        ahead = nil
        // The lane that ended before it has been given up, too.
        awaitsHandOver = false
    }

    /// Nothing is audible any more; the caller closes or retires the lane.
    func takeAudible() -> Lane? {
        defer { audible = nil }
        return audible
    }

    /// A lane that lost its stream is not wanted any more.
    func dropDetached() { if audible?.isDetached == true { audible = nil } }

    /// Closes the audible lane.
    func closeAudible() {
        audible?.close()
        audible = nil
    }

    /// A lane gives way before its stream is awaited: it is closed when its last frames are played.
    func retire(_ lane: Lane) {
        lane.abandonStart()
        retiring.removeAll { $0 === lane }
        if lane.supply == .draining, lane.isReady { retiring.append(lane) } else { lane.close() }
        closeRetired()
    }

    /// The same while its start is awaited: that is reported first.
    func retireLater(_ lane: Lane) { retiring.append(lane) }

    /// Closes lanes that are played to their end.
    func closeRetired() {
        // The end of a start that is awaited is reported first.
        for lane in retiring where !lane.isStarting && lane.supply != .draining { lane.close() }
        retiring.removeAll { !$0.hasStream }
    }

    // MARK: Silence

    /// Sound is wanted but can't be audible: the position stands from here on, at `place` if that is known better than by the
    /// last anchor.
    func setStalled(_ reason: StallReason, at place: PlaybackAnchor? = nil, by: Originator? = nil) {
        guard stall != reason else { return }
        let anchor = place ?? stoppedAnchor(at: EventLoop.now)
        stall = reason
        if reason == .noOutput || reason == .suspended { player.outputs.noteNews() }
        boundaries.cancel()
        player.marks.cancel()
        let publisher = player.publisher
        if publisher.shown == nil || publisher.state.state == .stopped { publisher.showCurrent() }
        publisher.publish(.stall, anchor: pending.map { resting(media: $0.media) } ?? anchor, by: by)
    }

    /// Sound is audible, or not wanted: nothing stands in its way.
    func endStall() { stall = nil }

    /// The streams are dead. The rings stay until the place is asked for anew. The anchor of where sound stands; nil: nothing
    /// of it was kept.
    func loseStreams() -> PlaybackAnchor? {
        let place = resumption.detachAudible()
        boundaries.cancel()
        player.marks.cancel()
        starvation.cancel()
        awaitsHandOver = false
        if audible == nil { dropAhead() }
        for lane in retiring { lane.close() }
        retiring = []
        player.interruptions.forget()
        pending?.lane?.close()
        pending?.abandonSplice()
        return place
    }

    /// Sets the deadlines of everything that is going to be audible.
    func schedule() { boundaries.schedule() }

    /// Shows the item at the sound server.
    func setTitle(on lane: Lane) {
        guard let entry = player.publisher.shown else { return }
        lane.stream?.setTitle(entry.title, artist: entry.details?.metadata.artist)
    }

    /// Ends everything silently; for the end of the process.
    func shutDown() {
        boundaries.cancel()
        starvation.cancel()
        preparation.shutDown()
        flow.shutDown()
        decoding.shutDown()
        audible?.close()
        ahead?.close()
    }
}
