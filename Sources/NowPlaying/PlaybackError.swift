/// Kind of a playback error.
package enum FaultCode: String, Sendable, CaseIterable {
    /// Missing, refused or forbidden.
    case unavailable
    /// The content has no supported format.
    case notRecognised
    /// The content is broken, or exceeds the limits.
    case broken
    /// The medium or connection was lost.
    case lost
    /// This machine reaches no network.
    case noNetwork
    /// The address fails.
    case unreachable
    /// Earlier runs of the daemon crashed at the item.
    case crashed
}

/// A run of consecutive items that could not be played, or an item that broke off.
package struct PlaybackError: Equatable, Sendable {
    package var itemID: ItemID
    package var uri: String
    /// Value of the field `status`: `noSuchContent`.
    package var status: String
    /// Text for people, without control characters.
    package var message: String
    /// Items in the run so far.
    package var count: Int
    package var code: FaultCode
    /// Seconds into the item at which it broke off; nil: it did not begin.
    package var position: Double?

    /// An error, by its parts.
    package init(
        itemID: ItemID, uri: String, status: String, message: String, count: Int, code: FaultCode = .unavailable,
        position: Double? = nil
    ) {
        self.code = code
        self.position = position
        self.itemID = itemID
        self.uri = uri
        self.status = status
        self.message = message
        self.count = count
    }
}
