import CLinux
import Glibc
package import LinuxSystem
import NowPlaying
package import PlaybackEngine

/// Deaths of the daemon by its own fault, each within ten seconds of restoring its position: one byte each in a file of the
/// state directory. A start that follows two of them rests: it opens nothing until a client asks.
///
/// A handler writes the byte when the process dies by SIGSEGV, SIGILL, SIGBUS, SIGABRT, SIGTRAP or SIGFPE, and leaves the
/// signal its action from before. The time of the death decides: no timer runs.
@PlayerLoop package final class EarlyDeaths {
    /// Deaths after which a start rests.
    private static let limit = 2
    /// Seconds from restoring in which a death counts, and of play after which none does any more.
    private static let window = 10.0
    /// Name of the file.
    private nonisolated static let name = "early-deaths"

    /// Deaths in a row before this start.
    let count: Int
    /// The state directory; -1: it can't be opened. It stays open as long as the process, for the handler. The file itself is
    /// not: a disk that has a file open for writing can't be remounted read-only.
    private let folder: Int32
    private var isNoted: Bool
    /// True if a client has requested playback.
    private var isAsked = false
    private let workers: Workers

    /// Reads the file of this directory and begins to note: before anything is restored.
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

    /// True if this start opens nothing.
    package var isPoisoned: Bool { count >= Self.limit }

    /// Why it rests, for people.
    package var words: String {
        "the daemon crashed \(count) times within \(Int(clamping: Self.window)) seconds of its start; it opens no media "
            + "and searches for no pictures until the next play"
    }

    /// All positions are restored: the time runs in which a death counts.
    package func restored() { linux_note_faults_until(EventLoop.now.advanced(bySeconds: Self.window).nanoseconds) }

    /// A client asked for what rests.
    package func asked() { isAsked = true }

    /// Returns a function that receives each position of one player, and forgets the crashes when that player has played for
    /// ten seconds.
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

    /// The daemon ends as it was asked to: it lived. What rested to the end is as dangerous as before.
    package func ended() {
        guard isNoted, !isPoisoned || isAsked else { return }
        isNoted = false
        unlinkat(folder, Self.name, 0)
    }
}
