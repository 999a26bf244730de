import AudioCore
import LinuxSystem
package import NowPlaying

/// Loudness: which gain each item has, and a change of it while it plays.
extension Player {
    /// Seconds in which a changed gain goes over to the new one: too short to be heard as a fade, too long for a click.
    private static let changeSeconds = 0.025

    /// Sets the mode and the preamp (dB); nil: as it is. What is queued at the server is rewritten from the ring: the change is
    /// heard as soon as a seek would be.
    package func setLoudness(_ mode: LoudnessMode?, preamp: Double?, by: Originator) {
        let new = LoudnessSettings(mode: mode ?? loudness.mode, preamp: preamp ?? loudness.preamp)
        guard new != loudness else { return }
        loudness = new
        for place in chain.indices where chain[place].opened != nil { chain[place].gain = gain(of: chain[place]) }
        for lane in [audible, ahead] { if let lane { changeGain(of: lane) } }
        publish(.mode, by: by)
    }

    /// The gain that an item of the chain has by the present settings, from its beginning in the ring on.
    func gain(of link: ChainLink) -> ItemGain? { gain(of: link.id, by: loudnessTags(of: link)) }

    private func loudnessTags(of link: ChainLink) -> LoudnessTags? {
        // The rest of an item tells its own when it is heard.
        let isAhead = link.isRest && link.ticket != shownTicket
        return isAhead ? link.opened?.metadata.loudness : transport.queue[link.id]?.details?.metadata.loudness
    }

    /// The gain by these tags.
    private func gain(of id: ItemID, by tags: LoudnessTags?) -> ItemGain? {
        guard loudness.mode != .off, let tags else { return nil }
        return loudness.gain(of: tags, inAlbum: loudness.mode == .auto && playsInAlbumOrder(id))
    }

    /// What is played before and after an item, in the order of playing.
    private func neighbours(of id: ItemID) -> (before: QueueEntry?, after: QueueEntry?) {
        let (queue, order) = (transport.queue, transport.order)
        return (
            order.predecessor(of: id, in: queue).flatMap { queue[$0] },
            order.successor(of: id, in: queue).flatMap { queue[$0] }
        )
    }

    /// Whether what is played before or after an item is its neighbour on the album.
    private func playsInAlbumOrder(_ id: ItemID) -> Bool {
        guard let item = transport.queue[id]?.details?.metadata else { return false }
        let (before, after) = neighbours(of: id)
        if let before = before?.details?.metadata, followsOnAlbum(item, after: before) { return true }
        return after?.details.map { followsOnAlbum($0.metadata, after: item) } ?? false
    }

    /// What stands around an item and has not told its tags yet: to be looked at while the item begins.
    func unknownNeighbours(of id: ItemID) -> [Neighbour] {
        guard loudness.mode == .auto else { return [] }
        let (before, after) = neighbours(of: id)
        return [before, after].compactMap { entry in
            guard let entry, isUnknown(entry) else { return nil }
            return Neighbour(id: entry.id, source: entry.source)
        }
    }

    private func isUnknown(_ entry: QueueEntry) -> Bool {
        entry.details?.metadata.albumTitle == nil && entry.details?.format == nil
    }

    /// Neighbours of an item have told their tags: keeps them, and gives the item the gain that it has by them.
    func lookedAround(_ ticket: Int, _ neighbours: [(id: ItemID, metadata: MediaMetadata)]) {
        for neighbour in neighbours {
            // It may have been opened meanwhile, which tells more.
            guard let entry = transport.queue[neighbour.id], isUnknown(entry) else { continue }
            let known = entry.details
            let found = neighbour.metadata.filled(from: known?.found ?? MediaMetadata())
            transport.setDetails(
                ItemDetails(
                    given: known?.given ?? MediaMetadata(), found: found, duration: known?.mediaDuration,
                    isRepeatable: known.map { $0 === ItemDetails.unknown || $0.isRepeatable } ?? true),
                of: neighbour.id)
            remember(neighbour.id)
        }
        guard let place = chain.index(of: ticket), let opened = chain[place].opened else { return }
        let (old, new) = (chain[place].gain, gain(of: chain[place]))
        chain[place].gain = new
        if let lane = lane(of: opened.ring), old?.factor != new?.factor {
            // The item has its gain from its first frame on, unless that is sent.
            lane.sentEnd <= opened.ringStart ? setGains(of: lane) : changeGain(of: lane)
        }
        if old != new, pending == nil, ticket == shownTicket { return publish(.metadata) }
        for neighbour in neighbours { tellUpcoming(neighbour.id) }
    }

    /// The gains of what stands in a lane's ring, as the chain has it.
    func gains(in lane: Lane) -> [(start: Int64, factor: Double)] {
        chain.flatMap { link -> [(start: Int64, factor: Double)] in
            guard let opened = link.opened, opened.ring === lane.ring else { return [] }
            return [(opened.ringStart, link.gain?.factor ?? 1)]
                + link.laterLoudness.map { ($0.from, gain(of: link.id, by: $0.tags)?.factor ?? 1) }
        }
    }

    /// From a frame of the ring on, which is not sent yet, an item says this about its loudness.
    func loudnessChanges(of place: Int, in ring: SampleRing, from: Int64, _ tags: LoudnessTags?) {
        let link = chain[place]
        let before = link.laterLoudness.last.map(\.tags) ?? loudnessTags(of: link)
        guard link.opened?.ring === ring, before != tags else { return }
        chain[place].laterLoudness.append((from, tags))
        if let lane = lane(of: ring) { setGains(of: lane) }
    }

    /// What an item said is heard by now.
    func loudnessIsHeard(of place: Int, from: Int64, _ tags: LoudnessTags?) {
        guard chain[place].laterLoudness.contains(where: { $0.from == from }) else { return }
        chain[place].laterLoudness.removeAll { $0.from <= from }
        chain[place].gain = gain(of: chain[place].id, by: tags)
    }

    /// Gives a lane the gain of a link behind all others; nothing of it is sent yet.
    func addGain(of link: ChainLink, on lane: Lane) {
        // Now and then all are set anew, without those that were heard: seldom enough that each link costs the same.
        guard let opened = link.opened, link.ticket == chain.last?.ticket, link.laterLoudness.isEmpty,
            let last = lane.gain.items.last, last.start < opened.ringStart, lane.gain.items.count < 2 * chain.count + 8
        else { return setGains(of: lane) }
        lane.gain.add((opened.ringStart, link.gain?.factor ?? 1))
    }

    /// Gives a lane the gains of its items; nothing of them is sent yet.
    func setGains(of lane: Lane) { lane.gain.setItems(gains(in: lane)) }

    /// Gives a lane new gains and rewrites what it has sent and nobody has heard.
    private func changeGain(of lane: Lane) {
        let new = gains(in: lane)
        guard !new.elementsEqual(lane.gain.items, by: ==) else { return }
        rewriteGain(of: lane) { [unowned self] frame, offset, length in
            let old = lane.gain.factor(at: frame, offset: offset)
            setGains(of: lane)
            lane.gain.ramp(from: old, at: frame + offset, length: length)
        }
    }

    /// Changes a lane's gain and sends again, from the ring, what was sent and is not heard yet. `change` is given the ring
    /// frame from which on it will be heard, the lane's offset, and the frames that a ramp may take.
    func rewriteGain(
        of lane: Lane, _ change: @escaping @PlayerLoop (_ frame: Int64, _ offset: Int64, _ length: Int64) -> Void
    ) {
        let length = lane.format.frames(seconds: Player.changeSeconds)
        guard let stream = lane.stream, lane.isReady, let offset = lane.offset, !lane.awaitsSplice,
            lane.sentEnd > lane.ring.begin, lane === audible
        else {
            // Nothing of it can be heard yet, or all that was sent will be thrown away.
            let start = lane.sentEnd
            change(start, lane.offset ?? 0, length)
            if lane === ahead, let offset = lane.offset {
                resend(lane, from: lane.ring.begin, at: lane.ring.begin + offset)
            }
            return
        }
        lane.readTiming { [weak self] result in
            guard let self else { return }
            guard lane === audible, lane.stream === stream, !lane.awaitsSplice, lane.offset == offset,
                case .success(let timing) = result
            else { return change(lane.sentEnd, lane.offset ?? 0, length) }
            lane.note(timing, isPrompt: false)
            let margin = max(Player.spliceMargin, 2 * timing.roundTrip + 0.0014)
            let place =
                lane.isCorked ? max(timing.takenFrame, 0) : firstRewritable(lane, timing, margin: margin)
            let frame = max(place - offset, lane.ring.begin)
            guard frame < lane.sentEnd else { return change(lane.sentEnd, offset, length) }
            change(frame, offset, length)
            let isTaken = !lane.isCorked && !lane.canRewriteFlowing && place < timing.takenFrame
            if isTaken { stream.setCorked(true) { _ in } }
            resend(lane, from: frame, at: frame + offset)
            if isTaken {
                lane.clock.restart()
                lane.heardFrom = Int64(clamping: timing.audibleFrame)
                lane.flowingSince = EventLoop.now
                stream.setCorked(false) { [weak self, weak lane] _ in if let lane { self?.topUp(lane) } }
            }
        }
    }

    /// Sends again what stands in the ring from `frame` on: at once what the device needs not to run dry, the rest, which
    /// takes its time to compute, in a later turn of the loop.
    private func resend(_ lane: Lane, from frame: Int64, at streamFrame: Int64) {
        let end = lane.sentEnd
        guard frame < end else { return }
        let seconds = lane.canRewriteFlowing ? Player.shortPrefill : Player.longPrefill
        lane.sentEnd = frame
        lane.send(upTo: min(end, frame + lane.format.frames(seconds: seconds)), at: streamFrame)
        if lane.sentEnd < end { loop.later { [weak self, weak lane] in if let lane { self?.topUp(lane) } } }
    }

    /// What is shown of it.
    func loudnessStatus() -> LoudnessStatus {
        var status = LoudnessStatus(mode: loudness.mode, preamp: loudness.preamp)
        if let gain = chain.first(where: { $0.ticket == shownTicket })?.gain {
            status.gain = gain.decibels
            status.basis = gain.basis
        }
        return status
    }
}
