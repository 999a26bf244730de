/// A message of a WebSocket whose fragments arrive. Each of them costs memory until the end of the message, however short it is.
package struct ArrivingMessage: Equatable, Sendable {
    /// Number of its fragments so far.
    package private(set) var fragments = 0
    /// Bytes that its fragments have announced so far.
    package private(set) var bytes = 0

    /// Maximum fragments of a message.
    package static let maximumFragments = 256
    /// Bytes of memory that a fragment costs beside its content.
    package static let fragmentCost = 128

    /// No message.
    package init() {}

    /// Takes the head of a data frame. `isFirst`: it begins a message; `count`: bytes of its content.
    package mutating func take(isFirst: Bool, count: Int) {
        if isFirst { self = ArrivingMessage() }
        fragments += 1
        bytes = min(bytes + max(0, count), Int.max / 2)
    }

    /// Bytes of memory that the message holds, at most.
    package var cost: Int { bytes + fragments * Self.fragmentCost }
    /// True if it has too many fragments.
    package var hasTooManyFragments: Bool { fragments > Self.maximumFragments }
}
