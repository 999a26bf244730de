import Synchronization

/// The items of the lists that were read last, so that the pages of a long list read its file once. Any thread.
final class RecentLists: Sendable {
    /// A list at one state of its file.
    struct Key: Hashable {
        /// Path of the file, or name of the list.
        let name: String
        /// A number that differs after each change of the file.
        let version: Int64
    }

    private struct Entry {
        let key: Key
        let items: [ListItem]
        let bytes: Int
    }

    /// Bytes of all of them, estimated, at most.
    private static let mostBytes = 32 << 20
    /// Bytes of an item without its texts.
    private static let bytesOfItem = 96
    /// Lists with fewer items are read again.
    private static let fewItems = 500

    /// The last used one at the end.
    private let entries = Mutex<[Entry]>([])

    /// No lists.
    init() {}

    /// The items of a list; nil: they are not known.
    func items(_ key: Key) -> [ListItem]? {
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
            let entry = entries.remove(at: index)
            entries.append(entry)
            return entry.items
        }
    }

    /// Keeps the items of a list, if it is long, in place of those that were used before.
    func keep(_ items: [ListItem], _ key: Key) {
        guard items.count >= Self.fewItems else { return }
        let bytes = items.reduce(0) { $0 + Self.bytesOfItem + $1.uri.utf8.count + ($1.title?.utf8.count ?? 0) }
        guard bytes <= Self.mostBytes else { return }
        let dropped = entries.withLock { entries in
            let before = entries
            entries.removeAll { $0.key.name == key.name }
            entries.append(Entry(key: key, items: items, bytes: bytes))
            while entries.reduce(0, { $0 + $1.bytes }) > Self.mostBytes { entries.removeFirst() }
            return before
        }
        // Freed outside of the lock, which others wait for.
        withExtendedLifetime(dropped) {}
    }

    /// Forgets all lists.
    func clear() {
        let dropped = entries.withLock { entries in
            defer { entries = [] }
            return entries
        }
        withExtendedLifetime(dropped) {}
    }
}
