import AudioCore
import LinuxSystem
import NowPlaying
import Synchronization
import TestSupport

/// An item of a history: how long it is, and what is wrong with it.
struct ScriptedItem: Sendable {
    /// Kind of its source.
    enum Kind: Sendable, CaseIterable {
        /// A file.
        case plain
        /// Comes from elsewhere, piece by piece, and is waited for.
        case late
        /// Can't be opened.
        case broken
        /// Can't be opened, which is found out elsewhere a while later.
        case brokenLate
        /// Has no frame.
        case empty
        /// Can be opened, and has nothing that could be decoded.
        case unreadable
        /// The same from elsewhere, which is found out a while later.
        case unreadableLate
        /// Promises more than it has.
        case short
    }

    var kind: Kind
    /// Frames that it has.
    var frames: Int64
    var format: AudioFormat
    /// Its own chance.
    var seed: UInt64
    /// Tags of the file.
    var metadata = MediaMetadata()
    /// Openings that fail first, because the medium is away.
    var absences = 0
    /// Frame at which the medium goes away, once; nil: it stays.
    var breakFrame: Int64?
    /// True for a stream without beginning and end.
    var isLive = false
    /// Events in the life of the medium.
    let medium = ScriptedMedium()

    /// Seconds that it lasts.
    var duration: Double { Double(frames) / Double(format.sampleRate) }
    /// True if none of it can play.
    var isUnplayable: Bool { [.broken, .brokenLate, .empty, .unreadable, .unreadableLate].contains(kind) }

    /// Opens it.
    func open() throws(DecodingError) -> any AudioDecoder {
        if medium.openings.wrappingAdd(1, ordering: .relaxed).oldValue < absences {
            throw DecodingError(.mediaGone, "its medium is away")
        }
        switch kind {
        case .broken: throw DecodingError(.notRecognised, "it is broken")
        case .late, .brokenLate, .unreadableLate: return LateScriptedDecoder(self)
        case .plain, .short, .empty, .unreadable: return ScriptedDecoder(self)
        }
    }
}

/// Counts of events on the medium of an item. Any thread.
final class ScriptedMedium: Sendable {
    /// Attempts to open the item.
    let openings = Atomic<Int>(0)
    /// Times that the medium went away in the middle.
    let breaks = Atomic<Int>(0)
}

/// Decodes an item of a history: zeros.
class ScriptedDecoder: AudioDecoder {
    let format: AudioFormat
    let mediaFormat: MediaFormat
    let lengthInFrames: Int64?
    var metadata: MediaMetadata { item.metadata }
    var isSeekable: Bool { !item.isLive }
    fileprivate let item: ScriptedItem
    fileprivate var random: SeededRandom
    private var frame: Int64 = 0

    init(_ item: ScriptedItem) {
        self.item = item
        format = item.format
        mediaFormat = MediaFormat(codec: "none", sampleRate: item.format.sampleRate, channels: 1)
        let promised = item.kind == .short ? item.frames + Int64(item.format.sampleRate) : item.frames
        lengthInFrames = item.isLive ? nil : promised
        random = SeededRandom(seed: item.seed)
    }

    func takeMetadataChange() -> MediaMetadata? {
        guard item.isLive, Int.random(in: 0..<6, using: &random) == 0 else { return nil }
        var new = item.metadata
        new.title = "song \(frame)"
        return new
    }

    func seek(toFrame frame: Int64) throws(DecodingError) { self.frame = min(frame, item.frames) }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int {
        if item.kind == .unreadable || item.kind == .unreadableLate {
            throw DecodingError(.broken, "its first frame is broken")
        }
        if item.kind == .empty { return 0 }
        if let place = item.breakFrame, frame >= place,
            item.medium.breaks.wrappingAdd(1, ordering: .relaxed).oldValue == 0
        {
            throw DecodingError(.mediaGone, "its medium went away")
        }
        let most = Int64(format.sampleRate) * Int64.random(in: 1...10, using: &random) / 5
        let count = min(Int64(buffer.count / format.bytesPerFrame), item.frames - frame, max(1, most))
        frame += count
        return Int(count)
    }
}

/// The same from elsewhere: now and then there is nothing yet. Who waited finds something.
final class LateScriptedDecoder: ScriptedDecoder, LateDecoder {
    let descriptor: Int32 = -1
    var isLive: Bool { item.isLive }
    let patience = 60.0
    private var hasWaited = false
    private var openings: Int

    override init(_ item: ScriptedItem) {
        openings = Int(item.seed % 3)
        super.init(item)
    }

    func wait(seconds: Double) -> Bool { true }

    func isOpened() throws(DecodingError) -> Bool {
        openings -= 1
        if openings < 0, item.kind == .brokenLate { throw DecodingError(.broken, "it is broken elsewhere") }
        return openings < 0
    }

    func readAvailable(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int? {
        hasWaited = !hasWaited && Int.random(in: 0..<3, using: &random) > 0
        return hasWaited ? nil : try read(into: buffer)
    }
}
