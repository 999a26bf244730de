import AudioCore
import AudioDecoders
import CLinux
import Glibc
import LinuxSystem

/// Finds the audio files below a folder, in natural order, and applies cue sheets. It ignores other lists, since their
/// files are mostly in the folder anyway. Runs on a worker thread; every call may block.
struct FolderWalk {
    /// Suffixes of names that count as audio inside folders.
    static let endings: Set<String> = own.union(DecodeProgram.path == nil ? [] : foreign)
    private static let own: Set<String> = [
        "flac", "mp3", "mp2", "mp1", "mpa", "mpga", "ogg", "oga", "opus", "wav", "wave", "rf64", "w64", "aif", "aiff",
        "aifc", "au", "snd", "caf",
    ]
    /// Suffixes of nowplaying-decode's formats, which count if it is installed.
    private static let foreign: Set<String> = [
        "m4a", "m4b", "aac", "wma", "ape", "wv", "mpc", "tta", "mka", "dsf", "dff", "ac3", "eac3", "ec3", "dts", "tak",
        "shn", "spx", "amr", "awb", "mlp", "thd", "voc", "ra",
    ]
    /// Suffixes of formats that the library's `TrackReader` reads.
    static let described: Set<String> = own.union(["m4a", "m4b", "aac", "wma", "ape", "wv", "mpc", "tta", "dsf"])
    /// Maximum depth of nested folders.
    private static let maximumDepth = 64

    /// A playable file of a folder.
    enum Found {
        case file(MediaSource)
        /// A file with its tracks by a sheet; the sheet may be in the file itself.
        case tracks([CueSheet.Track], audio: FilePath, sheet: FilePath)
    }

    let door: MediaDoor
    let budget: TextBudget
    /// Maximum number of items.
    let limit: Int
    private(set) var found: [Found] = []
    private var count = 0
    /// True if the folder has more than `limit` items.
    private(set) var isTooMany = false
    /// Folders walked so far: each is walked once, or links to parent folders would never end.
    private var seen: Set<FileIdentity> = []

    private var roots: MediaRoots? { door.roots }
    private var abandoned: AbandonFlag { door.abandoned }

    /// A walk that has found nothing. `budget`: bytes of lists that the request may read. `limit`: maximum number of
    /// items.
    init(_ door: MediaDoor, _ budget: TextBudget, limit: Int) {
        self.door = door
        self.budget = budget
        self.limit = limit
    }

    /// Adds the items below the folder at `path`. Skips unreadable folders.
    mutating func walk(_ path: FilePath, depth: Int = 0) {
        guard depth < Self.maximumDepth, let descriptor = door.openFolder(path) else { return }
        var status = stat()
        guard fstat(descriptor, &status) == 0,
            seen.insert(FileIdentity(status)).inserted,
            let folder = fdopendir(descriptor)
        else {
            close(descriptor)
            return
        }
        var names: [(name: FilePath, isFolder: Bool)] = []
        var sheets: [FilePath] = []
        while let entry = readdir(folder), !abandoned.isSet {
            guard let name = MediaDoor.name(entry), name.bytes.first != UInt8(ascii: ".") else { continue }
            switch kind(Int32(entry.pointee.d_type), path, name) {
            case .folder: names.append((name, true))
            case .file where Self.isAudio(name): names.append((name, false))
            case .file where PlaylistKind(fileName: name.bytes[...]) == .cue: sheets.append(name)
            case .file, .other: break
            }
        }
        closedir(folder)
        names.sort { NaturalOrder.precedes($0.name.bytes, $1.name.bytes) }
        let tracks = tracks(in: path, names.filter { !$0.isFolder }.map(\.name), sheets)
        for (name, isFolder) in names where !isTooMany && !abandoned.isSet {
            if isFolder {
                walk(path.appending(name), depth: depth + 1)
            } else {
                add(tracks[name] ?? .file(door.source(path.appending(name))))
            }
        }
    }

    private mutating func add(_ item: Found) {
        if case .tracks(let tracks, _, _) = item { count += tracks.count } else { count += 1 }
        guard count <= limit else {
            isTooMany = true
            return
        }
        found.append(item)
    }

    /// The files of a folder that have more than one track each. A file that is alone in its folder mostly is a whole
    /// album; then this also reads the sheet inside the file.
    private func tracks(in folder: FilePath, _ files: [FilePath], _ sheets: [FilePath]) -> [FilePath: Found] {
        let read = sheets.sorted { NaturalOrder.precedes($0.bytes, $1.bytes) }.compactMap { name in
            door.sheet(at: folder.appending(name), budget).map { (name: name, sheet: $0) }
        }
        var result = FolderSheets(read, files: files).tracks.reduce(into: [FilePath: Found]()) { result, entry in
            let (audio, (sheet, tracks)) = entry
            result[audio] = .tracks(tracks, audio: folder.appending(audio), sheet: folder.appending(sheet))
        }
        if files.count == 1, result.isEmpty, let sheet = door.embeddedSheet(at: folder.appending(files[0])) {
            let path = folder.appending(files[0])
            result[files[0]] = .tracks(sheet.tracks, audio: path, sheet: path)
        }
        return result
    }

    private enum Kind { case file, folder, other }

    private func kind(_ type: Int32, _ folder: FilePath, _ name: FilePath) -> Kind {
        switch type {
        case Int32(DT_REG): return .file
        case Int32(DT_DIR): return .folder
        case Int32(DT_LNK), Int32(DT_UNKNOWN): break
        default: return .other
        }
        var status = stat()
        let path = folder.appending(name)
        if let roots {
            guard let confined = roots.confinedPath(of: path) else { return .other }
            let found = confined.locate()
            guard found >= 0 else { return .other }
            defer { close(found) }
            guard fstat(found, &status) == 0 else { return .other }
        } else {
            guard path.withCString({ stat($0, &status) }) == 0 else { return .other }
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .folder
        default: return .other
        }
    }

    /// True if the suffix of the name is one of audio files.
    static func isAudio(_ name: FilePath) -> Bool {
        guard let dot = name.bytes.lastIndex(of: UInt8(ascii: ".")) else { return false }
        return endings.contains(String(decoding: name.bytes[(dot + 1)...], as: UTF8.self).lowercased())
    }
}
