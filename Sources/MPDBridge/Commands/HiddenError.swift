import ControlProtocol

/// The daemon's error that clients have cleared. A pure value.
struct HiddenError {
    private var error: JSONValue? { didSet { changes += 1 } }
    /// Number of changes so far.
    private(set) var changes: Int64 = 0

    /// A value that hides no error.
    init() {}

    /// Hides this error until an item fails again.
    mutating func hide(_ error: JSONValue?) { self.error = error }

    /// Shows the error of an item again, as the item plays again.
    mutating func show(of item: Int64?) { if error?["itemId"]?.integerValue == item { error = nil } }

    /// True if this error is hidden. The comparison ignores the count of failed items, and the uri, which disappears when the
    /// item leaves the queue.
    func hides(_ other: JSONValue?) -> Bool {
        ["itemId", "status", "message"].allSatisfy { other?[$0] == error?[$0] }
    }
}
