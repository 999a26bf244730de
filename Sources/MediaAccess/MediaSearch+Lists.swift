import AudioCore
import AudioDecoders
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import PlaybackEngine
import TrackReading

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
        let folder = path.folder
        for start in stride(from: 0, to: entries.count, by: Self.entriesAtOnce) {
            let piece = entries[start..<min(entries.count, start + Self.entriesAtOnce)]
            let targets = targets(of: piece, in: folder)
            for (entry, target) in zip(piece, targets) where !resolver.abandoned.isSet {
                try add(entry, target, details, origin)
            }
        }
    }

    /// Entries of a list that are looked up before the first of them is added, and the least number for two threads.
    private static let entriesAtOnce = 4096
    private static let leastShared = 256

    /// Target of an entry of a list, looked up.
    private enum Target: Sendable {
        case uri(String)
        case found(Existing)
        /// No path is there; the first one is named.
        case missing(LookFailure, FilePath)
        /// The location is not a file name.
        case nothing
    }

    /// Targets of these entries of a list in `folder`, in their order. Two threads share many.
    private func targets(of entries: ArraySlice<PlaylistEntry>, in folder: FilePath) -> [Target] {
        guard entries.count >= Self.leastShared else { return entries.map { target(of: $0, in: folder) } }
        let parts = 8
        let found = Parallel.map(parts, threads: 2) { [resolver, budget, lookup] part -> [Target] in
            // A search of its own, as one thread at a time uses a search.
            let search = MediaSearch(resolver, budget, looksInside: false, lookup: lookup)
            let start = entries.startIndex + entries.count * part / parts
            let end = entries.startIndex + entries.count * (part + 1) / parts
            return entries[start..<end].map { search.target(of: $0, in: folder) }
        }
        return Array(found.joined())
    }

    private func target(of entry: PlaylistEntry, in folder: FilePath) -> Target {
        if resolver.abandoned.isSet { return .nothing }
        switch PlaylistReference(entry, in: folder) {
        case .uri(let uri): return .uri(uri)
        case .paths(let paths):
            guard let first = paths.first else { return .nothing }
            switch firstThere(paths) {
            case .success(let found): return .found(found)
            case .failure(let failure): return .missing(failure, first)
            }
        }
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
        _ entry: PlaylistEntry, _ target: Target, _ details: ItemDetails?, _ origin: ListOrigin
    ) throws(RPCError) {
        var known = details
        if entry.hasMetadata || entry.duration != nil {
            known = ItemDetails(
                given: details?.given ?? MediaMetadata(), found: entry.metadata, duration: entry.duration,
                hasOwnPictures: details?.hasOwnPictures ?? false)
        }
        switch target {
        case .uri(let uri): try add(uri: uri, known, from: origin)
        case .found(let found) where found.kind == S_IFREG && PlaylistKind(fileName: found.path.name) == nil:
            try append(ResolvedMedia(source: door.source(found.path), details: known))
        case .found(let found):
            try add(found.path, found.kind, known, uri: MediaSource.fileURI(found.path), from: origin)
        case .missing(let failure, let first): note(failure, MediaSource.fileURI(first), from: origin)
        case .nothing: note(LegacyText.decoded(entry.location), "is not a file name", from: origin)
        }
    }

    /// A path that exists, and the kind of its file.
    struct Existing: Sendable {
        let path: FilePath
        let kind: mode_t
    }

    /// The first existing path: as it is written, else in another spelling.
    func firstThere(_ paths: [FilePath]) -> Result<Existing, LookFailure> {
        switch firstExact(paths) {
        case .success(let found): .success(found)
        case .failure(let failure): firstSpelled(paths, failure)
        }
    }

    /// The first existing path. If the peer may not see one of the paths, no other failure shows its existence.
    func firstExact(_ paths: [FilePath]) -> Result<Existing, LookFailure> {
        var failure: LookFailure?
        for path in paths {
            switch look(path) {
            case .success(let mode): return .success(Existing(path: shortened(path), kind: mode & S_IFMT))
            case .failure(let error): failure = error == .denied ? error : failure ?? error
            }
        }
        guard let failure else { return .failure(LookFailure(code: ENOENT)) }
        return isUnmounted(paths[0], failure) ? .success(Existing(path: paths[0], kind: S_IFREG)) : .failure(failure)
    }

    /// The first of the paths, none of which exists because of `failure`, that exists in another spelling (`NameLookup`).
    func firstSpelled(_ paths: [FilePath], _ failure: LookFailure) -> Result<Existing, LookFailure> {
        var result = failure
        for path in paths where failure.isAbsence {
            switch lookup.find(path) {
            case .found(let other):
                if case .success(let mode) = look(other) {
                    return .success(Existing(path: shortened(other), kind: mode & S_IFMT))
                }
            case .ambiguous: result = .ambiguous
            case .none: break
            }
        }
        return .failure(result)
    }

    /// The path without `..`, if it leads to the same file, so that an item has the same address for every client.
    private func shortened(_ path: FilePath) -> FilePath {
        guard path.leadsUp else { return path }
        let short = path.collapsed
        guard let there = door.identity(path), there == door.identity(short) else { return path }
        return short
    }
}
