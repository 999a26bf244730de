import AudioDecoders
import LinuxSystem

/// Files of a folder that a cue sheet in the same folder divides into tracks.
struct FolderSheets {
    /// For each file of several tracks, by its name in the folder: the sheet's name and the tracks.
    private(set) var tracks: [FilePath: (sheet: FilePath, tracks: [CueSheet.Track])] = [:]

    /// Matches sheets with files. Of several sheets for a file, the one with its name wins, else the first. A sheet
    /// with one track per file is ignored, as it adds nothing to the files.
    init(_ sheets: [(name: FilePath, sheet: CueSheet)], files: [FilePath]) {
        for (name, sheet) in sheets {
            for (index, written) in sheet.files.enumerated() {
                let found = sheet.tracks(of: index)
                guard found.count > 1, let file = Self.file(written, of: name, among: files) else { continue }
                let isNamesake = Self.stem(name) == Self.stem(file) || Self.stem(name) == file.name
                if tracks[file] == nil || isNamesake { tracks[file] = (name, found) }
            }
        }
    }

    /// The file that a sheet names: exactly that file, else one of that name with another suffix (rips are often
    /// compressed later), else one with the sheet's own name; at last, each in another spelling (`NameMatch`).
    private static func file(_ written: [UInt8], of sheet: FilePath, among files: [FilePath]) -> FilePath? {
        let reference = PlaylistReference(PlaylistEntry(location: written), in: "")
        guard case .paths(let names) = reference else { return nil }
        if let exact = names.first(where: files.contains) { return exact }
        let stems = names.map(stem) + [stem(sheet)]
        for stem in stems { if let file = files.first(where: { Self.stem($0) == stem }) { return file } }
        let match = NameMatch(files)
        for name in names { if case .found(let file) = match.match(name.bytes) { return file } }
        let stemMatch = NameMatch(files) { Self.stem($0) }
        for stem in stems { if case .found(let file) = stemMatch.match(stem) { return file } }
        return nil
    }

    /// A name without its suffix.
    static func stem(_ path: FilePath) -> ArraySlice<UInt8> {
        let name = path.name
        return name[..<(name.dropFirst().lastIndex(of: UInt8(ascii: ".")) ?? name.endIndex)]
    }
}
