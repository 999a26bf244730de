import AudioCore
import LinuxSystem
import NowPlaying
package import PlaybackEngine

/// Entries of the queue as bytes. Neighbours are mostly in one folder: a path is written without the start that it
/// shares with the previous one.
struct EntryWriter {
    private var writer = ByteWriter()
    private var lastNumber: Int64 = 0
    private var lastPath: PackedPath?
    private var lastGiven: MediaMetadata?

    /// A writer without entries.
    init() {}

    /// A writer of an insertion of `count` entries. `kind`: its first byte.
    @inline(__always) init(_ kind: UInt8, _ count: Int, at index: Int) {
        writer.reserve(16 + count * 40)
        writer.byte(kind)
        writer.number(index)
        writer.number(count)
    }

    /// The bytes of the head and the entries.
    var bytes: [UInt8] { writer.bytes }

    /// Adds an entry. The files of one folder share the texts that a client gave to the folder: those are written once.
    mutating func entry(_ entry: QueueEntry) {
        writer.signed(entry.id.number &- lastNumber)
        lastNumber = entry.id.number
        guard let details = entry.details else {
            writer.byte(DetailsKind.none.rawValue)
            return source(entry.source)
        }
        let given = details.given
        let isSame = given == lastGiven
        lastGiven = given
        writer.byte((isSame ? DetailsKind.sameGiven : .own).rawValue)
        source(entry.source)
        if !isSame { writer.metadata(given) }
        writer.detailsOfFile(details)
    }

    private mutating func source(_ source: MediaSource) {
        switch source {
        case .plain(let path):
            writer.byte(SourceKind.file.rawValue)
            self.path(path)
        case .confined(let file):
            writer.byte(SourceKind.confined.rawValue)
            writer.number(file.root.bytes.count)
            writer.append(file.root.bytes)
            path(PackedPath(file.relative))
        case .descriptor(_, let name), .handedOver(let name):
            writer.byte(SourceKind.handedOver.rawValue)
            writer.text(name)
        case .remote(let media):
            writer.byte(SourceKind.remote.rawValue)
            writer.text(media.address)
            writer.text(media.shownAddress)
            writer.byte((media.mayUseLoopback ? 1 : 0) | (media.wasPublic ? 2 : 0))
        case .segment(let segment):
            writer.byte(SourceKind.segment.rawValue)
            self.source(segment.sheet)
            self.source(segment.audio)
            writer.number(segment.number)
            writer.time(segment.start)
            writer.byte(segment.end == nil ? 0 : 1)
            if let end = segment.end { writer.time(end) }
        }
    }

    private mutating func path(_ path: PackedPath) {
        let common = lastPath?.commonStart(with: path) ?? 0
        writer.number(common)
        writer.number(path.count - common)
        path.withBytes { writer.append(UnsafeBufferPointer(rebasing: $0[common...])) }
        lastPath = path
    }
}

/// Reads the bytes of `EntryWriter`.
struct EntryReader {
    private var lastNumber: Int64 = 0
    private var lastPath: [UInt8] = []
    private var lastGiven: MediaMetadata?

    /// Reads the next entry. Throws if its bytes are invalid.
    mutating func entry(_ reader: inout ByteReader) throws(ByteReader.Malformed) -> QueueEntry {
        lastNumber = lastNumber &+ (try reader.signed())
        guard lastNumber > 0 else { throw ByteReader.Malformed() }
        let kind = DetailsKind(rawValue: try reader.byte())
        let source = try source(&reader)
        let given: MediaMetadata
        switch kind {
        case .none?: return QueueEntry(id: ItemID(lastNumber), source: source)
        case .own?: given = try reader.metadata()
        case .sameGiven?:
            guard let lastGiven else { throw ByteReader.Malformed() }
            given = lastGiven
        case nil: throw ByteReader.Malformed()
        }
        lastGiven = given
        return QueueEntry(id: ItemID(lastNumber), source: source, details: try reader.details(given: given))
    }

    private mutating func source(
        _ reader: inout ByteReader, isPart: Bool = false
    ) throws(ByteReader.Malformed) -> MediaSource {
        switch SourceKind(rawValue: try reader.byte()) {
        case .file: return .plain(try path(&reader))
        case .confined:
            guard let root = FilePath(try reader.raw(try reader.count(upTo: reader.remaining))) else {
                throw ByteReader.Malformed()
            }
            return .confined(ConfinedPath(root: root, relative: try path(&reader).path))
        case .handedOver: return .handedOver(name: try reader.text())
        case .remote:
            let address = try reader.text()
            let shown = try reader.text()
            let flags = try reader.byte()
            let media = RemoteMedia(address: address, shownAddress: shown, mayUseLoopback: flags & 1 != 0)
            media.wasPublic = flags & 2 != 0
            return .remote(media)
        case .segment where !isPart:
            let sheet = try source(&reader, isPart: true)
            let audio = try source(&reader, isPart: true)
            let number = try reader.count()
            let start = try reader.time()
            let end = try reader.byte() == 0 ? nil : try reader.time()
            return .segment(MediaSegment(audio: audio, sheet: sheet, number: number, start: start, end: end))
        case .segment, nil: throw ByteReader.Malformed()
        }
    }

    private mutating func path(_ reader: inout ByteReader) throws(ByteReader.Malformed) -> PackedPath {
        let common = try reader.count(upTo: lastPath.count)
        lastPath.removeLast(lastPath.count - common)
        lastPath.append(contentsOf: try reader.raw(try reader.count(upTo: reader.remaining)))
        guard let path = PackedPath(lastPath) else { throw ByteReader.Malformed() }
        return path
    }
}

/// Numbers in the file: never changed, only added to.
private enum DetailsKind: UInt8 {
    case none = 0
    case own
    /// The client's texts are those of the last entry with details; the rest is its own.
    case sameGiven
}

/// Numbers in the file: never changed, only added to.
private enum SourceKind: UInt8 {
    case file = 0
    case confined, handedOver, segment, remote
}

/// Changes of the queue as bytes.
package enum EditCoding {
    private enum Kind: UInt8 {
        case insert = 1
        case remove, move, clear, order, details, prioritize, rearrange
    }

    /// The bytes of this change.
    package static func encode(_ edit: QueueEdit) -> [UInt8] {
        var writer = ByteWriter()
        switch edit {
        case .insert(let entries, let index):
            var iterator = entries.makeIterator()
            return encode(entries.count, of: &iterator, at: index)
        case .remove(let ids):
            writer.byte(Kind.remove.rawValue)
            writer.ids(ids)
        case .move(let ids, let index):
            writer.byte(Kind.move.rawValue)
            writer.number(index)
            writer.ids(ids)
        case .clear: writer.byte(Kind.clear.rawValue)
        case .order(let ids):
            writer.byte(Kind.order.rawValue)
            writer.ids(ids)
        case .rearrange(let indices, let ids):
            writer.byte(Kind.rearrange.rawValue)
            writer.ids(indices.map { ItemID(Int64($0)) })
            writer.ids(ids)
        case .details(let id, let details):
            writer.byte(Kind.details.rawValue)
            writer.signed(id.number)
            writer.details(details)
        case .prioritize(let ids, let priority):
            writer.byte(Kind.prioritize.rawValue)
            writer.byte(priority)
            writer.ids(ids)
        }
        return writer.bytes
    }

    /// An insertion of the next `count` entries, as bytes.
    static func encode(_ count: Int, of entries: inout EntryList.Iterator, at index: Int) -> [UInt8] {
        var writer = EntryWriter(Kind.insert.rawValue, count, at: index)
        for _ in 0..<count { if let entry = entries.next() { writer.entry(entry) } }
        return writer.bytes
    }

    /// The change in these bytes. Throws if they are invalid.
    static func decode(_ bytes: UnsafeRawBufferPointer) throws(ByteReader.Malformed) -> QueueEdit {
        var reader = ByteReader(bytes)
        switch Kind(rawValue: try reader.byte()) {
        case .insert:
            let index = try reader.count()
            // An entry has three bytes or more.
            let count = try reader.count(upTo: reader.remaining)
            var entries = ContiguousArray<QueueEntry>()
            entries.reserveCapacity(count)
            var entryReader = EntryReader()
            for _ in 0..<count { entries.append(try entryReader.entry(&reader)) }
            return .insert(EntryList(entries), at: index)
        case .remove: return .remove(try reader.ids())
        case .move:
            let index = try reader.count()
            return .move(try reader.ids(), to: index)
        case .clear: return .clear
        case .order: return .order(try reader.ids())
        case .rearrange:
            let indices = try reader.ids().map { Int($0.number) }
            return .rearrange(indices, try reader.ids())
        case .details:
            let id = ItemID(try reader.signed())
            return .details(id, try reader.details())
        case .prioritize:
            let priority = try reader.byte()
            return .prioritize(try reader.ids(), priority)
        case nil: throw ByteReader.Malformed()
        }
    }
}

extension ByteWriter {
    fileprivate mutating func time(_ time: MediaTime) {
        signed(time.count)
        signed(time.perSecond)
    }

    fileprivate mutating func ids(_ ids: [ItemID]) {
        number(ids.count)
        var last: Int64 = 0
        for id in ids {
            signed(id.number &- last)
            last = id.number
        }
    }
}

extension ByteReader {
    fileprivate mutating func time() throws(Malformed) -> MediaTime {
        let count = try signed()
        return MediaTime(count, perSecond: try signed())
    }

    fileprivate mutating func ids() throws(Malformed) -> [ItemID] {
        let count = try count(upTo: remaining)
        var ids: [ItemID] = []
        ids.reserveCapacity(count)
        var last: Int64 = 0
        for _ in 0..<count {
            last = last &+ (try signed())
            ids.append(ItemID(last))
        }
        return ids
    }
}
