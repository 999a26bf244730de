import AudioDecoders
import LinuxSystem

/// Files of a folder that a cue sheet beside them divides into tracks.
struct FolderSheets {
    /// The sheet (a name in the folder) and the tracks of the files (names, too) that are more than one track each.
    private(set) var tracks: [FilePath: (sheet: FilePath, tracks: [CueSheet.Track])] = [:]

    /// Finds out what the sheets say of the files. Of several sheets for a file the one of its name wins, else the first.
    /// A sheet for files of one track each says nothing that the files do not.
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

    /// The file that a sheet names: the very one, one of that name with another ending (rips are often compressed later),
    /// or one of the sheet's own name.
    private static func file(_ written: [UInt8], of sheet: FilePath, among files: [FilePath]) -> FilePath? {
        let reference = PlaylistReference(PlaylistEntry(location: written), in: "")
        guard case .paths(let names) = reference else { return nil }
        if let exact = names.first(where: files.contains) { return exact }
        let stems = names.map(stem) + [stem(sheet)]
        for stem in stems { if let file = files.first(where: { Self.stem($0) == stem }) { return file } }
        return nil
    }

    /// A name without its ending.
    static func stem(_ path: FilePath) -> ArraySlice<UInt8> {
        let name = path.name
        return name[..<(name.dropFirst().lastIndex(of: UInt8(ascii: ".")) ?? name.endIndex)]
    }
}
