import CLinux
import Glibc
import LinuxSystem

/// Data that lasts from one scan to the next. One scan at a time uses it.
///
/// A million tracks are in nearly 200,000 folders, whose names are most of the memory of an idle library. Between scans
/// they are in an unnamed file beside the database.
final class ScanMemory: @unchecked Sendable {
    // @unchecked: one scan at a time runs, on one thread.

    /// Watched folders; empty while they are in the file.
    private(set) var folders = WatchedFolders() {
        didSet { isStored = false }
    }
    /// Reasons why roots are walked, by their indices.
    private(set) var walked: [Int: String] = [:]
    /// Indices of the missing roots.
    private(set) var away: Set<Int> = []
    /// True: folders are watched for the return of roots.
    private(set) var awaits = false
    private var file: OwnedDescriptor?
    /// True: the file holds the present folders.
    private var isStored = false
    private var isResting = false

    /// Folders below this number stay in memory.
    private static let many = 4096

    /// No folder is watched.
    init() {}

    /// Adds a watched folder below another one, or a root (`parent` nil). Returns its number.
    func add(root: Int, parent: Int32?, name: [UInt8]) -> Int32 { folders.add(root: root, parent: parent, name: name) }

    /// Removes a folder and those below it. Returns their numbers.
    func remove(_ number: Int32) -> Set<Int32> { folders.remove(number) }

    /// Removes the folders of a root. Returns their numbers.
    func remove(root: Int) -> Set<Int32> { folders.remove(root: root) }

    /// Drops all folders; the number of the next one is `first`.
    func restart(at first: Int32) { folders = WatchedFolders(first: first) }

    /// Notes that a root is walked from now on, for this reason.
    func noteWalked(_ root: Int, _ reason: String) { walked[root] = reason }

    /// Notes that a root is missing or present.
    func setAway(_ root: Int, _ isAway: Bool) {
        if isAway { away.insert(root) } else { away.remove(root) }
    }

    /// Notes that folders are watched for the roots that are missing now.
    func noteAwaited() { awaits = !away.isEmpty }

    /// Reads the folders back from the file. False: it can't be read; no folder is known any more, and all must be
    /// walked.
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

    /// Moves many folders into a file in this folder, and releases their memory. If the file cannot be written, they
    /// stay in memory.
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
