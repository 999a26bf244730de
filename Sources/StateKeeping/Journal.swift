import NowPlaying
import PlaybackEngine

/// The saved queue: a file that begins with an earlier queue (the snapshot), followed by every later change.
///
/// Header: magic, version, identity of this journal, sum. Then frames: length of the payload, number of the change, sum
/// over both and the payload, payload. Frames of the snapshot carry the number of the last change in it. The identity
/// seeds the sums, so that frames of one journal are invalid in another.
enum Journal {
    /// The first eight bytes of a journal, the lowest first.
    static let magic: UInt64 = 0x6575_6575_5150_4e01
    static let version: UInt32 = 1
    static let headerBytes = 32
    static let frameHeaderBytes = 20
    /// Entries in one frame of a snapshot; a damaged frame loses all of them.
    private static let entriesInFrame = 512

    /// Kind of a payload, by its first byte; changes of the queue (`EditCoding`) have small numbers.
    private enum Kind: UInt8 {
        case snapshot = 0xf0
        case commands, end
        /// In memory only: an insertion of a list that is in a file of its own.
        case list
    }

    /// The first bytes of a journal.
    static func header(identity: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.fixed(magic)
        writer.fixed(version)
        writer.fixed(UInt32(0))
        writer.fixed(identity)
        writer.fixed(writer.bytes.withUnsafeBytes { Checksum.of($0, seed: 0) })
        return writer.bytes
    }

    /// The frame of a payload in the file.
    static func frame(_ payload: [UInt8], sequence: UInt64, identity: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.reserve(frameHeaderBytes + payload.count)
        writer.fixed(UInt32(payload.count))
        writer.fixed(sequence)
        writer.fixed(payload.withUnsafeBytes { Checksum.of($0, seed: seed(identity, sequence)) })
        writer.append(payload)
        return writer.bytes
    }

    private static func seed(_ identity: UInt64, _ sequence: UInt64) -> UInt64 {
        identity ^ sequence &* 0x9e37_79b9_7f4a_7c15
    }

    /// Insertion of a list before the entry with this index, as a payload for the memory.
    static func payload(of list: AddedList, at index: Int) -> [UInt8] {
        var writer = ByteWriter()
        writer.byte(Kind.list.rawValue)
        writer.fixed(list.number)
        writer.number(list.count)
        writer.number(index)
        return writer.bytes
    }

    /// Settings of commands as a payload.
    static func payload(of commands: CommandSettings) -> [UInt8] { [Kind.commands.rawValue] + commands.encoded() }

    /// Writes the whole state after change `sequence`; `put` gets one piece after the other.
    static func writeSnapshot<Failure: Error>(
        _ queue: PlayQueue, _ commands: CommandSettings, sequence: UInt64, identity: UInt64,
        _ put: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        var start = ByteWriter()
        start.byte(Kind.snapshot.rawValue)
        start.number(queue.version)
        start.number(queue.count)
        var piece = header(identity: identity)
        piece += frame(start.bytes, sequence: sequence, identity: identity)
        piece += frame(payload(of: commands), sequence: sequence, identity: identity)
        var iterator = queue.entries.makeIterator()
        for first in stride(from: 0, to: queue.count, by: entriesInFrame) {
            let count = min(entriesInFrame, queue.count - first)
            piece += frame(
                EditCoding.encode(count, of: &iterator, at: first), sequence: sequence, identity: identity)
            if piece.count > 128 << 10 {
                try put(piece)
                piece.removeAll(keepingCapacity: true)
            }
        }
        for edit in prioritized(queue) {
            piece += frame(EditCoding.encode(edit), sequence: sequence, identity: identity)
        }
        piece += frame([Kind.end.rawValue], sequence: sequence, identity: identity)
        try put(piece)
    }

    /// The priorities of a queue as changes.
    private static func prioritized(_ queue: PlayQueue) -> [QueueEdit] {
        Dictionary(grouping: queue.priorities, by: \.value).sorted { $0.key < $1.key }.map { priority, items in
            .prioritize(items.map(\.key).sorted(), priority)
        }
    }

    /// Content of a journal.
    struct Contents {
        /// The journal's own number, drawn at random at its start.
        var identity: UInt64 = 0
        /// Number of the last change in the journal.
        var sequence: UInt64 = 0
        var queue = PlayQueue()
        var commands = CommandSettings()
        /// Bytes before the first invalid one.
        var validBytes = 0
        /// Bytes of the snapshot.
        var snapshotBytes = 0
        var state = Condition.whole
    }

    /// Condition of a journal that was read.
    enum Condition: Equatable {
        case whole
        /// Damaged from some byte on; the content before it is valid.
        case broken
        /// Written by a later version of the daemon.
        case newer(UInt32)
    }

    /// Reads a journal up to the first damage.
    static func read(_ bytes: UnsafeRawBufferPointer) -> Contents {
        var contents = Contents()
        var reader = ByteReader(bytes)
        do throws(ByteReader.Malformed) {
            contents.identity = try readHeader(&reader, bytes, &contents)
            guard contents.state == .whole else { return contents }
            contents.validBytes = reader.offset
            try readSnapshot(&reader, &contents)
            contents.snapshotBytes = reader.offset
            contents.validBytes = reader.offset
            while reader.remaining > 0 {
                try readFrame(&reader, &contents)
                contents.validBytes = reader.offset
            }
        } catch {
            contents.state = .broken
        }
        return contents
    }

    /// Applies changes in frames that are stored elsewhere, as far as they are consecutive. Returns the offset of the
    /// first unknown change, and the number of valid bytes. `lists` reads the added list of a number and a count; nil:
    /// it can't be read.
    static func apply(
        _ bytes: UnsafeRawBufferPointer, to contents: inout Contents,
        lists: (_ number: UInt64, _ count: Int) -> EntryList? = { _, _ in nil }
    ) -> (start: Int, end: Int) {
        var reader = ByteReader(bytes)
        var start: Int?
        var end = 0
        while reader.remaining > 0 {
            let offset = reader.offset
            let before = contents.sequence
            do throws(ByteReader.Malformed) { try readFrame(&reader, &contents, skipping: true, lists) } catch { break }
            if contents.sequence > before, start == nil { start = offset }
            end = reader.offset
        }
        return (start ?? end, end)
    }

    private static func readHeader(
        _ reader: inout ByteReader, _ bytes: UnsafeRawBufferPointer, _ contents: inout Contents
    ) throws(ByteReader.Malformed) -> UInt64 {
        let magic: UInt64 = try reader.fixed()
        let version: UInt32 = try reader.fixed()
        guard magic == Self.magic else { throw ByteReader.Malformed() }
        let reserved: UInt32 = try reader.fixed()
        let identity: UInt64 = try reader.fixed()
        let sum: UInt64 = try reader.fixed()
        // In a later version only the header is readable: it is the same in all versions.
        let isIntact = sum == Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[..<24]), seed: 0)
        guard isIntact else { throw ByteReader.Malformed() }
        if version != Self.version || reserved != 0 { contents.state = .newer(version) }
        return identity
    }

    private static func readSnapshot(
        _ reader: inout ByteReader, _ contents: inout Contents
    ) throws(ByteReader.Malformed) {
        let (sequence, payload) = try frame(&reader, contents.identity)
        var start = ByteReader(payload)
        guard try start.byte() == Kind.snapshot.rawValue else { throw ByteReader.Malformed() }
        let version = try start.count()
        let count = try start.count(upTo: 1 << 30)
        contents.sequence = sequence
        var entries = EntryList()
        var priorities: [QueueEdit] = []
        // Records before a damage are valid.
        defer {
            contents.queue = PlayQueue(entries, version: version)
            for edit in priorities { contents.queue.apply(edit) }
        }
        while true {
            let (number, payload) = try frame(&reader, contents.identity)
            guard number == sequence, let kind = payload.first else { throw ByteReader.Malformed() }
            if kind == Kind.end.rawValue { break }
            if kind == Kind.commands.rawValue {
                contents.commands = try CommandSettings(UnsafeRawBufferPointer(rebasing: payload[1...]))
            } else {
                let edit = try EditCoding.decode(payload)
                switch edit {
                case .insert(let new, _): entries.append(contentsOf: new)
                case .prioritize: priorities.append(edit)
                case .remove, .move, .clear, .order, .rearrange, .details: throw ByteReader.Malformed()
                }
            }
            contents.validBytes = reader.offset
        }
        guard entries.count == count else { throw ByteReader.Malformed() }
    }

    /// Reads one change and applies it. Throws if it does not follow the last one. With `skipping`, it skips a known
    /// change.
    private static func readFrame(
        _ reader: inout ByteReader, _ contents: inout Contents, skipping: Bool = false,
        _ lists: (UInt64, Int) -> EntryList? = { _, _ in nil }
    ) throws(ByteReader.Malformed) {
        let (sequence, payload) = try frame(&reader, contents.identity)
        if skipping, sequence <= contents.sequence { return }
        guard sequence == contents.sequence + 1, let kind = payload.first else { throw ByteReader.Malformed() }
        if kind == Kind.commands.rawValue {
            contents.commands = try CommandSettings(UnsafeRawBufferPointer(rebasing: payload[1...]))
        } else if kind == Kind.list.rawValue {
            var start = ByteReader(UnsafeRawBufferPointer(rebasing: payload[1...]))
            let number: UInt64 = try start.fixed()
            guard let entries = lists(number, try start.count()) else { throw ByteReader.Malformed() }
            contents.queue.insert(entries, at: min(try start.count(), contents.queue.count))
        } else {
            contents.queue.apply(try EditCoding.decode(payload))
        }
        contents.sequence = sequence
    }

    /// The next frame with this identity, of a journal or of another file in frames.
    static func frame(
        _ reader: inout ByteReader, _ identity: UInt64
    ) throws(ByteReader.Malformed) -> (sequence: UInt64, payload: UnsafeRawBufferPointer) {
        let length: UInt32 = try reader.fixed()
        let sequence: UInt64 = try reader.fixed()
        let sum: UInt64 = try reader.fixed()
        let payload = try reader.raw(Int(length))
        guard length > 0, sum == Checksum.of(payload, seed: seed(identity, sequence)) else {
            throw ByteReader.Malformed()
        }
        return (sequence, payload)
    }
}
