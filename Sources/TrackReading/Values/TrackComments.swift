/// A field of a file's tags by its name in the file.
package struct TrackComment: Equatable, Sendable {
    /// Valid UTF-8 of 1 to 256 bytes without control characters.
    package let name: String
    /// The same of 1 to 4096 bytes.
    package let value: String

    /// Bytes of a name, at most.
    package static let longestName = 256

    /// A field, by its parts.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// All fields of a file's tags, in the order of the file.
struct TrackComments {
    private(set) var entries: [TrackComment] = []
    /// Tags that are among them.
    private var known: Set<TagName> = []
    private var bytes = 0

    /// Fields, at most.
    static let maximumEntries = 512
    /// Bytes of all names and values, at most.
    private static let maximumBytes = 128 << 10

    /// Adds a field unless a limit is reached. `tag`: the meaning of its name; nil: none.
    mutating func add(_ name: String, _ value: String, _ tag: TagName?) {
        let length = name.utf8.count + value.utf8.count
        guard (1...TrackComment.longestName).contains(name.utf8.count), !value.isEmpty,
            entries.count < Self.maximumEntries, bytes + length <= Self.maximumBytes
        else { return }
        entries.append(TrackComment(name, value))
        bytes += length
        if let tag { known.insert(tag) }
    }

    /// Adds the fields of another tag of the file that are missing here.
    mutating func add(_ other: TrackComments) {
        let own = entries
        for entry in other.entries where !own.contains(entry) { add(entry.name, entry.value, nil) }
        known.formUnion(other.known)
    }

    /// All fields, and the tags for which the format has no names.
    func completed(with tags: TrackTags) -> [TrackComment] {
        var result = self
        for entry in tags.entries where !known.contains(entry.name) {
            guard let name = FieldNames.name(of: entry.name) else { continue }
            result.add(name, entry.value, nil)
        }
        return result.entries
    }
}
