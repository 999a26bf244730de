import NowPlaying

/// Chapters of the last opened item, from files beside it. The search runs once for each item: a seek in the same item
/// must not wait for a disk. Used on the decode thread alone.
final class ChapterMemory {
    private var known: (id: ItemID, chapters: [Chapter]?)?

    /// The chapters of an item; nil: none are known. `look` reads files and is called at most once for each item.
    func chapters(of id: ItemID, _ look: () -> [Chapter]?) -> [Chapter]? {
        if let known, known.id == id { return known.chapters }
        let chapters = look()
        known = (id, chapters)
        return chapters
    }
}
