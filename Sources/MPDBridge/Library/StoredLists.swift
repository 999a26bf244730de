import ControlProtocol
import MPDProtocol
import NowPlaying

/// The lists of the library in the form for MPD's clients.
struct StoredLists {
    /// A list that clients may change.
    struct Saved: Equatable {
        let name: String
        /// Seconds since 1970.
        let modified: Int64
        /// True for a filter, whose songs are computed at each read.
        let isFilter: Bool

        /// Writes its lines.
        func write(_ writer: inout AnswerWriter) {
            writer.pair("playlist", name)
            writer.pair("Last-Modified", unix: modified)
        }
    }

    /// A playlist below a folder of the library.
    struct Found: Equatable {
        /// Path in the form of a song's name.
        let name: [UInt8]
        /// Seconds since 1970.
        let modified: Int64

        /// Writes its lines.
        func write(_ writer: inout AnswerWriter, withTime: Bool) {
            writer.pair("playlist", name)
            if withTime { writer.pair("Last-Modified", unix: modified) }
        }
    }

    private(set) var saved: [Saved] = []
    private(set) var found: [Found] = []

    /// No lists.
    init() {}

    /// The lists of an answer of `lists.list`; none for a failure.
    init(_ result: Result<ServerReply, MPDFailure>, _ names: SongNames) {
        guard case .success(let reply) = result else { return }
        for row in reply.value["lists"]?.arrayValue ?? [] {
            let modified = Int64(clamping: (row["modified"]?.doubleValue ?? 0).rounded(.down))
            if row["kind"]?.stringValue == "file" {
                guard let uri = row["uri"]?.stringValue else { continue }
                found.append(Found(name: names.name(of: uri), modified: modified))
            } else if let name = row["name"]?.stringValue {
                saved.append(Saved(name: name, modified: modified, isFilter: row["kind"]?.stringValue == "filter"))
            }
        }
    }

    /// The playlists in one folder; at the top, also the saved lists.
    func below(_ folder: [UInt8], isTop: Bool) -> StoredLists {
        let slash = UInt8(ascii: "/")
        let folder = SongNames.trimmed(folder)
        var lists = StoredLists()
        lists.found = found.filter { list in
            guard let end = list.name.lastIndex(of: slash) else { return folder.isEmpty }
            return list.name[..<end].elementsEqual(folder)
        }
        if isTop { lists.saved = saved }
        return lists
    }
}
