import AudioCore
import LinuxSystem
import NowPlaying

/// Places inside of an item that listeners are told of when they are heard: advertisements and chapters. One deadline, for
/// the next of them; an item without any has none.
extension Player {
    /// The marks of the item that listeners see.
    struct Marks {
        /// The time of its playing that they belong to.
        var ticket = 0
        var marks: [ItemMark] = []
        /// The first that was not told yet.
        var next = 0
        /// The item, and how many times it had begun, of which ranges were heard to their ends.
        var heardOf: (item: ItemID, play: Int)?
        /// Numbers of those ranges among the item's.
        var heard: Set<Int> = []
        /// The range whose beginning was told last; nil when its end was.
        var toldAd: Int?
    }

    /// The advertisement where we stand, by its number.
    package var advertisement: Int? { transport.wish == .stopped ? nil : state.anchor.ad?.index }

    /// How the content of an item goes with its file.
    func contentTime(of id: ItemID?) -> ContentTime {
        id.flatMap { transport.queue[$0]?.details?.contentTime } ?? ContentTime()
    }

    /// The time in the file where a place of an item is begun. `over`: from this time in the file it was gone forward, so
    /// that a range that was not heard is not passed over.
    func mediaPosition(of id: ItemID, at position: Double, beginsItem: Bool, over from: Double?) -> Double {
        let time = contentTime(of: id)
        guard !time.ranges.isEmpty else { return position }
        if beginsItem, position == 0 { return 0 }
        let target = time.media(ofContent: position)
        guard let from, landsOnAdvertisements, shown?.id == id else { return target }
        let heard = heardRanges(of: id)
        let first = time.ranges.indices.first { index in
            !heard.contains(index) && time.ranges[index].start >= from && time.ranges[index].end <= target
        }
        return first.map { time.ranges[$0].start } ?? target
    }

    private func heardRanges(of id: ItemID) -> Set<Int> {
        guard let of = marks.heardOf, of.item == id, of.play == playCounts[id] ?? 0 else { return [] }
        return marks.heard
    }

    // MARK: The deadline

    /// The marks of what is shown from now on, as of this anchor.
    func takeMarks(_ item: NowPlayingItem?, _ anchor: PlaybackAnchor) {
        guard let item else {
            if !marks.marks.isEmpty || marks.heardOf != nil { marks = Marks() }
            return
        }
        let isOther = marks.heardOf.map { $0.item != item.id || $0.play != item.play } ?? true
        if isOther {
            marks.heardOf = (item.id, item.play)
            marks.heard = []
            marks.toldAd = nil
        }
        let new = ItemMark.marks(of: contentTime(of: item.id), item.metadata.chapters ?? [])
        guard isOther || marks.ticket != shownTicket || marks.marks != new else { return }
        marks.ticket = shownTicket
        marks.marks = new
        let place = anchor.mediaPosition(at: EventLoop.now) + Player.markTolerance
        marks.next = new.firstIndex { $0.media > place } ?? new.count
    }

    /// Seconds by which a mark may be told too soon.
    private static let markTolerance = 0.001

    /// Sets the deadline for the next mark, from what the clock knows by now.
    func scheduleMark() {
        guard let lane = audible, pending == nil, !lane.isCorked, stall == nil, wantsFlow,
            let frame = nextMarkFrame(on: lane), let time = lane.clock.time(of: frame) ?? timeOfPassed(frame, on: lane)
        else {
            markDeadline = nil
            return
        }
        let due =
            lane.stream?.isPaced == false ? max(time, EventLoop.now.advanced(bySeconds: Player.unpacedPause)) : time
        if let markDeadline {
            markDeadline.setDeadline(due)
        } else {
            markDeadline = loop.deadline(due) { [unowned self] in atMark() }
        }
    }

    /// The stream frame of the next mark, as far as it is mapped.
    private func nextMarkFrame(on lane: Lane) -> Double? {
        guard marks.next < marks.marks.count, marks.ticket == shownTicket, scan?.isForward != false else { return nil }
        let frame = lane.format.frames(seconds: marks.marks[marks.next].media)
        return lane.timeline.streamFrame(ofItemFrame: frame, ticket: shownTicket)
    }

    private func atMark() {
        markDeadline = nil
        guard let lane = audible else { return }
        lane.readTiming { [weak self] result in
            guard let self else { return }
            guard lane === audible, pending == nil, !lane.isCorked, markDeadline == nil else { return }
            guard case .success(let timing) = result else { return }
            lane.note(timing, isPrompt: false)
            // If it stands, what sets it going again comes back here.
            guard timing.isPlaying || lane.isDraining else { return }
            if !tellMarks(on: lane, timing) { scheduleMark() }
        }
    }

    /// Tells of each mark that is heard by this reading. False: of none.
    private func tellMarks(on lane: Lane, _ timing: StreamTiming) -> Bool {
        let heard = lane.audibleFrame(timing) + Player.markTolerance * Double(lane.format.sampleRate)
        var hasTold = false
        while let frame = nextMarkFrame(on: lane), frame <= heard {
            let mark = marks.marks[marks.next]
            marks.next += 1
            hasTold = true
            tell(mark, flowingAnchor(lane, timing, at: frame, media: mark.media))
        }
        if hasTold { scheduleMark() }
        return hasTold
    }

    private func tell(_ mark: ItemMark, _ anchor: PlaybackAnchor) {
        switch mark.kind {
        case .adBegan(let index):
            // It was told with the end of the one before.
            guard marks.toldAd != index else { return }
            marks.toldAd = index
            publish(.adBegan, anchor: anchor)
        case .adEnded(let index):
            marks.heard.insert(index)
            marks.toldAd = nil
            publish(.adEnded, anchor: anchor)
        case .chapter: publish(.chapter, anchor: anchor)
        }
    }

    /// What was told for another reason has begun or ended an advertisement, too.
    func tellAdvertisement() {
        guard state.state == .playing, state.item != nil, state.anchor.ad?.index != marks.toldAd else { return }
        marks.toldAd = state.anchor.ad?.index
        publish(marks.toldAd == nil ? .adEnded : .adBegan)
    }

    /// The anchor as it is with what is known of the item by now.
    func mappedAnchor() -> PlaybackAnchor {
        let now = EventLoop.now
        let told = state.anchor
        guard told.mediaRate > 0, now > told.monotonic else {
            return anchor(
                media: told.media, rate: told.mediaRate, of: shown?.id, at: told.monotonic, skew: told.skew)
        }
        return anchor(
            media: told.mediaPosition(at: now), rate: told.mediaRate, of: shown?.id, at: now, skew: told.skew)
    }
}
