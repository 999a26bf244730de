package import AudioCore
package import LinuxSystem
package import NowPlaying

/// What stands beside an item in the queue and has not told its tags yet.
package struct Neighbour: Sendable {
    package let id: ItemID
    package let source: MediaSource

    /// A neighbour in the queue.
    package init(id: ItemID, source: MediaSource) {
        self.id = id
        self.source = source
    }
}

/// One item as the decode thread is to play it. `ticket` tells apart the times that the same item plays.
package struct DecodeItem: Sendable {
    package let ticket: Int
    package let id: ItemID
    package let source: MediaSource
    /// Seconds into the item where to begin.
    package let position: Double
    /// Rate that was asked for; nil: the item's own.
    package let chosenRate: Double?
    /// Whether it goes on where it was left once, if it is to begin at its beginning.
    package let mayResume: Bool
    /// How its content goes with its file.
    package let contentTime: ContentTime
    /// Whether a seek button is held down: pieces of the sound are heard, at a rate that may be negative.
    package let scans: Bool
    /// Rate that a client gave the item as its own; nil: what the player's rule says of it.
    package let givenRate: Double?
    /// Neighbours whose tags decide with its own how loud it shall be: read beside it, if its own leave a choice.
    package let neighbours: [Neighbour]
    /// Whether it is the rest of the item before, from where the format changes in it.
    package let isRest: Bool

    /// An item to decode from `position` seconds on.
    package init(
        ticket: Int, id: ItemID, source: MediaSource, position: Double = 0, chosenRate: Double? = nil,
        scans: Bool = false, mayResume: Bool = false, contentTime: ContentTime = ContentTime(),
        givenRate: Double? = nil, neighbours: [Neighbour] = [], isRest: Bool = false
    ) {
        self.isRest = isRest
        self.chosenRate = chosenRate
        self.scans = scans
        self.mayResume = mayResume
        self.contentTime = contentTime
        self.givenRate = givenRate
        self.neighbours = neighbours
        self.ticket = ticket
        self.id = id
        self.source = source
        self.position = position
    }
}

/// What the decode thread found when it opened an item.
package struct OpenedItem: Sendable {
    package let ticket: Int
    package let id: ItemID
    package let format: AudioFormat
    package let mediaFormat: MediaFormat
    /// Frames of the whole item as the source promises, or as was found out since; nil where nothing tells.
    package var length: Int64?
    package let metadata: MediaMetadata
    /// Whether it is a stream without beginning and end.
    package let isLive: Bool
    /// Whether any other place than the next can be gone to.
    package let isSeekable: Bool
    /// Frames of the item per frame of the ring.
    package let rate: Double
    /// The item's own rate: what `play` gives it.
    package let defaultRate: Double
    /// Why it has the rate 1 and not the one that was wanted; nil: it has that.
    package let rateFailure: String?
    /// Frame of the item that stands at `ringStart`.
    package let itemStart: Int64
    /// Whether that is where it was left once, and not where it was asked for.
    package let isResumed: Bool
    /// Seconds into the item where it changes its format: another item in the chain goes on with it there. Nil: nowhere.
    package var restStart: Double?
    /// Where in `ring` it begins.
    package let ringStart: Int64
    package let ring: SampleRing
}

/// What the decode thread tells the player; `run` is the run that it belongs to. In the order of happening.
package enum DecodeReport: Sendable {
    /// An item was opened; its frames follow in its ring.
    case opened(OpenedItem)
    /// The tags of neighbours of an item that was opened. It comes before `reached`, unless their medium is slow.
    case lookedAround(ticket: Int, [(id: ItemID, metadata: MediaMetadata)])
    /// The mark that the player set has been reached: so much is there.
    case reached(SampleRing, end: Int64)
    /// The length of an item, in frames, that was an estimate when it was opened.
    case measured(ticket: Int, length: Int64)
    /// An item was decoded to its end, which is at `ringEnd`; `length` frames of it there were from its beginning.
    case finished(ticket: Int, ring: SampleRing, ringEnd: Int64, length: Int64)
    /// An item can't be played, or not any further: then `finished` follows.
    case failed(ticket: Int, id: ItemID, DecodingError, heard: Bool)
    /// An item can't be opened now, as the medium it is on is away.
    case away(ticket: Int, DecodingError)
    /// From this frame of the ring on the item says this about itself.
    case described(ticket: Int, ring: SampleRing, from: Int64, MediaMetadata)
    /// A live stream broke off, or the medium of a file went away, or it could not be opened anew: `reopen` asks for it.
    case lost(ticket: Int, DecodingError)
    /// What was lost goes on; `isOther`: with audio of another format, so that it has to be begun anew.
    case regained(ticket: Int, isOther: Bool)
    /// Nothing follows as far as the player said.
    case drained
}

/// Opens a source on the decode thread. `abandoned` is set when nobody waits for it any more.
package typealias DecoderOpener =
    @Sendable (_ source: MediaSource, _ abandoned: AbandonFlag) throws(DecodingError) -> any AudioDecoder
