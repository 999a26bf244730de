import AudioCore
import NowPlaying

/// One play of an item that the decode thread works on or has worked on.
struct ChainLink: Ticketed {
    /// Number of this play.
    let ticket: Int
    let id: ItemID
    /// The item as it was opened; nil until then.
    fileprivate(set) var opened: OpenedItem?
    /// Ring frame after its last one; nil until it is decoded.
    fileprivate(set) var ringEnd: Int64?
    /// Gain of its samples, as it was decided when it was opened; nil: they stay as they are.
    fileprivate(set) var gain: ItemGain?
    /// Loudness tags of the item from later frames of the ring on, where links of an Ogg file differ, until they are audible.
    fileprivate(set) var laterLoudness: [(from: Int64, tags: LoudnessTags?)] = []
    /// True for the rest of the item before, after a change of format in the middle.
    let isRest: Bool

    /// A play that was not opened yet.
    init(ticket: Int, id: ItemID, isRest: Bool = false) {
        self.ticket = ticket
        self.id = id
        self.isRest = isRest
    }
}

/// The plays that were given to the decode thread, in order, the audible one first. A value; its tickets ascend.
struct Chain: RandomAccessCollection {
    private(set) var links: [ChainLink] = []
    /// The ticket that was given last.
    private(set) var lastTicket = 0

    /// The index of the audible play.
    var startIndex: Int { links.startIndex }
    /// The index after the last play.
    var endIndex: Int { links.endIndex }
    /// The play at this index.
    subscript(index: Int) -> ChainLink { links[index] }

    /// The link with this ticket; nil: there is none.
    func link(of ticket: Int) -> ChainLink? { index(of: ticket).map { links[$0] } }

    /// Gives a new ticket.
    mutating func nextTicket() -> Int {
        lastTicket += 1
        return lastTicket
    }

    /// Drops everything and begins anew with a link.
    mutating func begin(with link: ChainLink) { links = [link] }

    /// Drops everything.
    mutating func clear() { links = [] }

    /// Adds a play at the end.
    mutating func append(_ link: ChainLink) { links.append(link) }

    /// Drops a link and all after it.
    mutating func drop(from index: Int) { links.removeSubrange(index...) }

    /// Drops the links before the one with this ticket, if there is one.
    mutating func drop(before ticket: Int) { links.removeSubrange(..<(index(of: ticket) ?? 0)) }

    /// Drops one link.
    mutating func remove(at index: Int) { links.remove(at: index) }

    /// A link was opened.
    mutating func open(_ index: Int, _ item: OpenedItem) { links[index].opened = item }

    /// A link was decoded to its end.
    mutating func end(_ index: Int, at ringEnd: Int64) { links[index].ringEnd = ringEnd }

    /// The length of a link's item, in frames, is known better than when it was opened.
    mutating func measure(_ index: Int, _ length: Int64) { links[index].opened?.length = length }

    /// The item of a link ends with it: its rest can't be had.
    mutating func forgetRest(_ index: Int) { links[index].opened?.restStart = nil }

    /// Sets the gain of a link.
    mutating func setGain(_ index: Int, _ gain: ItemGain?) { links[index].gain = gain }

    /// Sets the gains of all links that are open.
    mutating func setGains(_ gain: (ChainLink) -> ItemGain?) {
        for index in links.indices where links[index].opened != nil { links[index].gain = gain(links[index]) }
    }

    /// From a frame of the ring on, a link has other loudness tags.
    mutating func addLoudness(_ index: Int, from: Int64, _ tags: LoudnessTags?) {
        links[index].laterLoudness.append((from, tags))
    }

    /// The tags from this frame of the ring on are audible: `gain` is the link's.
    mutating func takeLoudness(_ index: Int, upTo from: Int64, _ gain: ItemGain?) {
        links[index].laterLoudness.removeAll { $0.from <= from }
        links[index].gain = gain
    }
}
