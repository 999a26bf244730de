package import AudioCore
package import LinuxSystem
package import NowPlaying

/// An item before or after another one in the queue. Its tags are not known yet.
package struct Neighbour: Sendable {
    package let id: ItemID
    package let source: MediaSource

    /// A neighbour in the queue.
    package init(id: ItemID, source: MediaSource) {
        self.id = id
        self.source = source
    }
}

/// Order for the decode thread to play an item. `ticket` distinguishes plays of the same item.
package struct DecodeItem: Sendable {
    package let ticket: Int
    package let id: ItemID
    package let source: MediaSource
    /// Start position in the item in seconds.
    package let position: Double
    /// The ordered rate; nil: the item's own.
    package let chosenRate: Double?
    /// True if it may resume at its saved position; only if `position` is its beginning.
    package let mayResume: Bool
    /// The relation of its content to its file: only the file includes advertisements.
    package let contentTime: ContentTime
    /// True while a seek button is held down: pieces of the sound play, at a rate that may be negative.
    package let scans: Bool
    /// Rate that a client gave the item as its own; nil: the rate by the player's rules.
    package let givenRate: Double?
    /// Neighbours whose tags also determine its gain. The decode thread reads them if the item's own tags leave a
    /// choice.
    package let neighbours: [Neighbour]
    /// True if it is the rest of the previous item, from a change of its format on.
    package let isRest: Bool
    /// Rule for an overlap with the previous item; nil: it begins after that item.
    package let overlap: OverlapRule?
    /// Seconds that an overlap needs in its ring besides the usual ones.
    package let spareSeconds: Double

    /// An item to decode from `position` seconds on.
    package init(
        ticket: Int, id: ItemID, source: MediaSource, position: Double = 0, chosenRate: Double? = nil,
        scans: Bool = false, mayResume: Bool = false, contentTime: ContentTime = ContentTime(),
        givenRate: Double? = nil, neighbours: [Neighbour] = [], isRest: Bool = false, overlap: OverlapRule? = nil,
        spareSeconds: Double = 0
    ) {
        self.isRest = isRest
        self.overlap = overlap
        self.spareSeconds = spareSeconds
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

/// Facts about an item that the decode thread opened.
package struct OpenedItem: Sendable {
    package let ticket: Int
    package let id: ItemID
    package let format: AudioFormat
    package let mediaFormat: MediaFormat
    /// Frames of the whole item, as its source reports or as measured later; nil: unknown.
    package var length: Int64?
    package let metadata: MediaMetadata
    /// True for a stream without beginning and end.
    package let isLive: Bool
    /// True if it can seek.
    package let isSeekable: Bool
    /// Frames of the item per frame of the ring.
    package let rate: Double
    /// The item's own rate, which `play` sets.
    package let defaultRate: Double
    /// Reason why its rate is 1 and not the ordered one; nil: it has the ordered rate.
    package let rateFailure: String?
    /// Frame of the item at `ringStart`.
    package let itemStart: Int64
    /// True if `itemStart` is its saved position, and not the ordered one.
    package let isResumed: Bool
    /// Seconds into the item at which its format changes and another item of the chain continues it; nil: there is no
    /// change.
    package var restStart: Double?
    /// The frame of `ring` where it begins.
    package let ringStart: Int64
    package let ring: SampleRing
    /// Seconds of overlap with the previous item, which is in another ring; 0: none.
    package let overlap: Double
    /// Its measured loudness, besides that of its tags.
    package let measured: MeasuredLoudness
}

/// Reports of the decode thread to the player, in the order of events.
package enum DecodeReport: Sendable {
    /// An item was opened; its frames follow in its ring.
    case opened(OpenedItem)
    /// The tags of an opened item's neighbours. The report precedes `reached`, unless their medium is slow.
    case lookedAround(ticket: Int, [(id: ItemID, metadata: MediaMetadata)])
    /// The decoded frames have reached the player's mark; they end at `end`.
    case reached(SampleRing, end: Int64)
    /// The length of an item in frames, which was an estimate at its opening.
    case measured(ticket: Int, length: Int64)
    /// An item was decoded to its end, which is at `ringEnd`; it has `length` frames.
    case finished(ticket: Int, ring: SampleRing, ringEnd: Int64, length: Int64)
    /// An item cannot be played (further). If a part was decoded, `finished` follows.
    case failed(ticket: Int, id: ItemID, DecodingError, wasAudible: Bool)
    /// An item cannot be opened now, as its medium is missing.
    case away(ticket: Int, DecodingError)
    /// The item has these tags from this frame of the ring on.
    case described(ticket: Int, ring: SampleRing, from: Int64, MediaMetadata)
    /// A live stream broke, a file's medium disappeared, or the source cannot be opened again; `reopen` retries.
    case lost(ticket: Int, DecodingError)
    /// A lost source has returned; `changesFormat`: its playback must restart.
    case regained(ticket: Int, changesFormat: Bool)
    /// All ordered items are decoded.
    case drained
}

/// Opens a source on the decode thread. `abandoned` is set when the result is dropped.
package typealias DecoderOpener =
    @Sendable (_ source: MediaSource, _ abandoned: AbandonFlag) throws(DecodingError) -> any AudioDecoder
