import AudioCore
import LinuxSystem
package import NowPlaying

/// The queue, and the items in it.
extension Player {
    /// Entries above this number are freed on another thread.
    private static var manyEntries: Int { 4096 }

    /// The entries of a long queue that is about to lose them all: the caller ends them afterwards.
    var oldEntries: Farewell<EntryList>? { queue.count > Self.manyEntries ? Farewell(queue.entries) : nil }

    /// Inserts items into the queue at `index` (nil: the end) and returns their identities in order. Throws `queueFull`.
    package func insert(
        _ requests: [QueueRequest], at index: Int?, by: Originator
    ) throws(CommandRefusal) -> ClosedRange<Int64>? {
        try insert(EntryList(makeEntries(requests)), at: index, by: by)
    }

    /// Inserts new entries with consecutive ids at `index` (nil: the end), and returns their numbers. Throws
    /// `queueFull`.
    package func insert(
        _ entries: EntryList, at index: Int?, by: Originator
    ) throws(CommandRefusal) -> ClosedRange<Int64>? {
        guard queue.count + entries.count <= QueueLimit.items,
            queue.textBytes + entries.textBytes <= QueueLimit.textBytes
        else { throw .queueFull }
        let index = max(0, min(index ?? queue.count, queue.count))
        carryOut(decide { $0.insert(entries, at: index) }, nil, by: by)
        guard let first = entries.first, let last = entries.last else { return nil }
        return first.id.number...last.id.number
    }

    /// Index for an item that plays directly after the current one.
    package var indexForNext: Int {
        transport.current.flatMap { queue.index(of: $0) }.map { $0 + 1 } ?? 0
    }

    /// Removes items from the queue and ignores unknown ones. `answer` as for `perform`.
    package func remove(
        _ ids: [ItemID], by: Originator,
        _ answer: @escaping @PlayerLoop (Result<CommandOutcome, CommandRefusal>) -> Void
    ) {
        carryOut(decide { $0.remove(ids) }, Waiter(by: by, answer: answer))
    }

    /// Moves items to `index`, counted after their removal.
    package func move(_ ids: [ItemID], to index: Int, by: Originator) {
        carryOut(decide { $0.move(ids, to: index) }, nil, by: by)
    }

    /// Removes all items. `answer` as for `perform`.
    package func clear(by: Originator, _ answer: @escaping @PlayerLoop (Result<CommandOutcome, CommandRefusal>) -> Void)
    {
        let old = oldEntries
        carryOut(decide { $0.clear() }, Waiter(by: by, answer: answer))
        old?.end()
    }

    /// Shuffles the queue, or (not nil) these items among their indices. The current item comes first and continues.
    package func shuffle(_ ids: [ItemID]?, by: Originator) {
        var generator = SystemRandomNumberGenerator()
        carryOut(decide { $0.shuffle(ids, using: &generator) }, nil, by: by)
    }

    /// Gives items of the queue a priority in a shuffled order, from 0.
    package func prioritize(_ ids: [ItemID], _ priority: UInt8, by: Originator) {
        carryOut(decide { $0.prioritize(ids, priority) }, nil, by: by)
    }

    /// Sets metadata that a client gives an item; `isForeign`: it is of another user than the daemon's own. Throws
    /// `noSuchItem`, and `queueFull` if its texts are too long.
    package func update(
        _ id: ItemID, _ given: MediaMetadata, isForeign: Bool = false, by: Originator
    ) throws(CommandRefusal) {
        guard let entry = queue[id] else { throw .noSuchItem }
        let old = entry.details ?? ItemDetails()
        // Pictures that a foreign user once named together with others stay foreign.
        let isOwn = !isForeign && (old.hasOwnPictures || !old.given.namesPictures)
        let details = old.with(
            given: given.filled(from: old.given), hasOwnPictures: given.namesPictures ? isOwn : nil)
        guard queue.textBytes - old.textBytes + details.textBytes <= QueueLimit.textBytes else { throw .queueFull }
        let revision = queue.revision
        decide { $0.setDetails(details, of: id) }
        guard publisher.state.item?.id == id || publisher.state.upcoming?.itemID == id else {
            return queue.revision == revision ? keep() : publisher.publish(.queue, by: by)
        }
        let isShown = publisher.shown?.id == id
        let movesPosition = isShown && old.contentTime != details.contentTime
        if isShown { publisher.setDetails(details) }
        publisher.publish(
            .metadata, anchor: movesPosition && playout.pending == nil ? playout.mappedAnchor() : nil, by: by)
        if movesPosition { playout.schedule() }
    }

    /// Reads titles and durations of the listed items of these indices that are not known, once.
    package func listed(_ range: Range<Int>) { titles.listed(range) }

    /// Stops reads of files until `resumeTitles`.
    package func pauseTitles() { titles.pause() }

    /// Allows reads of the queue's files again.
    package func resumeTitles() { titles.resume() }

    // MARK: Facts about items

    /// Relation of an item's content to its file.
    func contentTime(of id: ItemID?) -> ContentTime { id.flatMap { queue[$0]?.details?.contentTime } ?? ContentTime() }

    /// Item that follows the shown one automatically; nil: none.
    func successor(ofShown id: ItemID) -> ItemID? { playout.decoding.successor(ofShown: id) }

    /// Index of the advertisement at the current position.
    package var advertisement: Int? { transport.wish == .stopped ? nil : publisher.state.anchor.ad?.index }

    /// Reason why the current item cannot be seeked; nil: it can, or this is unknown yet.
    package var seekObstacle: CommandObstacle? { advertisement == nil ? mediaObstacle : .advertisement }

    /// The same, but for advertisements.
    package var mediaObstacle: CommandObstacle? {
        guard let current = transport.current, let details = queue[current]?.details else { return nil }
        // An item that a client calls live counts as live.
        if details.found.isLiveStream == true || details.given.isLiveStream == true { return .liveStream }
        return details.isSeekable ? nil : .notSeekable
    }

    /// True if the current item is known to be a live stream.
    var currentIsLive: Bool {
        guard let current = transport.current else { return false }
        return queue[current]?.details?.metadata.isLiveStream == true
    }

    /// Number of times that the item began in this run of the daemon; old counts may be dropped.
    package func playCount(of id: ItemID) -> Int { publisher.playCount(of: id) }

    /// Known pictures of an item.
    package func artwork(of id: ItemID) -> [Artwork] { listeners.artworkOf?(id) ?? [] }

    // MARK: Facts kept elsewhere

    /// Publishes an item's pictures (`artworkOf` returns them) if the item is shown.
    package func artworkFound(for item: ItemID) {
        guard let shown = publisher.state.item, shown.id == item, shown.artwork != listeners.artworkOf?(item) ?? []
        else {
            return
        }
        publisher.publish(.metadata)
    }

    /// Publishes an item's feedback (`feedbackOf` returns it) if the item is shown and the feedback is set. A play count
    /// alone is published with the next event.
    package func feedbackFound(for item: ItemID) {
        let state = publisher.state
        guard let shown = state.item, shown.id == item, let feedback = listeners.feedbackOf?(state),
            feedback != shown.feedback, feedback.isSaid || state.cause == .snapshot
        else { return }
        publisher.publish(.metadata)
    }

    /// Publishes feedback from a client if the item is shown and the feedback is new.
    package func feedbackChanged(of item: ItemID, by: Originator) {
        let state = publisher.state
        guard let shown = state.item, shown.id == item, let feedback = listeners.feedbackOf?(state),
            feedback != shown.feedback
        else { return }
        publisher.publish(.feedback, by: by)
    }
}
