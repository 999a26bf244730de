/// Rights of a connection in MPD's protocol.
package struct Permissions: OptionSet, Hashable, Sendable {
    /// One bit for each right.
    package let rawValue: UInt8

    /// Rights, by their bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Read states, the queue and the library.
    package static let read = Permissions(rawValue: 1)
    /// Add items to the queue.
    package static let add = Permissions(rawValue: 2)
    /// Control playback, modes and the order of the queue.
    package static let player = Permissions(rawValue: 4)
    /// Change stored playlists, messages and updates.
    package static let control = Permissions(rawValue: 8)
    /// Change outputs and stickers.
    package static let admin = Permissions(rawValue: 16)

    private static let names: [(String, Permissions)] = [
        ("read", .read), ("add", .add), ("player", .player), ("control", .control), ("admin", .admin),
    ]

    /// Rights of a list of names with commas between them, as `read,add`; nil: a name is unknown.
    package init?(_ names: String) {
        self = []
        guard !names.isEmpty, names != "none" else { return }
        for name in names.split(separator: ",", omittingEmptySubsequences: false) {
            guard let right = Self.names.first(where: { $0.0 == name }) else { return nil }
            insert(right.1)
        }
    }
}
