import ArtworkLookup
package import AudioCore
import AudioDecoders
import LinuxSystem
package import NowPlaying
import TrackReading

/// The cue sheet next to a file that was added by itself: its tracks become the file's chapters.
package enum SheetBeside {
    /// Maximum bytes of a sheet.
    private static let longest: Int64 = 1 << 20

    /// The tracks of the sheet with the file's name (`album.cue` or `album.flac.cue` next to `album.flac`), if there
    /// are several. Reads files; never on the loop.
    package static func chapters(of source: MediaSource) -> [Chapter]? {
        guard let path = source.path, source.isWholeFile else { return nil }
        for stem in [FolderSheets.stem(path), path.name] {
            for ending in [".cue", ".CUE"] {
                guard let name = FilePath(Array(stem) + Array(ending.utf8)),
                    let file = try? source.neighbour(name)?.mediaFile(AbandonFlag()), file.size <= longest,
                    let text = try? file.bytes(at: 0, count: Int(file.size)), let sheet = try? CueSheet(text: text)
                else { continue }
                let tracks = sheet.tracks(of: index(of: path, in: sheet))
                return tracks.count > 1
                    ? tracks.prefix(Chapter.limit).map { Chapter(start: $0.start.seconds, title: $0.metadata.title) }
                    : nil
            }
        }
        return nil
    }

    /// Index of the file in the sheet: that of the same name with any suffix, else 0.
    private static func index(of path: FilePath, in sheet: CueSheet) -> Int {
        let names = sheet.files.map { FilePath($0).map { Array($0.name) } }
        if let exact = names.firstIndex(of: Array(path.name)) { return exact }
        let stems = sheet.files.map { LegacyText.decoded(FilePath($0).map(FolderSheets.stem) ?? []).lowercased() }
        return stems.firstIndex(of: LegacyText.decoded(FolderSheets.stem(path)).lowercased()) ?? 0
    }
}

extension MediaSource {
    fileprivate var isWholeFile: Bool {
        switch self {
        case .plain, .confined: true
        case .descriptor, .segment, .remote, .handedOver: false
        }
    }

    /// A file in the same folder, with the same rights.
    fileprivate func neighbour(_ name: FilePath) -> MediaSource? {
        switch self {
        case .plain(let path): .file(path.path.folder.appending(name))
        case .confined(let file):
            .confined(ConfinedPath(root: file.root, relative: file.relative.folder.appending(name)))
        case .descriptor, .segment, .remote, .handedOver: nil
        }
    }
}
