import AudioCore
import LinuxSystem
import NowPlaying

/// Advertisements and chapters of the item that listeners see: each is published when it is audible. One deadline, for the
/// next of them; an item without any has none.
@PlayerLoop final class ItemMarks {
    private unowned let player: Player
    private var publisher: Publisher { player.publisher }
    private var playout: Playout { player.playout }
    /// The play that the marks belong to.
    private var ticket = 0
    private var marks: [ItemMark] = []
    /// Index of the first mark that was not published yet.
    private var next = 0
    /// The item whose heard ranges are kept, and how many times it had begun.
    private var heardPlay: (item: ItemID, play: Int)?
    /// Indexes of the ranges of that item that were heard to their ends.
    private var heard: Set<Int> = []
    /// The range whose beginning was published last; nil when its end was.
    private var publishedAd: Int?
    private var deadline: EventSource?

    /// Seconds by which a mark may be published too soon.
    private static let tolerance = 0.001

    /// True if a seek over an advertisement that was not audible goes to its beginning.
    private var landsOnAdvertisements = true

    /// No marks.
    init(_ player: Player) { self.player = player }

    /// Sets the effect of a seek over an advertisement that was not audible: true: it goes to its beginning.
    func setLanding(onAdvertisements lands: Bool) { landsOnAdvertisements = lands }

    /// Seconds into the file where a position of an item begins. `from`: the place in the file that is left by going forward,
    /// so that a range that was not heard is not passed.
    func mediaPosition(of id: ItemID, at position: Double, beginsItem: Bool, over from: Double?) -> Double {
        let time = player.contentTime(of: id)
        guard !time.ranges.isEmpty else { return position }
        if beginsItem, position == 0 { return 0 }
        let target = time.media(ofContent: position)
        guard let from, landsOnAdvertisements, publisher.shown?.id == id else { return target }
        let heard = heardRanges(of: id)
        let first = time.ranges.indices.first { index in
            !heard.contains(index) && time.ranges[index].start >= from && time.ranges[index].end <= target
        }
        return first.map { time.ranges[$0].start } ?? target
    }

    private func heardRanges(of id: ItemID) -> Set<Int> {
        guard let heardPlay, heardPlay.item == id, heardPlay.play == publisher.playCount(of: id) else { return [] }
        return heard
    }

    /// Seconds into the file of the next mark; nil: there is none.
    var nextMedia: Double? { next < marks.count ? marks[next].media : nil }

    /// Takes the marks of the item that is published with this anchor.
    func take(_ item: NowPlayingItem?, _ anchor: PlaybackAnchor) {
        guard let item else { return forget() }
        let isNewPlay = heardPlay.map { $0.item != item.id || $0.play != item.play } ?? true
        if isNewPlay {
            heardPlay = (item.id, item.play)
            heard = []
            publishedAd = nil
        }
        let new = ItemMark.marks(of: player.contentTime(of: item.id), item.metadata.chapters ?? [])
        guard isNewPlay || ticket != publisher.shownTicket || marks != new else { return }
        ticket = publisher.shownTicket
        marks = new
        let place = anchor.mediaPosition(at: EventLoop.now) + Self.tolerance
        next = new.firstIndex { $0.media > place } ?? new.count
    }

    private func forget() {
        ticket = 0
        marks = []
        next = 0
        heardPlay = nil
        heard = []
        publishedAd = nil
    }

    // MARK: The deadline

    /// Sets the deadline for the next mark, from what the clock knows by now.
    func schedule() {
        guard let lane = playout.settledLane, let frame = nextFrame(on: lane),
            let time = lane.clock.time(of: frame) ?? lane.timeOfPassed(frame)
        else { return cancel() }
        let due = lane.isPaced ? time : max(time, EventLoop.now.advanced(bySeconds: Boundaries.unpacedPause))
        if let deadline {
            deadline.setDeadline(due)
        } else {
            deadline = player.loop.deadline(due) { [unowned self] in atMark() }
        }
    }

    /// Waits for no mark.
    func cancel() { deadline = nil }

    /// The stream frame of the next mark, as far as it is mapped.
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
            // If it stands, what sets it going again comes back here.
            guard timing.isPlaying || lane.isDraining else { return }
            if !publishMarks(on: lane, timing) { schedule() }
        }
    }

    /// Publishes each mark that is audible by this reading. False: none is.
    private func publishMarks(on lane: Lane, _ timing: StreamTiming) -> Bool {
        let audible = lane.audibleFrame(timing) + Self.tolerance * Double(lane.format.sampleRate)
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
            // It was published with the end of the one before.
            guard publishedAd != index else { return }
            publishedAd = index
            publisher.publish(.adBegan, anchor: anchor)
        case .adEnded(let index):
            heard.insert(index)
            publishedAd = nil
            publisher.publish(.adEnded, anchor: anchor)
        case .chapter: publisher.publish(.chapter, anchor: anchor)
        }
    }

    /// A state that was published for another reason began or ended an advertisement, too.
    func publishAdvertisement() {
        let state = publisher.state
        guard state.state == .playing, state.item != nil, state.anchor.ad?.index != publishedAd else { return }
        publishedAd = state.anchor.ad?.index
        publisher.publish(publishedAd == nil ? .adEnded : .adBegan)
    }
}
