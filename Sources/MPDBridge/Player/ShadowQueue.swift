import ControlProtocol

/// The ids of the daemon's queue in their order, and the latest changes.
struct ShadowQueue {
    /// The ids, by index.
    private(set) var ids: [Int32] = []
    /// The daemon's revision of this copy.
    private(set) var revision: Int64 = 0
    /// Version for clients. It ascends across all queues that the partition shows.
    private(set) var version: Int64 = 0
    /// Changes in ascending order of their versions.
    private var changes: [Change] = []
    /// Changes before this version are unknown.
    private var begin: Int64 = 0

    /// Change that led to one version.
    private enum Change {
        /// All items from this index on may differ.
        case from(Int, version: Int64)
        /// The fields of an item have changed.
        case facts(Int32, version: Int64)

        var version: Int64 {
            switch self {
            case .from(_, let version), .facts(_, let version): version
            }
        }
    }

    /// Maximum number of remembered changes.
    private static let maximumChanges = 4096

    /// An empty queue.
    init() {}

    /// A queue from a listing. `earlier`: the previous version for clients.
    init(ids: [Int32], revision: Int64, earlier: Int64 = 0) {
        self.ids = ids
        self.revision = revision
        version = max(revision, earlier + 1)
        begin = version
    }

    /// Index of an item; nil: the item is not in the queue.
    func index(of id: Int32) -> Int? { ids.firstIndex(of: id) }

    /// Applies edits of the daemon up to a revision; false: they are invalid, or the order is now unknown.
    mutating func apply(_ edits: [JSONValue], to revision: Int64) -> Bool {
        let version = self.version + max(1, revision - self.revision)
        for edit in edits {
            guard let members = edit.objectValue?.members, members.count == 1, let member = members.first,
                apply(member.name, member.value, version)
            else { return false }
        }
        self.revision = revision
        self.version = version
        if changes.count > Self.maximumChanges {
            let kept = changes.suffix(Self.maximumChanges / 2)
            begin = changes[changes.count - kept.count - 1].version
            changes = Array(kept)
        }
        return true
    }

    private mutating func apply(_ name: String, _ body: JSONValue, _ version: Int64) -> Bool {
        let named = (body["ids"]?.arrayValue ?? []).compactMap { $0.integerValue.flatMap(Int32.init(exactly:)) }
        switch name {
        case "insert":
            let index = min(body["at"]?.integerValue.flatMap(Int.init(exactly:)) ?? ids.count, ids.count)
            guard index >= 0 else { return false }
            ids.insert(contentsOf: named, at: index)
            changes.append(.from(index, version: version))
        case "remove":
            let set = Set(named)
            guard let first = ids.firstIndex(where: set.contains) else { return named.isEmpty }
            ids.removeAll(where: set.contains)
            changes.append(.from(first, version: version))
        case "move":
            let set = Set(named)
            let first = ids.firstIndex(where: set.contains) ?? ids.count
            ids.removeAll(where: set.contains)
            let index = min(body["to"]?.integerValue.flatMap(Int.init(exactly:)) ?? ids.count, ids.count)
            guard index >= 0 else { return false }
            ids.insert(contentsOf: named, at: index)
            changes.append(.from(min(first, index), version: version))
        case "update": changes += named.map { .facts($0, version: version) }
        case "clear":
            ids = []
            changes.append(.from(0, version: version))
        case _: return false
        }
        return true
    }

    /// Items whose fields have changed since a version; nil: these are unknown.
    func factsChanged(since: Int64) -> Set<Int32>? {
        guard since >= begin, since <= version else { return nil }
        var facts = Set<Int32>()
        for change in changes.reversed() {
            guard change.version > since else { break }
            switch change {
            case .from: break
            case .facts(let id, _): facts.insert(id)
            }
        }
        return facts
    }

    /// Indexes of items that may have changed since a version, in ascending order; nil: all.
    func changed(since: Int64) -> [Int]? {
        guard since >= begin, since <= version else { return nil }
        var first = ids.count
        var facts = Set<Int32>()
        for change in changes.reversed() {
            guard change.version > since else { break }
            switch change {
            case .from(let index, _): first = min(first, index)
            case .facts(let id, _): facts.insert(id)
            }
        }
        let before = facts.isEmpty ? [] : ids[..<first].indices.filter { facts.contains(ids[$0]) }
        return before + Array(first..<ids.count)
    }
}

extension ShadowQueue {
    /// A version of the queue for MPD's clients: from 1 to 2^31 − 1, with wrap-around.
    static func clientVersion(_ version: Int64) -> Int64 { (max(1, version) - 1) % Int64(Int32.max) + 1 }
}
