import AudioCore
import NowPlaying

/// One play of an item in the decode thread's past or present work.
struct ChainLink: Ticketed {
    /// Number of the play.
    let ticket: Int
    let id: ItemID
    /// Opened item; nil until it is open.
    fileprivate(set) var opened: OpenedItem?
    /// Ring frame after its last one; nil until it is decoded.
    fileprivate(set) var ringEnd: Int64?
    /// Gain of its samples, set at its opening; nil: unchanged.
    fileprivate(set) var gain: ItemGain?
    /// Loudness tags from later frames of the ring on, where links of an Ogg file differ, until they are audible.
    fileprivate(set) var laterLoudness: [(from: Int64, tags: LoudnessTags?)] = []
    /// True for the rest of the item before it, after a change of format in its middle.
    let isRest: Bool
    /// Crossfade with which it was ordered; nil: none.
    let crossfade: Crossfade.Mode?

    /// A play that is not open yet.
    init(ticket: Int, id: ItemID, isRest: Bool = false, crossfade: Crossfade.Mode? = nil) {
        self.crossfade = crossfade
        self.ticket = ticket
        self.id = id
        self.isRest = isRest
    }
}

/// Plays of the decode thread in order, the audible one first. A value; its tickets ascend.
struct Chain: RandomAccessCollection {
    private(set) var links: [ChainLink] = []
    /// Items of the links, in their order.
    private(set) var ids: [ItemID] = []
    /// Last ticket.
    private(set) var lastTicket = 0

    /// Index of the audible play.
    var startIndex: Int { links.startIndex }
    /// Index after the last play.
    var endIndex: Int { links.endIndex }
    /// Play at this index.
    subscript(index: Int) -> ChainLink { links[index] }

    /// Link with this ticket; nil: none.
    func link(of ticket: Int) -> ChainLink? { index(of: ticket).map { links[$0] } }

    /// Returns a new ticket.
    mutating func nextTicket() -> Int {
        lastTicket += 1
        return lastTicket
    }

    /// Replaces all links by one.
    mutating func begin(with link: ChainLink) {
        clear()
        append(link)
    }

    /// Drops all links.
    mutating func clear() {
        links = []
        ids = []
    }

    /// Appends a link.
    mutating func append(_ link: ChainLink) {
        links.append(link)
        ids.append(link.id)
    }

    /// Drops a link and all after it.
    mutating func drop(from index: Int) {
        links.removeSubrange(index...)
        ids.removeSubrange(index...)
    }

    /// Drops the links before the one with this ticket, if it exists.
    mutating func drop(before ticket: Int) {
        guard let index = index(of: ticket) else { return }
        links.removeFirst(index)
        ids.removeFirst(index)
    }

    /// Drops one link.
    mutating func remove(at index: Int) {
        links.remove(at: index)
        ids.remove(at: index)
    }

    /// Sets the opened item of a link.
    mutating func open(_ index: Int, _ item: OpenedItem) { links[index].opened = item }

    /// Sets the end of a link that is decoded.
    mutating func end(_ index: Int, at ringEnd: Int64) { links[index].ringEnd = ringEnd }

    /// Corrects the length of a link's item in frames.
    mutating func measure(_ index: Int, _ length: Int64) { links[index].opened?.length = length }

    /// Ends the item of a link with the link, as its rest is unavailable.
    mutating func forgetRest(_ index: Int) { links[index].opened?.restStart = nil }

    /// Sets the gain of a link.
    mutating func setGain(_ index: Int, _ gain: ItemGain?) { links[index].gain = gain }

    /// Sets the gains of all open links.
    mutating func setGains(_ gain: (ChainLink) -> ItemGain?) {
        for index in links.indices where links[index].opened != nil { links[index].gain = gain(links[index]) }
    }

    /// Adds a link's loudness tags from a frame of the ring on.
    mutating func addLoudness(_ index: Int, from: Int64, _ tags: LoudnessTags?) {
        links[index].laterLoudness.append((from, tags))
    }

    /// Drops loudness tags up to this frame of the ring, which is audible, and sets the gain of the link.
    mutating func takeLoudness(_ index: Int, upTo from: Int64, _ gain: ItemGain?) {
        links[index].laterLoudness.removeAll { $0.from <= from }
        links[index].gain = gain
    }
}
