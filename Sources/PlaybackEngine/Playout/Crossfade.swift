import AudioCore
import LinuxSystem
import NowPlaying

/// Lets items overlap: plans the overlap of the waiting lane with the end of the audible one, and sets both fades.
///
/// Two items overlap on two lanes, so their formats do not matter. The decode thread puts an item that overlaps
/// (`OverlapRule`) into a ring of its own, and the present hand-over between lanes, which otherwise happens at a change of
/// format, happens earlier by the overlap. The waiting lane has the fade of its beginning from its first frame on
/// (`GainPlan.entry`). The audible lane gets the fade of its end (`GainPlan.exit`) once the waiting one can begin, usually
/// before those frames are sent. At the hand-over the old lane becomes the `LaneOverlap.leaving` lane of the new one, which
/// holds, resumes and closes it; it gets frames like the audible lane, and a drain. A jump, a seek and a stop end it.
///
/// Without a crossfade no rule goes to the decode thread, and no lane has an overlap.
@PlayerLoop final class Crossfade {
    /// Settings on which the order of rings depends: another mode needs other rings.
    struct Mode: Equatable {
        /// Wanted overlap in seconds.
        let seconds: Double
        /// True if items of an album that plays in order do not overlap.
        let sparesAlbums: Bool
    }

    private unowned let playout: Playout
    private var player: Player { playout.player }
    /// Settings by a client.
    private(set) var settings = CrossfadeSettings()
    /// True while frames of the audible lane are sent again with the fade.
    private var isFading = false
    /// One-shot for the end of the lane that plays to its end.
    private var deadline: EventSource?

    /// Seconds of decoded sound that an overlap needs in addition: a whole refill.
    private static let spareSeconds = 3.5
    /// Longest time in seconds for which an output takes frames at once.
    private static let commitment = 0.25
    /// Difference in seconds of the two fades that is not heard.
    private static let exactness = 0.001

    /// Without an overlap.
    init(_ playout: Playout) { self.playout = playout }

    // MARK: Settings

    /// Restores the settings of an earlier run.
    func restore(_ settings: CrossfadeSettings) { self.settings = settings }

    /// Sets the overlap. Items that are decoded ahead are planned again; an overlap that is heard continues.
    func set(_ new: CrossfadeSettings, by: Originator) {
        guard new != settings else { return }
        settings = new
        playout.decoding.replan()
        player.publisher.publish(.mode, by: by)
    }

    /// Present mode; nil: items follow each other without an overlap.
    var mode: Mode? {
        guard settings.seconds >= OverlapRule.shortest, player.output.mixesStreams else { return nil }
        return Mode(seconds: settings.seconds, sparesAlbums: player.transport.order.modes.shuffleMode != .items)
    }

    /// Seconds that rings hold in addition to the usual ones.
    var spareSeconds: Double { mode.map { $0.seconds + Self.spareSeconds } ?? 0 }

    /// True if the current item may overlap its follower.
    private var isAllowed: Bool {
        !player.sleeper.endsWithItem && !player.scanner.isActive && !player.transport.order.modes.pausesAfterItem
    }

    /// Rule for an item that follows a play; nil: it begins after that.
    func rule(for entry: QueueEntry, after link: ChainLink) -> OverlapRule? {
        guard let mode, isAllowed, let opened = link.opened, !opened.isLive else { return nil }
        return rule(mode, for: entry, after: link.id, secondsBefore: playedSeconds(of: opened))
    }

    private func rule(_ mode: Mode, for entry: QueueEntry, after id: ItemID, secondsBefore: Double?) -> OverlapRule {
        OverlapRule(
            seconds: mode.seconds, secondsBefore: secondsBefore,
            before: mode.sparesAlbums ? player.queue[id]?.details?.metadata ?? MediaMetadata() : nil,
            given: entry.details?.given ?? MediaMetadata())
    }

    /// Seconds that all of an item plays; nil: unknown.
    private func playedSeconds(of item: OpenedItem) -> Double? {
        let media = player.queue[item.id]?.details?.mediaDuration ?? item.length.map { item.format.seconds(frames: $0) }
        return media.map { $0 / max(abs(item.rate), 0.01) }
    }

    /// Seconds by which the follower of an item becomes audible before the end of that item, by the known durations.
    func overlap(of next: QueueEntry, after id: ItemID) -> Double {
        guard let mode, isAllowed else { return 0 }
        if let lane = playout.audible, let ahead = playout.ahead, ahead.timeline.segments.first?.item == next.id {
            guard let exit = lane.gain.exit else { return ahead.overlap.seconds }
            return lane.format.seconds(frames: exit.length)
        }
        guard let opened = playout.decoding.chain.first(where: { $0.id == id })?.opened, !opened.isLive,
            let details = next.details, playout.ahead == nil,
            playout.decoding.chain.last?.id != next.id
                || playout.decoding.chain.last?.opened == nil
        else { return 0 }
        return rule(mode, for: next, after: id, secondsBefore: playedSeconds(of: opened))
            .overlap(of: details.metadata, seconds: details.mediaDuration ?? details.duration)
    }

    // MARK: Plan

    /// Plans the overlap of a new lane with the item before; 0: none.
    func plan(_ seconds: Double, on lane: Lane, after before: OpenedItem) {
        guard seconds > 0 else { return }
        enter(
            lane, over: OverlapRule.overlap(seconds, between: playedSeconds(of: before) ?? .infinity, and: .infinity))
    }

    private func enter(_ lane: Lane, over seconds: Double) {
        lane.overlap.plan(seconds: seconds)
        let length = max(1, lane.format.frames(seconds: seconds))
        lane.gains.setEntry(
            seconds > 0 ? GainPlan.Ramp(start: 0, length: length, from: 0, to: 1, shape: .equalPower) : nil)
    }

    private func leave(_ lane: Lane, from start: Int64, to end: Int64) {
        lane.gains.setExit(GainPlan.Ramp(start: start, length: end - start, from: 1, to: 0, shape: .equalPower))
    }

    /// Sets the fade of the audible lane's end, once the waiting lane can begin.
    private func prepare() {
        guard let next = playout.ahead, next.overlap.seconds > 0, next.canBegin, !isFading,
            let lane = playout.settledLane, lane.isFlowing, lane.gain.exit == nil, let end = lane.streamEnd, isAllowed,
            !player.sleeper.ends(before: lane.clock.time(of: Double(end)))
        else { return }
        let start = end - lane.format.frames(seconds: next.overlap.seconds)
        guard start < lane.sentStreamEnd else {
            leave(lane, from: start, to: end)
            return player.publisher.publishUpcoming(at: next)
        }
        isFading = true
        playout.gains.rewrite(lane) { [unowned self] frame, offset, _ in
            isFading = false
            guard playout.ahead === next, playout.audible === lane, lane.streamEnd == end else { return }
            fade(lane, from: max(start, frame + offset), to: end, under: next)
        }
    }

    /// Sets the fades of an overlap that is late or in frames that are sent.
    private func fade(_ lane: Lane, from start: Int64, to end: Int64, under next: Lane) {
        let seconds = lane.format.seconds(frames: end - start)
        let overlap = seconds < OverlapRule.shortest ? 0 : seconds
        if overlap > 0 { leave(lane, from: start, to: end) }
        if overlap < next.overlap.seconds - Self.exactness {
            playout.gains.rewrite(next) { [unowned self] _, _, _ in enter(next, over: overlap) }
        }
        player.publisher.publishUpcoming(at: next)
    }

    /// Removes the fade of the audible lane's end, as another item or none follows.
    func withdraw() {
        guard let lane = playout.audible, let exit = lane.gain.exit else { return }
        guard lane.sentStreamEnd > exit.start, playout.pending == nil, playout.wantsFlow else {
            return lane.gains.setExit(nil)
        }
        playout.gains.rewrite(lane) { _, _, _ in lane.gains.setExit(nil) }
    }

    /// Compares a planned overlap with the sleep timer and the modes.
    func review() {
        guard let lane = playout.audible, let end = lane.streamEnd, lane.gain.exit != nil else { return }
        if !isAllowed || player.sleeper.ends(before: lane.clock.time(of: Double(end))) { withdraw() }
    }

    // MARK: Overlap

    /// Stream frame of the audible lane at which the waiting lane begins; nil: it begins after the end.
    func start(on lane: Lane) -> Int64? {
        guard let next = playout.ahead, next.overlap.seconds > 0, next.canBegin, let exit = lane.gain.exit,
            lane === playout.audible, lane.isFlowing, !lane.isDrained
        else { return nil }
        return exit.start
    }

    /// Seconds from the start of a stream to its first audible frame. `least`: on a device that can rewind.
    func lead(on lane: Lane, _ least: Double) -> Double {
        guard let stream = lane.stream, !stream.canRewind else { return least }
        // An output that commits frames begins the stream exactly, if the request comes before it committed the frames
        // there.
        return stream.committedFrame == nil ? max(least, lane.latency) : lane.latency + Self.commitment
    }

    /// Prepares the next overlap, and sets the one-shot for the end of the present one.
    func schedule() {
        prepare()
        guard let lane = playout.settledLane, let old = lane.overlap.leaving, old.isFlowing, !old.isDraining else {
            return cancel()
        }
        guard let end = lane.clock.time(of: Double(lane.gain.entry?.end ?? 0)) else { return }
        let due = end.advanced(bySeconds: -Drains.lead)
        guard due > EventLoop.now else {
            // The refill that sends the last frames schedules again.
            cancel()
            return drain()
        }
        if let deadline {
            deadline.setDeadline(due)
        } else {
            deadline = player.loop.deadline(due) { [unowned self] in endIsNear() }
        }
    }

    /// Cancels the one-shot.
    func cancel() { deadline = nil }

    private func endIsNear() {
        deadline = nil
        if let old = playout.leaving { playout.feeder.topUp(old) }
        drain()
    }

    private func drain() {
        guard let old = playout.leaving, let end = old.streamEnd else { return }
        playout.drains.drainIfEnding(old, audible: Double(end))
    }

    // MARK: Streams of a lane that plays to its end

    /// Loses the stream of the leaving lane with that of the audible one. `frame`: next frame of its stream.
    func detach(_ lane: Lane, then detach: () -> Void) {
        let leaving = lane.overlap.takeLeaving()
        detach()
        guard let leaving, let offset = leaving.offset, let end = leaving.streamEnd else { return }
        let audible = (leaving.isFlowing ? leaving.clock.frame(at: EventLoop.now) : nil) ?? leaving.heldFrame
        // A further failure finds it detached already, at its next frame.
        let next = leaving.isDetached ? leaving.sentStreamEnd : Int64(clamping: audible.rounded())
        let frame = max(min(next, leaving.sentStreamEnd), leaving.ring.begin + offset)
        guard frame < end else { return leaving.close() }
        leaving.detach(at: frame)
        lane.overlap.begin(with: leaving)
    }

    /// Fills the new stream of the leaving lane; it flows with the audible lane.
    func attach(_ lane: Lane) {
        guard let stream = lane.stream else { return }
        lane.attach(at: 0)
        player.fades.begin(lane)
        lane.send(upTo: min(lane.ring.end, lane.sentEnd + stream.targetFrames))
        if playout.audible?.isCorked == false { lane.flowAlong() }
        schedule()
    }
}
