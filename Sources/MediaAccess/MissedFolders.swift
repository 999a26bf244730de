import AudioCore
import Glibc
import LinuxSystem
import NowPlaying

/// Folders of media that were missed since the start. One that is back need not have everything at once: a file system may
/// show its files late, and a folder that somebody copies into is not back with its first file.
struct MissedFolders {
    private struct Missed {
        /// Device of the deepest existing folder on its path while it was missing (st_dev).
        let device: UInt64
        /// Since when it is back, as a file system of its own; or when a file of it was there last. Nil: it is not back.
        var since: MonotonicTime?
    }

    /// Seconds in which a file system that was mounted has to show its files.
    static let mountPatience = 60.0
    /// Seconds without a file that was there, after which a copy is over.
    static let copyPatience = 3600.0

    private var folders: [FilePath: Missed] = [:]

    /// A folder is not there, or nothing is in it.
    mutating func miss(_ folder: FilePath) {
        folders[folder] = Missed(device: Self.device(of: folder), since: nil)
    }

    /// A file was there.
    mutating func found(_ file: FilePath, at now: MonotonicTime) {
        guard !folders.isEmpty else { return }
        for folder in folders.keys where file.below(folder) != nil { note(folder, at: now, isFile: true) }
    }

    /// Why a file that is not there may still come, its folder having been missed; nil: it is gone.
    mutating func absence(of file: FilePath, at now: MonotonicTime) -> DecodingError? {
        for folder in folders.keys where file.below(folder) != nil {
            note(folder, at: now, isFile: false)
            guard let missed = folders[folder], let since = missed.since else { continue }
            let isMount = missed.device != Self.device(of: folder)
            if now.seconds(since: since) > (isMount ? Self.mountPatience : Self.copyPatience) {
                folders[folder] = nil
            } else if isMount {
                return DecodingError(.mediaGone, "its disk or share is mounted, but does not show it yet")
            } else {
                return DecodingError(.notMounted, "its folder was empty or missing, and it is still missing")
            }
        }
        return nil
    }

    private mutating func note(_ folder: FilePath, at now: MonotonicTime, isFile: Bool) {
        guard let missed = folders[folder] else { return }
        if missed.since == nil || (isFile && missed.device == Self.device(of: folder)) { folders[folder]?.since = now }
    }

    /// The file system of a folder, or of what there is on the way to it. May block.
    private static func device(of folder: FilePath) -> UInt64 {
        var status = stat()
        var part = folder
        while part.withCString({ stat($0, &status) }) != 0, !part.name.isEmpty { part = part.folder }
        return UInt64(status.st_dev)
    }
}
