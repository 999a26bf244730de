import ControlProtocol
import LinuxSystem

/// State of a partition that the daemon does not have: the bridge keeps it while it runs.
@PlayerLoop final class PartitionNotes {
    /// The last loaded stored playlist; empty: there is none.
    private(set) var lastLoaded = ""
    /// Settings of MPD that have no effect here.
    private(set) var mixRamp = MixRamp()
    /// The error that clients have cleared.
    private(set) var hiddenError = HiddenError()

    /// The notes of a new partition.
    init() {}

    /// Records a loaded stored playlist; empty: the queue was cleared.
    func loaded(_ name: String) { lastLoaded = name }

    /// Sets the level of MixRamp, in decibels.
    func set(mixRampLevel level: Double) { mixRamp.level = level }

    /// Sets the delay of MixRamp, in seconds; not a number: off.
    func set(mixRampDelay delay: Double) { mixRamp.delay = delay }

    /// Hides this error of the daemon.
    func hide(_ error: JSONValue?) { hiddenError.hide(error) }

    /// Shows the error of an item again that clients have hidden.
    func showError(of item: Int64?) { hiddenError.show(of: item) }
}

/// Settings of MixRamp. They have no effect; clients read the values that they have set.
struct MixRamp: Equatable, Sendable {
    /// Decibels.
    var level = 0.0
    /// Seconds; not a number: off.
    var delay = Double.nan
}
