import AudioCore
import AudioDecoders
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import PlaybackEngine

/// Origin of a playlist's entry.
struct ListOrigin {
    /// The list's name for people.
    let name: String
    /// Nesting level, from 1.
    let level: Int
}

/// Lists: each is replaced by the items of its entries.
extension MediaSearch {
    /// Maximum depth of nested lists.
    private static let maximumLevels = 8

    /// Adds the entries of the list at a path, unless it was opened for this item before.
    mutating func addList(
        _ path: FilePath, _ kind: PlaylistKind, _ details: ItemDetails?, uri: String, from list: ListOrigin?
    ) throws(RPCError) {
        let origin = ListOrigin(name: String(decoding: path.name, as: UTF8.self), level: (list?.level ?? 0) + 1)
        guard origin.level <= Self.maximumLevels else {
            throw .commandFailed(.tooDeep, "more than \(Self.maximumLevels) nested playlists")
        }
        guard isNew(path) else { return }
        guard let content = try text(of: path, uri: uri, from: list) else { return }
        if kind == .cue { return try addSheet(content, path, details, uri: uri, from: list) }
        let entries: [PlaylistEntry]
        do throws(PlaylistError) { entries = try kind.entries(content) } catch {
            return note(uri, error.message, from: list)
        }
        if entries.isEmpty { note(uri, "is an empty playlist", from: list) }
        for entry in entries where !resolver.abandoned.isSet { try add(entry, details, in: path.folder, origin) }
    }

    /// The content of a list; nil: it cannot be read, which is noted.
    mutating func text(of path: FilePath, uri: String, from list: ListOrigin?) throws(RPCError) -> [UInt8]? {
        let file: MediaFile
        do throws(DecodingError) { file = try door.open(path) } catch {
            note(uri, "cannot be opened: \(error.message)", from: list)
            return nil
        }
        guard budget.take(file.size) else {
            throw .commandFailed(
                .tooLarge, "more than \(TextBudget.bytesOfRequest >> 20) MiB of playlists; the rest was not read")
        }
        do throws(DecodingError) { return try file.bytes(at: 0, count: Int(file.size)) } catch {
            note(uri, "cannot be opened: \(error.message)", from: list)
            return nil
        }
    }

    private mutating func add(
        _ entry: PlaylistEntry, _ details: ItemDetails?, in folder: FilePath, _ origin: ListOrigin
    ) throws(RPCError) {
        var known = details
        if entry.metadata != MediaMetadata() || entry.duration != nil {
            known = ItemDetails(
                given: details?.given ?? MediaMetadata(), found: entry.metadata, duration: entry.duration,
                hasOwnPictures: details?.hasOwnPictures ?? false)
        }
        switch PlaylistReference(entry, in: folder) {
        case .uri(let uri): try add(uri: uri, known, from: origin)
        case .paths(let paths):
            guard let first = paths.first else {
                return note(PlaylistText.windows1252(entry.location), "is not a file name", from: origin)
            }
            switch try firstThere(paths) {
            case .success(let found):
                try add(found.path, found.kind, known, uri: MediaSource.fileURI(found.path), from: origin)
            case .failure(let failure): note(failure, MediaSource.fileURI(first), from: origin)
            }
        }
    }

    /// A path that exists, and the kind of its file.
    struct Existing {
        let path: FilePath
        let kind: mode_t
    }

    /// The first existing path. Throws 403 if there is none and the peer may not see one of the paths: then the answer
    /// must not show its existence.
    func firstThere(_ paths: [FilePath]) throws(RPCError) -> Result<Existing, LookFailure> {
        var denial: RPCError?
        var failure: LookFailure?
        for path in paths {
            do throws(RPCError) {
                switch try look(path) {
                case .success(let mode): return .success(Existing(path: shortened(path), kind: mode & S_IFMT))
                case .failure(let error): failure = failure ?? error
                }
            } catch {
                denial = error
            }
        }
        if let denial { throw denial }
        guard let failure else { return .failure(LookFailure(code: ENOENT)) }
        return isUnmounted(paths[0], failure) ? .success(Existing(path: paths[0], kind: S_IFREG)) : .failure(failure)
    }

    /// The path without `..`, if it leads to the same file, so that an item has the same address for every client.
    private func shortened(_ path: FilePath) -> FilePath {
        guard path.leadsUp else { return path }
        let short = path.collapsed
        guard let there = door.identity(path), there == door.identity(short) else { return path }
        return short
    }
}
