import AudioCore
import LinuxSystem
import NowPlaying

/// Plays: owns the lanes, and the parts that prepare, feed, stop and resume them. Only `Playout` calls `AudioStream`.
@PlayerLoop final class Playout {
    unowned let player: Player
    /// Audible lane, also while it is held.
    private(set) var audible: Lane?
    /// Lane that takes over at the next change of format.
    private(set) var ahead: Lane?
    /// True if the audible lane has ended and the other is not ready yet.
    private(set) var awaitsHandOver = false
    /// Lanes whose last frames are still in the output.
    private var retiring: [Lane] = []
    /// Reason for silence although sound is requested; nil: none.
    private(set) var stall: StallReason?
    /// Instant at which it began, in Unix time.
    private var stallBegan = 0.0
    /// Next attempt to reach the source, as last published.
    private var publishedTry: MonotonicTime?

    private(set) lazy var decoding = Decoding(self)
    private(set) lazy var preparation = Preparation(self)
    private(set) lazy var splicer = Splicer(self)
    private(set) lazy var flow = FlowControl(self)
    private(set) lazy var starter = FlowStarter(self)
    private(set) lazy var feeder = Feeder(self)
    private(set) lazy var drains = Drains(self)
    private(set) lazy var starvation = Starvation(self)
    private(set) lazy var boundaries = Boundaries(self)
    private(set) lazy var turn = NextTurn(self)
    private(set) lazy var resumption = Resumption(self)
    private(set) lazy var watch = ClockWatch(self)
    private(set) lazy var requests = RequestWatch(self)
    private(set) lazy var gains = GainRewriter(self)
    private(set) lazy var crossfade = Crossfade(self)

    /// Plays nothing yet.
    init(_ player: Player) { self.player = player }

    // MARK: Facts

    /// Target being prepared; nil: none.
    var pending: PendingChange? { preparation.pending }

    /// True if sound shall flow: play is requested, and at most the server prevents it.
    var wantsFlow: Bool { player.wantsFlow }

    /// Audible lane, if it flows and no change is pending.
    var settledLane: Lane? {
        guard let lane = audible, pending == nil, !lane.isCorked, stall == nil, wantsFlow else { return nil }
        return lane
    }

    /// Lane that plays to its end under the audible one; nil: none.
    var leaving: Lane? { audible?.overlap.leaving }

    /// Lane of this ring: the audible one, the waiting one or a pending change's; nil: none.
    func lane(of ring: SampleRing) -> Lane? {
        if audible?.ring === ring { return audible }
        if ahead?.ring === ring { return ahead }
        return pending?.lane?.ring === ring ? pending?.lane : nil
    }

    // MARK: Timing requests

    /// Conditions under which the answer to a timing request is valid.
    struct Conditions: OptionSet {
        /// One bit per condition.
        let rawValue: Int
        /// The lane is the audible one.
        static let audible = Conditions(rawValue: 1)
        /// No target is being prepared.
        static let settled = Conditions(rawValue: 2)
        static let uncorked = Conditions(rawValue: 4)
        static let wanted = Conditions(rawValue: 8)
        static let unstalled = Conditions(rawValue: 16)
        /// The frames of the ring may be sent.
        static let unspliced = Conditions(rawValue: 32)
        /// The change of the flow is that of the request.
        static let sameFlow = Conditions(rawValue: 64)
        /// The target being prepared is that of the request.
        static let sameChange = Conditions(rawValue: 128)
        /// No start is awaited.
        static let begun = Conditions(rawValue: 256)
        /// The lane is the audible one, or plays to its end under that.
        static let heard = Conditions(rawValue: 512)
    }

    /// State at the time of a request.
    struct Token {
        let lane: Lane
        let conditions: Conditions
        let flow: FlowChange?
        let change: PendingChange?
    }

    /// Requests the timing of a lane. Drops the answer, as the only code that does, if the conditions no longer hold: then it
    /// calls `stale`. `failed`: the server did not answer.
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
        if wanted.contains(.heard), lane !== audible, lane !== leaving { return false }
        if wanted.contains(.settled), pending != nil { return false }
        if wanted.contains(.uncorked), lane.isCorked { return false }
        if wanted.contains(.wanted), !wantsFlow { return false }
        if wanted.contains(.unstalled), stall != nil { return false }
        if wanted.contains(.unspliced), lane.awaitsSplice { return false }
        if wanted.contains(.begun), lane.isStarting { return false }
        if wanted.contains(.sameFlow), flow.change !== token.flow { return false }
        return !wanted.contains(.sameChange) || pending === token.change
    }

    /// Handles a failed request to a stream. A stream that the player closed fails, too; that says nothing about the server.
    func requestFailed(_ error: OutputError, on lane: Lane) {
        if lane.hasStream, lane === audible || lane === pending?.lane { player.outputs.serverFailed(error) }
    }

    // MARK: Lanes

    /// Lane for an opened item, with the present fades.
    func makeLane(for item: OpenedItem) -> Lane {
        let lane = Lane(ring: item.ring, sentEnd: item.ringStart)
        lane.expect(player.knownSkew)
        let level = player.interruptions.duckLevel
        if level != 1 { lane.gains.setDuck(.constant(level)) }
        return lane
    }

    /// Opens the lane's stream, unless it has one or there is no server.
    func openStream(of lane: Lane) {
        guard player.output.isConnected, !lane.hasStream else { return }
        lane.open(player.output.openStream(lane.format, isLive: lane.ring.isLive, delegate: self))
    }

    /// Opens the streams of lanes that wait for the server.
    func openStreams() {
        if let lane = pending?.lane { openStream(of: lane) }
        if let ahead, player.transport.wish == .playing { openStream(of: ahead) }
    }

    /// Makes this lane the audible one.
    func makeAudible(_ lane: Lane) {
        audible = lane
        decoding.thread?.setAudible(lane.ring)
    }

    /// Makes this lane the one that takes over at the next change of format.
    func wait(_ lane: Lane) { ahead = lane }

    /// Notes that the audible lane ended. True: the next one is not ready yet.
    func awaitHandOver(_ isAwaited: Bool) { awaitsHandOver = isAwaited }

    /// Makes the waiting lane the audible one; the caller retires the other.
    func takeOver(_ next: Lane) {
        ahead = nil
        makeAudible(next)
    }

    /// Completes all that the output has begun, even if it is not reported yet: an output that can't take frames back
    /// plays them in spite of any later request.
    func completeBegun() {
        turn.complete()
        guard let lane = audible, lane.begunTiming != nil else { return }
        lane.isStarting ? lane.checkStart() : splicer.complete(on: lane)
    }

    /// Drops the waiting lane.
    func dropAhead() {
        turn.settle()
        crossfade.withdraw()
        ahead?.close()
        ahead = nil
        // The lane that ended before it is closed, too.
        awaitsHandOver = false
    }

    /// Returns and clears the audible lane; the caller closes or retires it.
    func takeAudible() -> Lane? {
        defer { audible = nil }
        return audible
    }

    /// Drops a lane that lost its stream.
    func dropDetached() { if audible?.isDetached == true { audible = nil } }

    /// Closes the audible lane.
    func closeAudible() {
        audible?.close()
        audible = nil
    }

    /// Retires a lane before its stream is ready: it is closed when its last frames have played.
    func retire(_ lane: Lane) {
        lane.abandonStart()
        retiring.removeAll { $0 === lane }
        if lane.supply == .draining, lane.isReady { retiring.append(lane) } else { lane.close() }
        closeRetired()
    }

    /// Retires a lane while its start is awaited, which is reported first.
    func retireLater(_ lane: Lane) { retiring.append(lane) }

    /// Closes lanes whose last frames have played.
    func closeRetired() {
        // The result of an awaited start is reported first.
        for lane in retiring where !lane.isStarting && lane.supply != .draining { lane.close() }
        retiring.removeAll { !$0.hasStream }
        audible?.overlap.endIfPlayed()
    }

    // MARK: Silence

    /// Notes that requested sound cannot be audible: the position rests from here on, at `standing` if that is more exact
    /// than the last anchor.
    func setStalled(_ reason: StallReason, at standing: PlaybackAnchor? = nil, by: Originator? = nil) {
        let nextTry = player.network.nextTry
        guard stall != reason || nextTry != publishedTry && nextTry != nil else { return }
        let anchor = standing ?? stoppedAnchor(at: EventLoop.now)
        if stall == nil { stallBegan = WallClock.time(of: EventLoop.now) }
        stall = reason
        publishedTry = nextTry
        player.network.follow(reason)
        if reason == .noOutput || reason == .suspended { player.outputs.noteNews() }
        boundaries.cancel()
        player.marks.cancel()
        let publisher = player.publisher
        if publisher.shown == nil || publisher.state.state == .stopped { publisher.showCurrent() }
        publisher.publish(.stall, anchor: pending.map { resting(media: $0.media) } ?? anchor, by: by)
        player.fades.pauseNow()
    }

    /// Ends a stall: sound is audible, or not requested.
    func endStall() {
        stall = nil
        publishedTry = nil
        player.network.follow(nil)
    }

    /// Times of the present silence; nil: there is none.
    var stallTimes: StallTimes? {
        guard stall != nil else { return nil }
        return StallTimes(since: stallBegan, nextTry: publishedTry.map { WallClock.time(of: $0) })
    }

    /// Handles the loss of all streams. The rings stay until a new target is requested. Returns the anchor of the rest
    /// position; nil: no frames were kept.
    func loseStreams() -> PlaybackAnchor? {
        let standing = resumption.detachAudible()
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
        return standing
    }

    /// Sets the deadlines of all future boundaries, marks and descriptions.
    func schedule() {
        boundaries.schedule()
        watch.look()
        requests.look()
    }

    /// Sets the item's title at the sound server.
    func setTitle(on lane: Lane) {
        guard let entry = player.publisher.shown else { return }
        lane.stream?.setTitle(entry.title, artist: entry.details?.metadata.artist)
    }

    /// Ends everything silently; for the end of the process.
    func shutDown() {
        boundaries.cancel()
        watch.cancel()
        starvation.cancel()
        preparation.shutDown()
        flow.shutDown()
        crossfade.cancel()
        decoding.shutDown()
        audible?.close()
        ahead?.close()
    }
}
