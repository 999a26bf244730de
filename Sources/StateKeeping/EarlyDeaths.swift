import CLinux
import Glibc
package import LinuxSystem
import NowPlaying
package import PlaybackEngine

/// Crashes of the daemon within ten seconds of a restored position: one byte each in a file of the state directory. A
/// start after two of them rests: it opens nothing until a client requests playback.
///
/// A handler writes the byte when the process dies by SIGSEGV, SIGILL, SIGBUS, SIGABRT, SIGTRAP or SIGFPE, and restores
/// the previous action of the signal. The time of the crash decides: no timer runs.
@PlayerLoop package final class EarlyDeaths {
    /// Crashes after which a start rests.
    private static let limit = 2
    /// Seconds after the restore in which a crash counts, and seconds of playback that end the count.
    private static let window = 10.0
    /// Name of the file.
    private nonisolated static let name = "early-deaths"

    /// Crashes in a row before this start.
    let count: Int
    /// The state directory; -1: it can't be opened. It stays open for the handler as long as the process. The file is
    /// closed: with a file open for writing, a disk cannot be remounted read-only.
    private let folder: Int32
    private var isNoted: Bool
    /// True if a client has requested playback.
    private var isAsked = false
    private let workers: Workers

    /// Reads the file of this directory and installs the handler. Call it before the restore.
    package init(_ loop: EventLoop, stateDirectory: String) {
        workers = Workers(loop, name: "state")
        folder = linux_open(stateDirectory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        var status = stat()
        let isThere = folder >= 0 && fstatat(folder, Self.name, &status, AT_SYMLINK_NOFOLLOW) == 0
        count = isThere ? Int(min(status.st_size, 1000)) : 0
        isNoted = count > 0
        if linux_note_faults(folder, Self.name) != 0 {
            Log.warning("cannot write the record of crashes: \(SystemError.words(errno))")
        }
    }

    /// True if this start rests.
    package var isPoisoned: Bool { count >= Self.limit }

    /// Reason why the start rests, for people.
    package var words: String {
        "the daemon crashed \(count) times within \(Int(clamping: Self.window)) seconds of its start; it opens no media "
            + "and searches for no pictures until the next play"
    }

    /// Starts the time in which a crash counts: all positions are restored.
    package func restored() { linux_note_faults_until(EventLoop.now.advanced(bySeconds: Self.window).nanoseconds) }

    /// Ends the rest of this start: a client requested playback.
    package func asked() { isAsked = true }

    /// Returns a function that receives each position of one player. It clears the count of crashes when that player
    /// has played for ten seconds.
    package func observer() -> @PlayerLoop (SavedPosition) -> Void {
        var since: MonotonicTime?
        return { [self] position in
            guard isNoted else { return }
            guard position.wish == .playing else {
                since = nil
                return
            }
            let now = EventLoop.now
            let began = since ?? now
            since = began
            guard now.seconds(since: began) >= Self.window else { return }
            isNoted = false
            let folder = folder
            workers.submit {
                unlinkat(folder, Self.name, 0)
            } _: { _ in
            }
        }
    }

    /// Clears the count at a normal end, unless the start rested to the end: then the media are as dangerous as before.
    package func ended() {
        guard isNoted, !isPoisoned || isAsked else { return }
        isNoted = false
        unlinkat(folder, Self.name, 0)
    }
}
