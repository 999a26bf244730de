import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlaying

/// The properties of a song of the queue that filters test.
struct QueueSong: FilteredSong {
    /// Its lines.
    let block: SongBlock

    func values(_ tag: MPDTag) -> [String] { block.song?.values(tag) ?? block.values(tag) }
    var file: String { String(decoding: block.file, as: UTF8.self) }
    var modified: Int64? { block.song?.modified }
    var added: Int64? { block.song?.added }
    var sampleRate: Int? { block.song?.sampleRate }
    var bits: FormatTest.SampleBits? { block.song?.bits }
    var channels: Int? { block.song?.channels }
    var priority: Int { block.item["priority"]?.integerValue.map { Int(clamping: $0) } ?? 0 }
}

/// Songs of the queue that match a filter: the songs of a window, in the order of the queue or in a sort order.
@PlayerLoop struct QueueSelection {
    private let sort: QueryTail.Sort?
    private let window: Range<Int>
    private var passed = 0
    /// Songs that wait for the sort, and their memory.
    private var kept: [SongBlock] = []
    private let share: HeldShare
    /// The failure of a sort for which there is no memory; nil: there is.
    private(set) var excess: MPDFailure?

    /// Bytes of memory of a song that waits.
    private static let costOfSong = 2048

    /// The songs of a window in a sort order; nil: in the order of the queue.
    init(_ sort: QueryTail.Sort?, _ window: Range<Int>, _ share: HeldShare) {
        self.sort = sort
        self.window = window
        self.share = share
    }

    /// True if the listing writes the song, which matches the filter, now.
    mutating func takes(_ block: SongBlock) -> Bool {
        guard sort == nil else {
            guard share.add(Self.costOfSong) else {
                kept = []
                excess = HeldShare.tooMuch
                return false
            }
            kept.append(block)
            return false
        }
        passed += 1
        return window.contains(passed - 1)
    }

    /// Removes the kept songs, and returns the work that sorts them, for any thread; nil: no song is kept.
    mutating func takeSort() -> (@Sendable () -> ArraySlice<SongBlock>)? {
        guard let sort, !kept.isEmpty else { return nil }
        let (songs, window) = (kept, window)
        kept = []
        return { Self.sorted(songs, sort).dropFirst(window.lowerBound).prefix(window.count) }
    }

    nonisolated private static func sorted(_ songs: [SongBlock], _ sort: QueryTail.Sort) -> [SongBlock] {
        let keys = songs.map { key(QueueSong(block: $0), sort.key) }
        // Equal songs stay in the order of the queue.
        let order = keys.indices.sorted { one, other in
            let (left, right) = (keys[one], keys[other])
            if left == right { return one < other }
            return sort.isFalling ? right.precedes(left) : left.precedes(right)
        }
        return order.map { songs[$0] }
    }

    nonisolated private struct Key: Equatable {
        var number: Int64 = 0
        var text = ""

        func precedes(_ other: Key) -> Bool {
            number != other.number ? number < other.number : text.utf8.lexicographicallyPrecedes(other.text.utf8)
        }
    }

    nonisolated private static func key(_ song: QueueSong, _ key: QueryTail.SortKey) -> Key {
        switch key {
        case .lastModified: return Key(number: song.modified ?? 0)
        case .added: return Key(number: song.added ?? 0)
        case .priority: return Key(number: Int64(song.priority))
        case .tag(let tag):
            let values = ([tag] + tag.substitutes).lazy.map(song.values).first { !$0.isEmpty } ?? []
            let text = values.first ?? ""
            if LibraryTags.number(tag) != nil { return Key(number: Int64(text.prefix { $0.isNumber }) ?? 0) }
            return Key(text: CaseFolding.fold(text))
        }
    }
}
