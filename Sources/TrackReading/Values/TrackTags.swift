/// The tags of one track: several values of each name, in the order of the file. Every value is valid UTF-8 of 1 to
/// 4096 bytes without control characters.
package struct TrackTags: Equatable, Sendable {
    /// One value of one tag.
    package struct Entry: Equatable, Sendable {
        package let name: TagName
        package let value: String

        /// An entry, by its parts.
        package init(_ name: TagName, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// All values, in the order of the file.
    package private(set) var entries: [Entry] = []
    /// Names that have a value, as bits.
    private var present: (UInt64, UInt64) = (0, 0)
    private var bytes = 0

    /// Values of one name, at most.
    package static let maximumValues = 64
    /// Values in all, at most.
    package static let maximumEntries = 512
    /// Bytes of all values, at most.
    package static let maximumBytes = 256 << 10

    /// No tags.
    package init() {}

    /// The values of a name, in order.
    package subscript(name: TagName) -> [String] {
        has(name) ? entries.filter { $0.name == name }.map(\.value) : []
    }

    /// The first value of a name.
    package func first(_ name: TagName) -> String? { has(name) ? entries.first { $0.name == name }?.value : nil }

    /// True if the name has a value.
    package func has(_ name: TagName) -> Bool {
        let bit = name.bit
        return bit < 64 ? present.0 >> bit & 1 == 1 : present.1 >> (bit - 64) & 1 == 1
    }

    /// The artists one by one.
    package var singleArtists: [String] { has(.artists) ? self[.artists] : self[.artist] }
    /// The artists of the album one by one.
    package var singleAlbumArtists: [String] { has(.albumArtists) ? self[.albumArtists] : self[.albumArtist] }

    /// Adds a value, unless a limit is reached.
    package mutating func add(_ name: TagName, _ value: String) {
        let length = value.utf8.count
        guard length > 0, entries.count < Self.maximumEntries, bytes + length <= Self.maximumBytes else { return }
        let bit = name.bit
        if has(name) {
            guard entries.count < Self.maximumValues || self[name].count < Self.maximumValues else { return }
        } else if bit < 64 {
            present.0 |= 1 << bit
        } else {
            present.1 |= 1 << (bit - 64)
        }
        if entries.isEmpty { entries.reserveCapacity(24) }
        entries.append(Entry(name, value))
        bytes += length
    }

    /// Adds the values of names that are missing here.
    package mutating func fill(from other: TrackTags) {
        let own = self
        for entry in other.entries where !own.has(entry.name) { add(entry.name, entry.value) }
    }

    /// Changes the name of all values of one name.
    mutating func rename(_ name: TagName, to other: TagName) {
        var renamed = TrackTags()
        for entry in entries { renamed.add(entry.name == name ? other : entry.name, entry.value) }
        self = renamed
    }

    package static func == (a: Self, b: Self) -> Bool { a.entries == b.entries }
}

extension TagName {
    /// The number of this name among all names.
    ///
    /// An enumeration without values is stored as a byte with the number of its case; its hash would be the slower hash
    /// of its name.
    fileprivate var bit: UInt64 { withUnsafeBytes(of: self) { UInt64($0[0] & 127) } }
}
