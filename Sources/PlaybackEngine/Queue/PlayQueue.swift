package import NowPlaying

/// The ordered list of items. A pure value. Every change of the list increments its `version`, every visible change its
/// `revision`.
package struct PlayQueue: Sendable {
    /// Entries in order.
    package private(set) var entries = EntryList()
    /// Incremented by every change of the entries or their order.
    package private(set) var version = 0
    /// Priorities in a shuffled order, of the items that have one above 0.
    package private(set) var priorities: [ItemID: UInt8] = [:]
    /// The last visible changes.
    package private(set) var history = QueueHistory()
    /// Changes since `takeEdits`; nil: not recorded.
    private var edits: [QueueEdit]?

    /// An empty queue.
    package init() {}

    /// A queue at this version.
    package init(_ entries: EntryList, version: Int) {
        self.entries = entries
        self.version = version
    }

    /// Records every change for `takeEdits` from now on.
    package mutating func recordEdits() { edits = edits ?? [] }

    /// Changes since the last call, in order. Applied to the queue of that time, they give this one.
    package mutating func takeEdits() -> [QueueEdit] {
        guard edits?.isEmpty == false else { return [] }
        defer { edits = [] }
        return edits ?? []
    }

    /// Repeats a recorded change of another queue.
    package mutating func apply(_ edit: QueueEdit) {
        switch edit {
        case .insert(let new, let index): insert(new, at: max(0, min(index, count)))
        case .remove(let ids): remove(Set(ids))
        case .move(let ids, let index): move(ids, to: index)
        case .clear: clear()
        case .order(let ids): order(ids)
        case .rearrange(let indices, let ids): rearrange(indices, ids)
        case .details(let id, let details): setDetails(details, of: id)
        case .prioritize(let ids, let priority): prioritize(ids, priority)
        }
    }

    /// Revisions that a new run of the daemon skips: more than a power cut can lose.
    private static let leftOut = 1000

    /// Drops the changes of an earlier run of the daemon; `saved`: its last saved revision. No revision is used twice,
    /// although that run may have had later ones.
    package mutating func beginRun(after saved: Int) {
        let last = max(saved, revision)
        history = QueueHistory(revision: last == 0 ? 0 : last.addingClamped(Self.leftOut))
    }

    /// Renumbers the entries with these ids.
    package mutating func renumber(_ numbers: [ItemID: ItemID]) {
        entries = EntryList(
            entries.lazy.map { QueueEntry(id: numbers[$0.id] ?? $0.id, source: $0.source, details: $0.details) })
        version += 1
        beginRun(after: revision)
    }

    /// Incremented by every visible change: those of `version`, and other metadata, durations and formats.
    package var revision: Int { history.revision }
    package var count: Int { entries.count }
    package var isEmpty: Bool { entries.isEmpty }
    /// Size of the texts, paths and addresses of all entries in bytes.
    package var textBytes: Int { entries.textBytes }

    /// Index of an entry, from 0. Takes nearly constant time while ids ascend, linear time at worst.
    package func index(of id: ItemID) -> Int? { entries.index(of: id) }

    /// Entry with this identity.
    package subscript(id: ItemID) -> QueueEntry? { index(of: id).map { entries[$0] } }

    /// Successor in the queue's order; nil after the last one, or if `id` is not in the queue.
    package func next(after id: ItemID) -> ItemID? {
        index(of: id).flatMap { $0 + 1 < entries.count ? entries[$0 + 1].id : nil }
    }

    /// Predecessor in the queue's order; nil before the first one, or if `id` is not in the queue.
    package func previous(before id: ItemID) -> ItemID? {
        index(of: id).flatMap { $0 > 0 ? entries[$0 - 1].id : nil }
    }

    /// Inserts entries at `index` (0…count).
    package mutating func insert(_ new: some Collection<QueueEntry>, at index: Int) {
        insert(EntryList(new), at: index)
    }

    /// Inserts entries at `index` (0…count). The longest list costs about as much as a short one.
    package mutating func insert(_ new: EntryList, at index: Int) {
        guard !new.isEmpty else { return }
        entries.insert(new, at: index)
        version += 1
        note(new.count) { .insert(new.map(\.id), at: index) }
        edits?.append(.insert(new, at: index))
    }

    /// Adds a change of `count` items to the history.
    private mutating func note(_ count: Int, _ change: () -> QueueChange) {
        if count > QueueHistory.answeredIDs { history.addUnnamed() } else { history.add(change()) }
    }

    /// Removes entries and ignores those that are not in the queue.
    package mutating func remove(_ ids: Set<ItemID>) {
        let gone = takeOut(ids)
        guard !gone.isEmpty else { return }
        if !priorities.isEmpty { for id in gone { priorities[id] = nil } }
        version += 1
        note(gone.count) { .remove(gone) }
        edits?.append(.remove(Array(ids)))
    }

    /// Removes entries and returns them. A few are looked up one by one: the entries after them only move, which in a
    /// long queue costs a hundredth of a test of each entry.
    @discardableResult
    private mutating func takeOut(_ ids: Set<ItemID>) -> [ItemID] {
        var gone: [ItemID] = []
        guard ids.count <= 8 else { return entries.remove(ids).map(\.id) }
        for index in ids.compactMap({ index(of: $0) }).sorted(by: >) { gone.append(entries.remove(at: index).id) }
        return gone
    }

    /// Moves entries, in the order given, to `index`, counted after their removal. The first occurrence of a repeated entry
    /// counts.
    package mutating func move(_ ids: [ItemID], to index: Int) {
        let ids = Self.distinct(ids)
        let chosen = ids.compactMap { self[$0] }
        guard !chosen.isEmpty else { return }
        takeOut(Set(ids))
        entries.insert(EntryList(chosen), at: max(0, min(index, entries.count)))
        version += 1
        history.add(.move(chosen.map(\.id), to: index))
        edits?.append(.move(ids, to: index))
    }

    /// Ids without repetitions, each at its first occurrence.
    package static func distinct(_ ids: [ItemID]) -> [ItemID] {
        guard ids.count > 1 else { return ids }
        var seen: Set<ItemID> = []
        return ids.filter { seen.insert($0).inserted }
    }

    /// Removes all entries.
    package mutating func clear() {
        guard !entries.isEmpty else { return }
        entries = EntryList()
        priorities = [:]
        version += 1
        history.add(.clear)
        edits?.append(.clear)
    }

    /// Shuffles the entries, or (not nil) these among their indices; `first` (if it is one of them) comes first.
    package mutating func shuffle(
        _ ids: [ItemID]? = nil, keepingFirst first: ItemID?, using generator: inout some RandomNumberGenerator
    ) {
        if let ids { return shuffle(only: Set(ids), keepingFirst: first, using: &generator) }
        guard entries.count > 1 else { return }
        var shuffled = ContiguousArray(entries)
        shuffled.shuffle(using: &generator)
        if let first, let index = shuffled.firstIndex(where: { $0.id == first }) { shuffled.swapAt(0, index) }
        entries = EntryList(shuffled)
        version += 1
        history.add(.order)
        edits?.append(.order(shuffled.map(\.id)))
    }

    private mutating func shuffle(
        only ids: Set<ItemID>, keepingFirst first: ItemID?, using generator: inout some RandomNumberGenerator
    ) {
        let indices = ids.compactMap { index(of: $0) }.sorted()
        guard indices.count > 1 else { return }
        var chosen = indices.map { entries[$0] }
        chosen.shuffle(using: &generator)
        if let index = chosen.firstIndex(where: { $0.id == first }) { chosen.swapAt(0, index) }
        entries.replace(indices, with: chosen)
        version += 1
        history.add(.order)
        edits?.append(.rearrange(indices, chosen.map(\.id)))
    }

    /// Puts the entries into this order; unnamed ones come last.
    private mutating func order(_ ids: [ItemID]) {
        let ranks = Dictionary(ids.enumerated().lazy.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        var ranked: [QueueEntry?] = Array(repeating: nil, count: ids.count)
        var others: [QueueEntry] = []
        for entry in entries {
            if let rank = ranks[entry.id] { ranked[rank] = entry } else { others.append(entry) }
        }
        entries = EntryList(ranked.lazy.compactMap(\.self))
        entries.append(contentsOf: others)
        version += 1
        history.add(.order)
    }

    /// Moves the entries with these ids to these indices; unknown ones are ignored.
    private mutating func rearrange(_ indices: [Int], _ ids: [ItemID]) {
        let found = Dictionary(ids.compactMap { id in self[id].map { (id, $0) } }, uniquingKeysWith: { one, _ in one })
        guard indices.count == ids.count, found.count == ids.count, zip(indices, indices.dropFirst()).allSatisfy(<),
            indices.allSatisfy(entries.indices.contains), Set(indices.map { entries[$0].id }) == Set(ids)
        else { return }
        entries.replace(indices, with: ids.compactMap { found[$0] })
        version += 1
        history.add(.order)
    }

    /// Gives items of the queue a priority. False: they already have it.
    @discardableResult
    package mutating func prioritize(_ ids: [ItemID], _ priority: UInt8) -> Bool {
        let changed = ids.filter { (priorities[$0] ?? 0) != priority }
        guard !changed.isEmpty else { return false }
        for id in changed { priorities[id] = priority == 0 ? nil : priority }
        history.add(.update(changed))
        edits?.append(.prioritize(changed, priority))
        return true
    }

    /// Replaces the details of an entry. True if it is in the queue.
    @discardableResult
    package mutating func setDetails(_ details: ItemDetails, of id: ItemID) -> Bool {
        guard let index = index(of: id) else { return false }
        let isVisible = !details.isShown(as: entries[index].details ?? .unknown)
        entries.setDetails(details, at: index)
        if isVisible { history.add(.update([id])) }
        edits?.append(.details(id, details))
        return true
    }

    /// Replaces the details of entries with those read from their files, as one change. They are not recorded: a file
    /// can be read again. Returns the entries with visible changes.
    package mutating func setRead(_ new: [(id: ItemID, details: ItemDetails)]) -> [ItemID] {
        var visible: [ItemID] = []
        for (id, details) in new {
            guard let index = index(of: id) else { continue }
            let bytes = details.textBytes - (entries[index].details?.textBytes ?? 0)
            guard textBytes + bytes <= QueueLimit.textBytes else { continue }
            if !details.isShown(as: entries[index].details ?? .unknown) { visible.append(id) }
            entries.setDetails(details, at: index)
        }
        if !visible.isEmpty { history.add(.update(visible)) }
        return visible
    }
}
