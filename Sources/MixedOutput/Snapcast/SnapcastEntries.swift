import AudioCore
import Synchronization

/// Our entries in the lists of clients of servers that did not delete them, as they hung. Each would stay there as a room, so
/// the next request to its server deletes it. For any thread.
final class SnapcastEntries: Sendable {
    private struct Entry {
        let address: SnapcastAddress
        let name: String
        /// Answers of the server that it has no such entry.
        var misses = 0
    }

    /// Those of this process.
    static let ours = SnapcastEntries()

    private let left = Mutex<[Entry]>([])

    /// Answers after which an entry is no longer asked for: a server that ended has forgotten it.
    private static let maximumMisses = 4
    private static let maximumCount = 16

    /// Deletes an entry of a server, and those that are left there. `delete` asks the server, and returns false if it has no
    /// such entry, which may still come, and nil if it does not answer: then the rest waits for the next time.
    func delete(_ name: String, at address: SnapcastAddress, by delete: (String) -> Bool?) {
        let entries = left.withLock { left in
            let found = left.filter { $0.address == address }
            left.removeAll { $0.address == address }
            return found + [Entry(address: address, name: name)]
        }
        var kept: [Entry] = []
        var answers = true
        for var entry in entries {
            let isDeleted = answers ? delete(entry.name) : nil
            answers = isDeleted != nil
            if isDeleted == false { entry.misses += 1 }
            if isDeleted != true, entry.misses < Self.maximumMisses { kept.append(entry) }
        }
        left.withLock { $0 = Array(($0 + kept).suffix(Self.maximumCount)) }
    }
}
