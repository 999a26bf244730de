import NowPlaying

/// A fact about the last opened item that is not in its file. The search for it runs once for each item: a seek in the same
/// item must not wait for a disk. Used on the decode thread alone.
final class ItemMemory<Fact> {
    private var known: (id: ItemID, fact: Fact)?

    /// The fact about an item. `look` reads files; it is called for another item than the last, and if `isNew`.
    func fact(of id: ItemID, isNew: Bool = false, _ look: () -> Fact) -> Fact {
        if !isNew, let known, known.id == id { return known.fact }
        let fact = look()
        known = (id, fact)
        return fact
    }
}
