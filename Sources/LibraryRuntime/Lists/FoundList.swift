import AudioCore
import AudioDecoders
import ControlProtocol
import Glibc
import LinuxSystem
import MediaAccess
import NowPlaying
import TrackDatabase

/// A playlist below a folder of the library: read-only. On worker threads.
enum FoundList {
    /// Bytes of a playlist, at most.
    private static let mostBytes: Int64 = 16 << 20

    /// True for kinds of playlists that are lists; a cue sheet has the tracks of one file.
    static func isList(_ name: [UInt8]) -> Bool { PlaylistKind(fileName: name[...]).map { $0 != .cue } ?? false }

    /// A number that differs after each change of the file found by a scan.
    static func version(_ file: ListFile) -> Int64 {
        let mixed = UInt64(bitPattern: file.modified) &* 0x100_0000_01b3 ^ UInt64(bitPattern: file.size)
        return Int64(mixed >> 11) | 1
    }

    /// The items of the playlist at a path below a folder of the library, from `recent` if they are known. Throws if it is
    /// unreadable.
    static func items(
        _ path: FilePath, in view: LibraryView, _ recent: RecentLists
    ) throws(ListFailure) -> [ListItem] {
        let name = path.text
        guard let kind = PlaylistKind(fileName: path.name), kind != .cue else { throw .missing(name) }
        let roots = MediaRoots(folders: view.roots.map(\.path))
        guard let confined = roots.confinedPath(of: path) else { throw .missing(name) }
        let opened = confined.openFile()
        guard opened >= 0 else {
            if opened == -ENOENT { throw .missing(name) }
            throw .system(SystemError("open \(name)", code: -opened))
        }
        var status = stat()
        fstat(opened, &status)
        let key = RecentLists.Key(name: name, version: version(status))
        if let items = recent.items(key) {
            close(opened)
            return items
        }
        let entries: [PlaylistEntry]
        do throws(DecodingError) {
            let file = try MediaFile(descriptor: opened, shouldStop: { false })
            guard file.size <= mostBytes else {
                throw DecodingError(.unavailable, "it has more than \(mostBytes >> 20) MiB")
            }
            let bytes = try file.bytes(at: 0, count: Int(file.size))
            do throws(PlaylistError) { entries = try kind.entries(bytes) } catch {
                throw DecodingError(.unavailable, error.message)
            }
        } catch {
            throw .unreadable(name, error.message)
        }
        let finder = ListedFiles(roots: roots)
        let items = entries.prefix(ListEdit.maximumItems).compactMap { item($0, in: path.folder, finder) }
        recent.keep(items, key)
        return items
    }

    private static func version(_ status: stat) -> Int64 {
        var hasher = Hasher()
        hasher.combine([UInt64(status.st_dev), UInt64(status.st_ino)])
        hasher.combine([Int64(status.st_size), status.st_mtim.nanoseconds, status.st_ctim.nanoseconds])
        return Int64(hasher.finalize())
    }

    private static func item(_ entry: PlaylistEntry, in folder: FilePath, _ finder: ListedFiles) -> ListItem? {
        let title = entry.metadata.title.map { title in entry.metadata.artist.map { $0 + " - " + title } ?? title }
        switch PlaylistReference(entry, in: folder) {
        case .uri(let uri): return ListItem(uri: uri, title: title, duration: entry.duration)
        case .paths(let paths):
            return (finder.find(paths) ?? paths.first).map { path in
                let short = path.leadsUp ? path.collapsed : path
                return ListItem(uri: MediaSource.fileURI(short), title: title, duration: entry.duration)
            }
        }
    }
}
