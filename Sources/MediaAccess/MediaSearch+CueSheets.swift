import AudioCore
import AudioDecoders
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import PlaybackEngine
import TrackReading

/// A cue sheet with the files that were found for it.
struct LocatedSheet: Sendable {
    let sheet: CueSheet
    /// Found files by their indices in `sheet.files`.
    let files: [Int: FilePath]
    /// The other files, in order: uri and reason.
    let missing: [(uri: String, failure: LookFailure)]
}

/// Cue sheets: their tracks become parts of the files.
extension MediaSearch {
    /// Adds the tracks of the sheet with this content.
    mutating func addSheet(
        _ content: [UInt8], _ path: FilePath, _ details: ItemDetails?, uri: String, from list: ListOrigin?
    ) throws(RPCError) {
        let sheet: CueSheet
        do throws(PlaylistError) { sheet = try CueSheet(text: content) } catch {
            return note(uri, error.message, from: list)
        }
        let located = locate(sheet, at: path)
        remember(located, at: path)
        let origin = ListOrigin(name: LegacyText.decoded(path.name), level: 1)
        for (uri, failure) in located.missing { note(failure, uri, from: origin) }
        for track in sheet.tracks { try add([track], of: located, sheet: path, details) }
    }

    /// Adds one track of the sheet at, or inside, a file.
    mutating func addTrack(
        _ number: Int, of path: FilePath, _ details: ItemDetails?, uri: String, from list: ListOrigin?
    ) throws(RPCError) {
        if lastSheet?.path != path {
            var sheet = PlaylistKind(fileName: path.name) == .cue ? nil : door.embeddedSheet(at: path)
            if sheet == nil, PlaylistKind(fileName: path.name) == .cue {
                guard let content = try text(of: path, uri: uri, from: list) else { return }
                sheet = try? CueSheet(text: content)
            }
            guard let sheet else { return note(uri, "has no readable cue sheet", from: list) }
            remember(locate(sheet, at: path), at: path)
        }
        guard let located = lastSheet?.sheet, let track = located.sheet.tracks.first(where: { $0.number == number })
        else { return note(uri, "is not a track of the cue sheet", from: list) }
        guard located.files[track.file] != nil else {
            return note(uri, "cannot be opened: its cue sheet names a missing file", from: list)
        }
        try add([track], of: located, sheet: path, details)
    }

    private mutating func add(
        _ tracks: [CueSheet.Track], of located: LocatedSheet, sheet: FilePath, _ details: ItemDetails?
    ) throws(RPCError) {
        for track in tracks {
            guard let audio = located.files[track.file] else { continue }
            try add([track], audio: audio, sheet: sheet, details)
        }
    }

    /// Adds tracks as parts of a file.
    mutating func add(
        _ tracks: [CueSheet.Track], audio: FilePath, sheet: FilePath, _ details: ItemDetails?
    ) throws(RPCError) {
        let source = door.source(audio)
        let sheet = door.source(sheet)
        for track in tracks {
            let given = details?.given ?? MediaMetadata()
            let isOwn = details?.hasOwnPictures ?? false
            if track.isWholeFile {
                try append(
                    ResolvedMedia(
                        source: source,
                        details: ItemDetails(given: given, found: track.metadata, hasOwnPictures: isOwn)))
                continue
            }
            let segment = MediaSegment(
                audio: source, sheet: sheet, number: track.number, start: track.start, end: track.end)
            // The sheet takes precedence over the file's tags, which describe the whole file.
            try append(
                ResolvedMedia(
                    source: .segment(segment),
                    details: ItemDetails(
                        given: given.filled(from: track.metadata), duration: segment.duration, hasOwnPictures: isOwn)))
        }
    }

    /// Finds the files that a sheet names: exactly that file, else one of that name with another suffix (rips are often
    /// compressed later), else one with the sheet's own name.
    private func locate(_ sheet: CueSheet, at path: FilePath) -> LocatedSheet {
        var files: [Int: FilePath] = [:]
        var missing: [(uri: String, failure: LookFailure)] = []
        for index in Set(sheet.tracks.map(\.file)).sorted() {
            if sheet.files[index].isEmpty {
                files[index] = path
                continue
            }
            let names = Self.names(sheet.files[index], in: path.folder)
            guard let first = names.first else {
                missing.append((LegacyText.decoded(sheet.files[index]), LookFailure(code: ENOENT)))
                continue
            }
            switch file(names, or: sheet.files.count == 1 ? names + [path] : names) {
            case .success(let found): files[index] = found
            case .failure(let failure): missing.append((MediaSource.fileURI(first), failure))
            }
        }
        return LocatedSheet(sheet: sheet, files: files, missing: missing)
    }

    private static func names(_ written: [UInt8], in folder: FilePath) -> [FilePath] {
        switch PlaylistReference(PlaylistEntry(location: written), in: folder) {
        case .paths(let paths): return paths
        case .uri(let uri):
            if case .path(let path) = MediaAddress(uri) { return [path] }
            return []
        }
    }

    private func file(_ names: [FilePath], or namesakes: [FilePath]) -> Result<FilePath, LookFailure> {
        var failure = LookFailure(code: ENOENT)
        switch firstExact(names) {
        case .success(let found): if found.kind == S_IFREG { return .success(found.path) }
        case .failure(let error): failure = error
        }
        if failure == .denied { return .failure(failure) }
        for name in namesakes {
            let stem = FolderSheets.stem(name)
            for ending in FolderWalk.endings.sorted() {
                for ending in [ending, ending.uppercased()] {
                    guard let file = FilePath(Array(stem) + Array(".\(ending)".utf8)) else { continue }
                    let path = name.folder.appending(file)
                    if case .success(let mode) = look(path), mode & S_IFMT == S_IFREG { return .success(path) }
                }
            }
        }
        switch firstSpelled(names, failure) {
        case .success(let found): if found.kind == S_IFREG { return .success(found.path) }
        case .failure(let error): failure = error
        }
        for name in namesakes {
            if case .found(let path) = lookup.findStem(name), case .success(let mode) = look(path),
                mode & S_IFMT == S_IFREG
            {
                return .success(path)
            }
        }
        return .failure(failure)
    }
}
