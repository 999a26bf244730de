import ControlProtocol
import Glibc
import LinuxSystem
import Synchronization
import TrackDatabase

/// Names of the saved lists for search, which runs at each letter: the folder is read again only after a change.
final class NamedLists: Sendable {
    private let store: ListStore
    private let path: FilePath
    private let known = Mutex<(seconds: Int, nanoseconds: Int, names: [String])?>(nil)

    /// Seconds for which a changed folder is read at each search: its modification time may not show a second change.
    private static let settled = 2

    /// Names of the lists of a store in this folder.
    init(_ store: ListStore, in path: FilePath) {
        self.store = store
        self.path = path
    }

    /// All names. On a worker thread.
    var all: [String] {
        var status = stat()
        guard path.withCString({ stat($0, &status) }) == 0 else { return [] }
        let key = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        let names = known.withLock { known in
            known.flatMap { $0.seconds == key.0 && $0.nanoseconds == key.1 ? $0.names : nil }
        }
        if let names { return names }
        let read = ((try? store.folder.summaries()) ?? []).map(\.name.text)
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        if now.seconds(since: status.st_mtim) > Self.settled { known.withLock { $0 = (key.0, key.1, read) } }
        return read
    }
}

/// Lists that a search finds, the best first.
struct FoundLists {
    /// One list.
    struct Hit {
        let name: String
        /// Its uri; nil: it is a saved list.
        let uri: String?
        let rank: SearchRank
    }

    private var hits: ArraySlice<Hit>

    /// The lists whose names match a text: saved ones, and playlists in the library.
    init(_ text: String, saved: [String], found: [ListFile], in view: LibraryView) {
        let search = NameSearch(text)
        var hits = saved.compactMap { name in search.rank(name).map { Hit(name: name, uri: nil, rank: $0) } }
        for file in found {
            let name = String(decoding: file.path.name, as: UTF8.self)
            guard let rank = search.rank(name), let uri = view.uri(of: file.path.bytes) else { continue }
            hits.append(Hit(name: String(decoding: file.path.bytes, as: UTF8.self), uri: uri, rank: rank))
        }
        hits.sort { ($0.rank.rawValue, $0.name) < ($1.rank.rawValue, $1.name) }
        self.hits = hits[...]
    }

    /// No lists.
    init() { hits = [] }

    /// Takes the best list, if it ranks better than `rank`; nil: in any case.
    mutating func take(before rank: SearchRank?) -> Hit? {
        guard let first = hits.first, rank.map({ first.rank < $0 }) ?? true else { return nil }
        return hits.removeFirst()
    }
}

extension FoundLists.Hit {
    /// Writes the hit as an object.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("kind", "list")
        writer.member("name", name)
        writer.member("list", name)
        writer.member("uri", uri)
        writer.endObject()
    }
}
