/// Texts that a reader has read and may need again. Bounded: a full part is emptied.
final class ReaderCache {
    /// A text and its tag.
    struct Value {
        var tag: TrackTag?
        var text: String
    }

    /// The part of a track in its set of tags.
    struct SharedTags {
        /// Number of the album; nil: the set is on none.
        var album: Int64?
        /// True if files with this set are marked as part of a compilation.
        var saysCompilation = false
        var tags: [TrackTag: [String]] = [:]
    }

    /// Texts of values.
    private(set) var values: [Int64: Value] = [:]
    /// Paths of folders.
    private(set) var folders: [Int64: [UInt8]] = [:]
    /// Formats of sound.
    private(set) var formats: [Int64: TrackFormat] = [:]
    /// Folders of the last filters, the latest at the end.
    private var selections: [(test: FilterTest, folders: KnownFolders)] = []
    /// The last list of values that was computed for a filter: the next request is likely its next page.
    private(set) var list: ComputedValues?
    /// Visible folders (nil: all), up to the folder with the number `last`.
    private(set) var visible: (last: Int64, folders: VisibleFolders?)?
    /// Counts of the visible tracks.
    private(set) var summary: TrackReader.Summary?

    /// Sets of tags, each with the tags of `choice`.
    private var sets: [Int64: SharedTags] = [:]
    private var choice = TagChoice.all

    private static let mostValues = 8192
    private static let mostSets = 256
    private static let mostSelections = 4
    /// Number of batches that removed rows, at the time of these texts.
    private var removed: Int64 = 0

    /// Empties the cache if rows were removed since: other rows may have their numbers.
    func follow(_ removed: Int64) {
        if removed != self.removed { removeAll() }
        self.removed = removed
    }

    /// Empties the cache.
    func removeAll() {
        values = [:]
        folders = [:]
        formats = [:]
        sets = [:]
        selections = []
        removeQuestions()
    }

    /// Drops the parts that depend on the visible folders.
    func removeQuestions() {
        list = nil
        visible = nil
        summary = nil
    }

    /// Keeps the visible folders; `last`: the highest number of a folder.
    func keep(visible folders: VisibleFolders?, last: Int64) { visible = (last, folders) }

    /// Keeps the counts of the visible tracks.
    func keep(_ summary: TrackReader.Summary) { self.summary = summary }

    /// Keeps a text.
    func add(_ value: Value, _ id: Int64) {
        if values.count >= Self.mostValues { values = [:] }
        values[id] = value
    }

    /// The set of tags with this number, with the tags of a choice; nil: it is not in the cache.
    func shared(_ id: Int64, _ choice: TagChoice) -> SharedTags? {
        if choice != self.choice {
            self.choice = choice
            sets = [:]
        }
        return sets[id]
    }

    /// Keeps a set of tags, with the tags of the last requested choice.
    func add(_ set: SharedTags, _ id: Int64) {
        if sets.count >= Self.mostSets { sets = [:] }
        sets[id] = set
    }

    /// Keeps a path.
    func add(folder path: [UInt8], _ id: Int64) {
        if folders.count >= 1024 { folders = [:] }
        folders[id] = path
    }

    /// The folders that pass a test; nil: they are not in the cache, or the library has new folders. `last`: the
    /// highest number of a folder.
    func folders(_ test: FilterTest, last: Int64) -> KnownFolders? {
        selections.last { $0.test == test && $0.folders.last == last }?.folders
    }

    /// Keeps the folders that pass a test.
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

    /// Keeps a list and drops the previous one.
    func keep(_ list: ComputedValues) { self.list = list }
}
