/// What the tags of a file say, by the names that Vorbis comments have for it, in upper case: the one language into which
/// the tags of all formats are brought.
struct TagFields {
    /// Values by name, in the order of the file.
    private(set) var values: [String: [String]] = [:]

    private static let maximumValuesPerName = 32
    /// Longest name that is of use.
    static let maximumNameBytes = 48

    /// Whether there is anything.
    var isEmpty: Bool { values.isEmpty }

    /// The first value of this name.
    func first(_ name: String) -> String? { values[name]?.first }

    /// Adds a value, unless it is empty, the name is of no use, or there are too many already.
    mutating func add(_ name: String, _ text: String?) {
        guard let text, TagFields.knownNames.contains(name),
            values[name, default: []].count < Self.maximumValuesPerName
        else { return }
        values[name, default: []].append(text)
    }

    /// Takes over what `other` has of names that are missing here.
    mutating func fill(from other: TagFields) { values.merge(other.values) { own, _ in own } }
}
