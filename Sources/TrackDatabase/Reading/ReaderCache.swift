/// Texts that a reader has read and may need again. Bounded: each part begins anew when it is full.
final class ReaderCache {
    /// A text and its tag.
    struct Value {
        var tag: TrackTag?
        var text: String
    }

    /// The part of a track that its set of tags has.
    struct SharedTags {
        /// Number of the album; nil: the set is on none.
        var album: Int64?
        /// Files with this set say that they are part of a compilation.
        var saysCompilation = false
        var tags: [TrackTag: [String]] = [:]
    }

    /// Texts of values.
    private(set) var values: [Int64: Value] = [:]
    /// Paths of folders.
    private(set) var folders: [Int64: [UInt8]] = [:]
    /// Formats of sound.
    private(set) var formats: [Int64: TrackFormat] = [:]
    /// Folders of the last filters, the last of them at the end.
    private var selections: [(test: FilterTest, folders: KnownFolders)] = []
    /// The last list of values that was computed for a filter, whose next page is likely to be asked for.
    private(set) var list: ComputedValues?
    /// Folders that are shown, nil for all, as of the folder with the number `last`.
    private(set) var visible: (last: Int64, folders: VisibleFolders?)?
    /// Counts of what is shown.
    private(set) var summary: TrackReader.Summary?

    /// Sets of tags, each with the tags of `choice`.
    private var sets: [Int64: SharedTags] = [:]
    private var choice = TagChoice.all

    private static let mostValues = 8192
    private static let mostSets = 256
    private static let mostSelections = 4
    /// Counts the batches that removed rows, as of these texts.
    private var removed: Int64 = 0

    /// Forgets all if rows were removed since: other rows may have their numbers.
    func follow(_ removed: Int64) {
        if removed != self.removed { removeAll() }
        self.removed = removed
    }

    /// Forgets all.
    func removeAll() {
        values = [:]
        folders = [:]
        formats = [:]
        sets = [:]
        selections = []
        removeQuestions()
    }

    /// Forgets what depends on the folders that are shown.
    func removeQuestions() {
        list = nil
        visible = nil
        summary = nil
    }

    /// Keeps the folders that are shown; `last` is the highest number of one.
    func keep(visible folders: VisibleFolders?, last: Int64) { visible = (last, folders) }

    /// Keeps the counts of what is shown.
    func keep(_ summary: TrackReader.Summary) { self.summary = summary }

    /// Keeps a text.
    func add(_ value: Value, _ id: Int64) {
        if values.count >= Self.mostValues { values = [:] }
        values[id] = value
    }

    /// The set of tags with this number, with the tags of a choice; nil: it is not kept.
    func shared(_ id: Int64, _ choice: TagChoice) -> SharedTags? {
        if choice != self.choice {
            self.choice = choice
            sets = [:]
        }
        return sets[id]
    }

    /// Keeps a set of tags, with the tags of the choice that was asked for last.
    func add(_ set: SharedTags, _ id: Int64) {
        if sets.count >= Self.mostSets { sets = [:] }
        sets[id] = set
    }

    /// Keeps a path.
    func add(folder path: [UInt8], _ id: Int64) {
        if folders.count >= 1024 { folders = [:] }
        folders[id] = path
    }

    /// The folders that a test lets through; nil: they are not kept, or there are others since. `last` is the highest number
    /// of a folder.
    func folders(_ test: FilterTest, last: Int64) -> KnownFolders? {
        selections.last { $0.test == test && $0.folders.last == last }?.folders
    }

    /// Keeps the folders that a test lets through.
    func keep(_ folders: KnownFolders, _ test: FilterTest) {
        selections.removeAll { $0.test == test }
        if selections.count >= Self.mostSelections { selections.removeFirst() }
        selections.append((test, folders))
    }

    /// Keeps a format.
    func add(_ format: TrackFormat, _ id: Int64) {
        if formats.count >= 1024 { formats = [:] }
        formats[id] = format
    }

    /// Keeps a list in place of the one before.
    func keep(_ list: ComputedValues) { self.list = list }
}
