import AudioCore
import LinuxSystem
import NowPlaying
import Synchronization
import TestSupport

/// An item of a history: its length and its faults.
struct ScriptedItem: Sendable {
    /// Kind of the item's source.
    enum Kind: Sendable, CaseIterable {
        /// A file.
        case plain
        /// A late source, which delivers piece by piece.
        case late
        /// Cannot be opened.
        case broken
        /// Cannot be opened; the late source reports that a while later.
        case brokenLate
        /// Has no frame.
        case empty
        /// Can be opened, but not decoded.
        case unreadable
        /// Can be opened, but not decoded; the late source reports that a while later.
        case unreadableLate
        /// Announces more frames than it has.
        case short
    }

    var kind: Kind
    /// Actual number of frames.
    var frames: Int64
    var format: AudioFormat
    /// Seed of its own random numbers.
    var seed: UInt64
    /// Tags of the file.
    var metadata = MediaMetadata()
    /// Number of openings that fail first, because the medium is missing.
    var absences = 0
    /// Error of those openings; nil: the medium is a disk. Otherwise the item is on the network.
    var networkError: DecodingError.Kind?
    /// Frame at which the medium disappears once; nil: it stays.
    var breakFrame: Int64?
    /// True if it never gets beyond that frame.
    var breaksForGood = false
    /// True for a stream without beginning and end.
    var isLive = false
    /// Number that its samples carry, as `RoomCode` has it; nil: they are zeros.
    var number: Int64?
    /// Events in the life of the medium.
    let medium = ScriptedMedium()

    /// Duration in seconds.
    var duration: Double { Double(frames) / Double(format.sampleRate) }
    /// True if no frame of it can play.
    var isUnplayable: Bool { [.broken, .brokenLate, .empty, .unreadable, .unreadableLate].contains(kind) }

    /// Opens the item.
    func open() throws(DecodingError) -> any AudioDecoder {
        if medium.openings.wrappingAdd(1, ordering: .relaxed).oldValue < absences {
            throw DecodingError(networkError ?? .mediaGone, "its medium is away")
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
    /// Number of attempts to open the item.
    let openings = Atomic<Int>(0)
    /// Number of times that the medium disappeared during play.
    let breaks = Atomic<Int>(0)
}

/// Decodes an item of a history.
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
        if let breakFrame = item.breakFrame, frame >= breakFrame,
            item.medium.breaks.wrappingAdd(1, ordering: .relaxed).oldValue == 0 || item.breaksForGood
        {
            throw DecodingError(.mediaGone, "its medium went away")
        }
        let most = Int64(format.sampleRate) * Int64.random(in: 1...10, using: &random) / 5
        let count = min(Int64(buffer.count / format.bytesPerFrame), item.frames - frame, max(1, most))
        if let number = item.number {
            let samples = buffer.bindMemory(to: Int32.self)
            let channels = format.channels.count
            for index in 0..<(Int(count) * channels) {
                samples[index] = RoomCode.sample(item: number, frame: frame + Int64(index / channels))
            }
        }
        frame += count
        return Int(count)
    }
}

/// The same from a late source: now and then there is nothing yet. A reader that waited gets frames.
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
