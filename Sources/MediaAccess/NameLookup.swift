import AudioDecoders
import Glibc
import LinuxSystem
import Synchronization

/// Finds the files of lists whose names are not exactly those on the disk: written in another normal form of Unicode, in
/// another character set, or with other letters in capitals. It lists each folder once. Any thread; every call may block.
final class NameLookup: Sendable {
    /// The folders that were listed.
    private struct Listed {
        var names: [FilePath: NameMatch] = [:]
        /// Audio files by their stems.
        var stems: [FilePath: NameMatch] = [:]
        var count = 0

        /// Makes room for more names.
        mutating func take(_ more: Int) {
            count += more
            guard count > NameLookup.mostNames else { return }
            self = Listed()
            count = more
        }
    }

    private let door: MediaDoor
    private let listed = Mutex(Listed())

    /// Names in memory, at most; of a larger folder the first count.
    private static let mostNames = 65_536
    /// Parts of a path that may differ.
    private static let mostParts = 8

    /// A lookup of the files that the door opens. It has listed nothing.
    init(_ door: MediaDoor) { self.door = door }

    /// The file of a path, none of which exists as it is written. `.none` for a path that is not absolute.
    func find(_ path: FilePath) -> NameMatch.Outcome { find(path, parts: Self.mostParts) }

    /// The audio file with the stem of the path's last name, and any suffix.
    func findStem(_ path: FilePath) -> NameMatch.Outcome {
        guard case .found(let folder) = existing(path.folder, parts: Self.mostParts) else { return .none }
        let match = listed.withLock { listed in
            if let known = listed.stems[folder] { return known }
            let names = door.names(in: folder, limit: Self.mostNames).filter(FolderWalk.isAudio)
            listed.take(names.count)
            let match = NameMatch(names) { FolderSheets.stem($0) }
            listed.stems[folder] = match
            return match
        }
        return match.match(FolderSheets.stem(path)).within(folder)
    }

    private func find(_ path: FilePath, parts: Int) -> NameMatch.Outcome {
        guard parts > 0, !path.name.isEmpty, path.folder.bytes.count < path.bytes.count else { return .none }
        switch existing(path.folder, parts: parts - 1) {
        case .found(let folder): return match(folder).match(path.name).within(folder)
        case .ambiguous: return .ambiguous
        case .none: return .none
        }
    }

    /// The folder as written if it exists, else the one that is found for it.
    private func existing(_ folder: FilePath, parts: Int) -> NameMatch.Outcome {
        door.identity(folder) != nil ? .found(folder) : find(folder, parts: parts)
    }

    private func match(_ folder: FilePath) -> NameMatch {
        listed.withLock { listed in
            if let known = listed.names[folder] { return known }
            let names = door.names(in: folder, limit: Self.mostNames)
            listed.take(names.count)
            let match = NameMatch(names)
            listed.names[folder] = match
            return match
        }
    }
}

extension NameMatch.Outcome {
    /// The result as a path in the folder.
    fileprivate func within(_ folder: FilePath) -> Self {
        switch self {
        case .found(let name): .found(folder.appending(name))
        case .ambiguous, .none: self
        }
    }
}
