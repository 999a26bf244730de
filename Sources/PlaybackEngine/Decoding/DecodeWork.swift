import AudioCore
import LinuxSystem
import NowPlaying

/// An open item of the decode thread.
struct DecodeWork {
    /// Progress of its decoding.
    enum Progress {
        /// Its decoder has frames.
        case decoding
        /// Its decoder is at its end; its rate changer has more.
        case changing
        /// It has no more frames; `isNothing`: it never had one.
        case finished(isNothing: Bool)
        /// It is a live stream that broke, or a file whose medium is missing.
        case lost
    }

    let item: DecodeItem
    private(set) var decoder: any AudioDecoder
    let ring: SampleRing
    /// Frame of the item to decode next.
    private(set) var itemFrame: Int64
    /// Changes the rate; nil: the decoded frames go directly into the ring.
    let changer: (any RateChanger)?
    private(set) var progress = Progress.decoding
    /// True while the length of the item is an estimate, which is measured when there is no other work.
    private(set) var isToBeMeasured: Bool
    /// Frames to decode and drop: a source that cannot seek is decoded up to the position.
    private(set) var skipped: Int64 = 0
    /// The same decoder, if it may be late.
    private(set) var late: (any LateDecoder)?
    /// True while a late decoder has no frames yet.
    private(set) var isDry = false
    /// The frame of the ring with the first frame of a live stream, and the time of its arrival; nil after enough
    /// frames arrived.
    private var beginning: (end: Int64, time: MonotonicTime?)?

    /// The opened decoder, even if another one plays it backward.
    var source: any AudioDecoder { (decoder as? BackwardDecoder)?.base ?? decoder }

    var isLive: Bool { late?.isLive == true }
    var isLost: Bool { if case .lost = progress { true } else { false } }
    var isFinished: Bool { if case .finished = progress { true } else { false } }
    /// True if the item had no frame at all.
    var isNothing: Bool { if case .finished(true) = progress { true } else { false } }
    /// True if frames of it are in the ring.
    private(set) var isHeard = false
    /// Reason of the loss; nil: it was never lost.
    private(set) var loss: DecodingError?

    /// Work on an item that is open at `itemFrame`.
    init(
        _ item: DecodeItem, _ decoder: any AudioDecoder, in ring: SampleRing, itemFrame: Int64,
        changer: (any RateChanger)?, isToBeMeasured: Bool
    ) {
        self.item = item
        self.decoder = decoder
        self.ring = ring
        self.itemFrame = itemFrame
        self.changer = changer
        self.isToBeMeasured = isToBeMeasured
        late = decoder as? any LateDecoder
    }

    /// Sets the number of frames to decode and drop first.
    mutating func skip(_ frames: Int64) { skipped = frames }

    /// Counts decoded frames of those to drop.
    mutating func skipped(_ frames: Int64) { skipped -= frames }

    /// Notes that frames of it are in the ring.
    mutating func deliver() { isHeard = true }

    /// Counts decoded frames of the item.
    mutating func decoded(_ frames: Int64) { itemFrame += frames }

    /// Notes that the decoder is at its end; the rate changer delivers the rest.
    mutating func decoderEnded() { progress = .changing }

    /// True once the decoder is at its end.
    var decoderHasEnded: Bool { if case .decoding = progress { false } else { true } }

    /// Notes that a late decoder has no frames now.
    mutating func runDry() { isDry = true }

    /// Notes that a late decoder has frames again.
    mutating func becomeReadable() { isDry = false }

    /// Notes that the length is measured, or cannot be.
    mutating func measured() { isToBeMeasured = false }

    /// Notes that the item is decoded to its end, or to where it breaks off. Returns its length in frames.
    mutating func finish(breaksOff: Bool) -> Int64 {
        // At a change of format another item continues this one; backward, the end is the beginning.
        let isWhole = decoder.nextFormatChange == nil && !(decoder is BackwardDecoder) && !breaksOff
        let length = isWhole ? itemFrame : decoder.boundedLength ?? itemFrame
        progress = .finished(isNothing: length == 0 || breaksOff && !isHeard)
        return length
    }

    // MARK: Sources that are lost and return

    /// Notes that the stream broke, or the medium disappeared. A file is closed.
    mutating func lose(_ error: DecodingError) {
        progress = .lost
        loss = error
        if late == nil { decoder = ClosedDecoder(decoder) }
    }

    /// Continues a live stream with this decoder.
    mutating func regain(_ stream: any LateDecoder) {
        progress = .decoding
        isDry = false
        decoder = stream
        late = stream
    }

    /// Continues a file with this decoder, which is at `itemFrame`, or at the beginning if the source cannot seek.
    mutating func regain(_ file: any AudioDecoder) {
        progress = .decoding
        decoder = file
        if !file.isSeekable { skipped = itemFrame }
    }

    // MARK: The beginning of a live stream

    /// Longest wait in seconds after the first frames of a live stream before its sound begins: it arrives at its own
    /// pace, unless its server sends some in advance.
    private static let beginningSeconds = 0.5
    /// Seconds that must have arrived in any case.
    private static let leastBeginning = 0.3
    /// Seconds of a live stream that suffice at once: its server sends some in advance.
    private static let advance = 1.0

    /// Begins a live stream here: `isEnoughToBegin` decides how long its sound waits.
    mutating func beginLive() { beginning = (ring.end, nil) }

    /// True if enough of a live stream has arrived to begin, even if it is less than ordered. `end`: a frame of the
    /// ring.
    mutating func isEnoughToBegin(end: Int64) -> Bool {
        guard let beginning else { return false }
        let now = EventLoop.now
        let time = beginning.time ?? now
        self.beginning?.time = time
        let arrived = ring.format.seconds(frames: end - beginning.end)
        let isLate = now.seconds(since: time) >= Self.beginningSeconds
        guard arrived >= Self.advance || isLate && arrived >= Self.leastBeginning else { return false }
        self.beginning = nil
        return true
    }
}

/// An item whose source is not open yet.
struct DecodeOpening {
    let item: DecodeItem
    let decoder: any LateDecoder
    let ring: SampleRing?
    /// Seconds of audio to report as `reached`; nil: it follows another item without a report.
    let prefill: Double?
    /// The broken work that continues with it; nil: none.
    let broken: DecodeWork?
    /// True if the source may be open by now.
    private(set) var isReadable = true

    /// A source that opens for the item of a run or of a chain.
    init(_ item: DecodeItem, _ decoder: any LateDecoder, in ring: SampleRing?, prefill: Double?) {
        self.item = item
        self.decoder = decoder
        self.ring = ring
        self.prefill = prefill
        broken = nil
    }

    /// A source that opens again.
    init(again broken: DecodeWork, _ decoder: any LateDecoder) {
        item = broken.item
        self.decoder = decoder
        ring = nil
        prefill = nil
        self.broken = broken
    }

    /// Notes that the source is not open yet; the thread waits for it.
    mutating func waitOn() { isReadable = false }

    /// Notes that the source has delivered something.
    mutating func becomeReadable() { isReadable = true }
}
