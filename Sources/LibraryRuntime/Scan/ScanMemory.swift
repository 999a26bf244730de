import CLinux
import Glibc
import LinuxSystem

/// Knowledge that lasts from one scan to the next. One scan at a time uses it.
///
/// A million tracks lie in nearly 200,000 folders, whose names take most of the memory of a library at rest. Between scans they
/// lie in a file without a name beside the database.
final class ScanMemory: @unchecked Sendable {
    // @unchecked: one scan at a time runs, on one thread.

    /// Folders that are watched; none while they lie in the file.
    var folders = WatchedFolders() {
        didSet { isStored = false }
    }
    /// Reasons for which roots are walked, by their places.
    var walked: [Int: String] = [:]
    /// Places of the roots that are away.
    private(set) var away: Set<Int> = []
    /// True: folders are watched for the return of roots.
    private(set) var awaits = false
    private var file: OwnedDescriptor?
    /// True: the file has the folders as they are.
    private var isStored = false
    private var isResting = false

    /// Fewer folders stay in memory.
    private static let many = 4096

    /// No folder is watched.
    init() {}

    /// Notes if a root is away.
    func setAway(_ root: Int, _ isAway: Bool) {
        if isAway { away.insert(root) } else { away.remove(root) }
    }

    /// Notes that folders are watched for the roots that are away now.
    func noteAwaited() { awaits = !away.isEmpty }

    /// Takes the folders back from the file. False: it can't be read; no folder is known any more, and all have to be walked.
    func wake() -> Bool {
        guard isResting, let file else { return true }
        isResting = false
        let next = folders.next
        guard let stored = WatchedFolders(readFrom: file.number) else {
            folders = WatchedFolders(first: next)
            return false
        }
        folders = stored
        isStored = true
        return true
    }

    /// Puts many folders into a file in this folder, and gives their memory back. Where no such file can be written they stay
    /// in memory.
    func rest(in folder: String) {
        guard !isResting, folders.count >= Self.many else { return }
        if !isStored {
            let made = linux_open_unnamed(folder)
            guard made >= 0 else { return }
            let new = OwnedDescriptor(made)
            guard folders.write(to: made) else { return }
            file = new
        }
        folders = WatchedFolders(first: folders.next)
        isResting = true
        linux_give_back_heap()
    }
}
