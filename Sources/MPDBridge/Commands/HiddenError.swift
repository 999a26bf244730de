import ControlProtocol

/// The error of the daemon that clients do not want to see any more. A pure value.
struct HiddenError {
    private var error: JSONValue? { didSet { changes += 1 } }
    /// Number of changes so far.
    private(set) var changes: Int64 = 0

    /// Nothing is hidden.
    init() {}

    /// Hides this error until an item fails again.
    mutating func hide(_ error: JSONValue?) { self.error = error }

    /// Shows the error of an item again: it is played once more.
    mutating func show(of item: Int64?) { if error?["itemId"]?.integerValue == item { error = nil } }

    /// True if this error is hidden. How often items failed in a row is not the error, nor is the uri, which ends with the item's
    /// place in the queue.
    func hides(_ other: JSONValue?) -> Bool {
        ["itemId", "status", "message"].allSatisfy { other?[$0] == error?[$0] }
    }
}
