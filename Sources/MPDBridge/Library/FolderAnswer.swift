import ControlProtocol
import LinuxSystem
import MPDProtocol

/// The entries of a folder, written as they arrive.
@PlayerLoop final class FolderAnswer: AnswerStream {
    /// Extent of a listing of one folder.
    enum Kind: Sendable {
        /// Folders, songs with their tags, and playlists.
        case entries
        /// Folders, and files with their sizes.
        case files
    }

    private let feed: PageFeed
    private let names: SongNames
    private let kind: Kind
    private let tags: TagMask
    private let lists: StoredLists
    private let isTop: Bool

    /// The entries of a feed of `library.browse`, and then playlists.
    init(
        _ feed: PageFeed, _ client: MPDClient, _ names: SongNames, _ kind: Kind, isTop: Bool,
        lists: StoredLists
    ) {
        self.feed = feed
        self.names = names
        self.kind = kind
        self.lists = lists
        self.isTop = isTop
        tags = client.tags
        feed.onPage = { [weak client] in client?.proceed() }
    }

    func write(_ writer: inout AnswerWriter) -> AnswerProgress {
        switch feed.take() {
        case nil: return .waits
        case .failed(let failure)?:
            let isAbsent = failure.code == .noExist || failure.code == .argument
            return .ends(.failed(isAbsent ? MPDFailure(.noExist, "No such directory") : failure))
        case .rows(let rows, _)?:
            for row in rows { write(row, &writer) }
            return .more
        // The library sends folders only as rows.
        case .text?: return .more
        case .end?:
            for list in lists.found { list.write(&writer, withTime: true) }
            if isTop { for list in lists.saved { list.write(&writer) } }
            return .ends(.ok)
        }
    }

    private func write(_ row: JSONValue, _ writer: inout AnswerWriter) {
        let name = names.name(of: row["uri"]?.stringValue ?? "")
        switch kind {
        case .entries:
            if row["kind"]?.stringValue == "folder" {
                writer.pair("directory", name)
            } else {
                LibrarySong(row, names)?.write(&writer, tags)
            }
        case .files:
            let last = name.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? name
            if row["kind"]?.stringValue == "folder" {
                writer.pair("directory", last)
            } else {
                writer.pair("file", last)
                if let size = row["size"]?.integerValue { writer.pair("size", size) }
                if let modified = row["modified"]?.integerValue { writer.pair("Last-Modified", unix: modified) }
            }
        }
    }
}
