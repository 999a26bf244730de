/// Repeat mode; raw values are the names on the wire.
package enum RepeatMode: String, Sendable, CaseIterable {
    /// Nothing: play ends.
    case off
    /// The same item again and again; next and previous still move.
    case one
    /// The queue from its beginning.
    case all
}

/// In which order the queue is played; raw values are the words on the wire.
package enum ShuffleMode: String, Sendable, CaseIterable {
    /// As it stands.
    case off
    /// At random.
    case items
    /// Albums at random, each of them whole and in its order.
    case collections
}
