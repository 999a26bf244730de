import AudioCore
import LinuxSystem
import NowPlaying

/// Advertisements and chapters of the shown item; each is published when it is audible. There is one deadline, for the next
/// mark; an item without marks has none.
@PlayerLoop final class ItemMarks {
    private unowned let player: Player
    private var publisher: Publisher { player.publisher }
    private var playout: Playout { player.playout }
    /// Ticket of the play of the marks.
    private var ticket = 0
    private var marks: [ItemMark] = []
    /// Index of the first unpublished mark.
    private var next = 0
    /// Item and play to which `played` belongs.
    private var countedPlay: (item: ItemID, play: Int)?
    /// Indices of that item's advertisement ranges that played to their ends.
    private var played: Set<Int> = []
    /// Range whose beginning was published last; nil: its end was.
    private var publishedAd: Int?
    private var deadline: EventSource?

    /// Tolerance for the early publication of a mark in seconds.
    private static let tolerance = 0.001

    /// True if a seek across an advertisement that has not played goes to its beginning.
    private var landsOnAdvertisements = true

    /// No marks.
    init(_ player: Player) { self.player = player }

    /// Sets the target of a seek across an advertisement that has not played: its beginning if true.
    func setLanding(onAdvertisements lands: Bool) { landsOnAdvertisements = lands }

    /// Start in seconds of the file for a position of an item. `from`: position in the file before a seek forward, so that
    /// the seek does not skip an advertisement that has not played.
    func mediaPosition(of id: ItemID, at position: Double, beginsItem: Bool, over from: Double?) -> Double {
        let time = player.contentTime(of: id)
        guard !time.ranges.isEmpty else { return position }
        if beginsItem, position == 0 { return 0 }
        let target = time.media(ofContent: position)
        guard let from, landsOnAdvertisements, publisher.shown?.id == id else { return target }
        let played = playedRanges(of: id)
        let first = time.ranges.indices.first { index in
            !played.contains(index) && time.ranges[index].start >= from && time.ranges[index].end <= target
        }
        return first.map { time.ranges[$0].start } ?? target
    }

    private func playedRanges(of id: ItemID) -> Set<Int> {
        guard let countedPlay, countedPlay.item == id, countedPlay.play == publisher.playCount(of: id) else {
            return []
        }
        return played
    }

    /// Position of the next mark in seconds of the file; nil: none.
    var nextMedia: Double? { next < marks.count ? marks[next].media : nil }

    /// Takes the marks of the item that is published with this anchor.
    func take(_ item: NowPlayingItem?, _ anchor: PlaybackAnchor) {
        guard let item else { return forget() }
        let isNewPlay = countedPlay.map { $0.item != item.id || $0.play != item.play } ?? true
        if isNewPlay {
            countedPlay = (item.id, item.play)
            played = []
            publishedAd = nil
        }
        let new = ItemMark.marks(of: player.contentTime(of: item.id), item.metadata.chapters ?? [])
        guard isNewPlay || ticket != publisher.shownTicket || marks != new else { return }
        ticket = publisher.shownTicket
        marks = new
        let media = anchor.mediaPosition(at: EventLoop.now) + Self.tolerance
        next = new.firstIndex { $0.media > media } ?? new.count
    }

    private func forget() {
        ticket = 0
        marks = []
        next = 0
        countedPlay = nil
        played = []
        publishedAd = nil
    }

    // MARK: The deadline

    /// Sets the deadline for the next mark by the present clock.
    func schedule() {
        guard let lane = playout.settledLane, let frame = nextFrame(on: lane),
            let time = playout.heardTime(of: frame, on: lane) ?? lane.timeOfPassed(frame)
        else { return cancel() }
        let due = lane.isPaced ? time : max(time, EventLoop.now.advanced(bySeconds: Boundaries.unpacedPause))
        if let deadline {
            deadline.setDeadline(due)
        } else {
            deadline = player.loop.deadline(due) { [unowned self] in atMark() }
        }
    }

    /// Cancels the deadline.
    func cancel() { deadline = nil }

    /// Stream frame of the next mark; nil: it is not mapped.
    private func nextFrame(on lane: Lane) -> Double? {
        guard next < marks.count, ticket == publisher.shownTicket, player.scanner.isForward != false else {
            return nil
        }
        let frame = lane.format.frames(seconds: marks[next].media)
        return lane.timeline.streamFrame(ofItemFrame: frame, ticket: publisher.shownTicket)
    }

    private func atMark() {
        deadline = nil
        guard let lane = playout.audible else { return }
        playout.ask(lane, if: [.audible, .settled, .uncorked]) { [unowned self] timing in
            guard deadline == nil else { return }
            lane.note(timing, isPrompt: false)
            // When a stalled lane continues, this is called again.
            guard timing.isPlaying || lane.isDraining else { return }
            if !publishMarks(on: lane, playout.heardReading(lane, timing)) { schedule() }
        }
    }

    /// Publishes all marks that are audible by this reading. False: none is.
    private func publishMarks(on lane: Lane, _ timing: StreamTiming) -> Bool {
        let audible = playout.heardFrame(lane, timing) + Self.tolerance * Double(lane.format.sampleRate)
        var hasPublished = false
        while let frame = nextFrame(on: lane), frame <= audible {
            let mark = marks[next]
            next += 1
            hasPublished = true
            publish(mark, playout.flowingAnchor(lane, timing, at: frame, media: mark.media))
        }
        if hasPublished { schedule() }
        return hasPublished
    }

    private func publish(_ mark: ItemMark, _ anchor: PlaybackAnchor) {
        switch mark.kind {
        case .adBegan(let index):
            // It was published with the end of the previous advertisement.
            guard publishedAd != index else { return }
            publishedAd = index
            publisher.publish(.adBegan, anchor: anchor)
        case .adEnded(let index):
            played.insert(index)
            publishedAd = nil
            publisher.publish(.adEnded, anchor: anchor)
        case .chapter: publisher.publish(.chapter, anchor: anchor)
        }
    }

    /// Notes that a state with another cause began or ended an advertisement.
    func publishAdvertisement() {
        let state = publisher.state
        guard state.state == .playing, state.item != nil, state.anchor.ad?.index != publishedAd else { return }
        publishedAd = state.anchor.ad?.index
        publisher.publish(publishedAd == nil ? .adEnded : .adBegan)
    }
}
