import AudioCore
import Glibc
import LinuxSystem
import NowPlaying

/// Folders of media that were missing since the start. A folder that returns may be incomplete: a file system may show
/// its files late, and a copy into a folder takes time after its first file.
struct MissedFolders {
    private struct Missed {
        /// Device of the deepest existing folder on its path while it was missing (st_dev).
        let device: UInt64
        /// Time of its return as a file system of its own, or time of its last file that was found. Nil: it has not
        /// returned.
        var since: MonotonicTime?
    }

    /// Seconds after a mount within which a file system must show its files.
    static let mountPatience = 60.0
    /// Seconds without a found file after which a copy counts as finished.
    static let copyPatience = 3600.0

    private var folders: [FilePath: Missed] = [:]

    /// Records that a folder is missing or empty.
    mutating func miss(_ folder: FilePath) {
        folders[folder] = Missed(device: Self.device(of: folder), since: nil)
    }

    /// Records that a file was found.
    mutating func found(_ file: FilePath, at now: MonotonicTime) {
        guard !folders.isEmpty else { return }
        for folder in folders.keys where file.below(folder) != nil { note(folder, at: now, isFile: true) }
    }

    /// Error for a missing file that may still come, because its folder was missing; nil: it is gone.
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

    /// Device of a folder, or of the deepest existing folder of its path. May block.
    private static func device(of folder: FilePath) -> UInt64 {
        var status = stat()
        var part = folder
        while part.withCString({ stat($0, &status) }) != 0, !part.name.isEmpty { part = part.folder }
        return UInt64(status.st_dev)
    }
}
