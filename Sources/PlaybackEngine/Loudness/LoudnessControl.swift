import AudioCore
import LinuxSystem
import NowPlaying

/// Determines the gain of each item and changes it during play.
@PlayerLoop final class LoudnessControl {
    private unowned let player: Player
    /// Settings by a client or the configuration.
    private(set) var settings: LoudnessSettings

    /// Starts with the settings of the configuration.
    init(_ player: Player) {
        self.player = player
        settings = player.parts.loudness
    }

    /// Restores the settings of an earlier run.
    func restore(_ settings: LoudnessSettings) { self.settings = settings }

    /// Sets the mode and the preamp (dB); nil: unchanged. Rewrites the server's queue from the ring: the change is audible as
    /// soon as a seek would be.
    func set(_ mode: LoudnessMode?, preamp: Double?, by: Originator) {
        let new = LoudnessSettings(mode: mode ?? settings.mode, preamp: preamp ?? settings.preamp)
        guard new != settings else { return }
        settings = new
        player.playout.decoding.setGains { gain(of: $0) }
        for lane in [player.playout.audible, player.playout.ahead] { if let lane { changeGain(of: lane) } }
        player.publisher.publish(.mode, by: by)
    }

    /// Gain of an item of the chain from its beginning in the ring on; nil: unchanged samples.
    func gain(of link: ChainLink) -> ItemGain? { gain(of: link, by: tags(of: link)) }

    private func tags(of link: ChainLink) -> LoudnessTags? {
        // The rest of an item publishes its own tags when it is audible.
        let isAhead = link.isRest && link.ticket != player.publisher.shownTicket
        return isAhead ? link.opened?.metadata.loudness : player.queue[link.id]?.details?.metadata.loudness
    }

    private func gain(of link: ChainLink, by tags: LoudnessTags?) -> ItemGain? {
        let measured = link.opened?.measured ?? MeasuredLoudness()
        guard settings.mode != .off, let loudness = measured.chosen(beside: tags) else { return nil }
        return settings.gain(of: loudness, inAlbum: settings.mode == .auto && playsInAlbumOrder(link.id))
    }

    // MARK: Albums

    private func neighbours(of id: ItemID) -> (before: QueueEntry?, after: QueueEntry?) {
        let (queue, order) = (player.queue, player.transport.order)
        return (
            order.predecessor(of: id, in: queue).flatMap { queue[$0] },
            order.successor(of: id, in: queue).flatMap { queue[$0] }
        )
    }

    /// True if the item before or after this one is its neighbour on the album.
    private func playsInAlbumOrder(_ id: ItemID) -> Bool {
        guard let item = player.queue[id]?.details?.metadata else { return false }
        let (before, after) = neighbours(of: id)
        if let before = before?.details?.metadata, followsOnAlbum(item, after: before) { return true }
        return after?.details.map { followsOnAlbum($0.metadata, after: item) } ?? false
    }

    /// Neighbours of an item with unknown tags, which the decode thread reads while the item begins.
    func unknownNeighbours(of id: ItemID) -> [Neighbour] {
        guard settings.mode == .auto else { return [] }
        let (before, after) = neighbours(of: id)
        return [before, after].compactMap { entry in
            guard let entry, isUnknown(entry) else { return nil }
            return Neighbour(id: entry.id, source: entry.source)
        }
    }

    private func isUnknown(_ entry: QueueEntry) -> Bool {
        entry.details?.metadata.albumTitle == nil && entry.details?.format == nil
    }

    /// Stores the tags of an item's neighbours and applies the resulting gain to the item.
    func takeNeighbours(of ticket: Int, _ neighbours: [(id: ItemID, metadata: MediaMetadata)]) {
        for neighbour in neighbours {
            // An item that was opened meanwhile has more facts.
            guard let entry = player.queue[neighbour.id], isUnknown(entry) else { continue }
            player.knowledge.learn(neighbour.metadata, of: entry)
        }
        let playout = player.playout
        guard let link = playout.decoding.link(of: ticket), let opened = link.opened else { return }
        let (old, new) = (link.gain, gain(of: link))
        playout.decoding.setGain(of: ticket, new)
        if let lane = playout.lane(of: opened.ring), old?.factor != new?.factor {
            // The item has its gain from its first frame on, unless that was sent.
            lane.sentEnd <= opened.ringStart ? setGains(of: lane) : changeGain(of: lane)
        }
        if old != new, playout.pending == nil, ticket == player.publisher.shownTicket {
            return player.publisher.publish(.metadata)
        }
        for neighbour in neighbours { player.publisher.publishUpcoming(neighbour.id) }
    }

    // MARK: Gains of a lane

    /// Gains of the items in a lane's ring: the ring frame where each begins, and its factor.
    func gains(in lane: Lane) -> [(start: Int64, factor: Double)] {
        player.playout.decoding.chain.links.flatMap { link -> [(start: Int64, factor: Double)] in
            guard let opened = link.opened, opened.ring === lane.ring else { return [] }
            return [(opened.ringStart, link.gain?.factor ?? 1)]
                + link.laterLoudness.map { ($0.from, gain(of: link, by: $0.tags)?.factor ?? 1) }
        }
    }

    /// Sets an item's tags from an unsent frame of the ring on.
    func changes(_ ticket: Int, in ring: SampleRing, from: Int64, _ tags: LoudnessTags?) {
        guard let link = player.playout.decoding.link(of: ticket) else { return }
        let before = link.laterLoudness.last.map(\.tags) ?? self.tags(of: link)
        guard link.opened?.ring === ring, before != tags else { return }
        player.playout.decoding.addLoudness(ticket, from: from, tags)
        if let lane = player.playout.lane(of: ring) { setGains(of: lane) }
    }

    /// Notes that an item's tags from this frame of the ring on are audible.
    func changeIsAudible(_ ticket: Int, from: Int64, _ tags: LoudnessTags?) {
        guard let link = player.playout.decoding.link(of: ticket),
            link.laterLoudness.contains(where: { $0.from == from })
        else {
            return
        }
        player.playout.decoding.takeLoudness(ticket, upTo: from, gain(of: link, by: tags))
    }

    /// Adds the gain of the last link to a lane before any of its frames is sent.
    func addGain(of link: ChainLink, on lane: Lane) {
        // Now and then all gains are set again without those of played items: rarely enough that each link costs the same.
        guard let opened = link.opened, link.ticket == player.playout.decoding.chain.last?.ticket,
            link.laterLoudness.isEmpty,
            let last = lane.gain.items.last, last.start < opened.ringStart,
            lane.gain.items.count < 2 * player.playout.decoding.chain.count + 8
        else { return setGains(of: lane) }
        lane.gains.add(opened.ringStart, link.gain?.factor ?? 1)
    }

    /// Sets the gains of a lane's items before any of their frames is sent.
    func setGains(of lane: Lane) { lane.gains.setItems(gains(in: lane)) }

    /// Sets new gains of a lane and rewrites the frames that were sent and are not audible yet.
    private func changeGain(of lane: Lane) {
        let new = gains(in: lane)
        guard !new.elementsEqual(lane.gain.items, by: ==) else { return }
        player.playout.gains.rewrite(lane) { [unowned self] frame, offset, length in
            let old = lane.gain.factor(at: frame, offset: offset)
            setGains(of: lane)
            lane.gains.ramp(from: old, at: frame + offset, length: length)
        }
    }

    /// Published settings, and gain of the shown item.
    var status: LoudnessStatus {
        var status = LoudnessStatus(mode: settings.mode, preamp: settings.preamp)
        if let gain = player.playout.decoding.link(of: player.publisher.shownTicket)?.gain {
            status.gain = gain.decibels
            status.basis = gain.basis
        }
        return status
    }
}
