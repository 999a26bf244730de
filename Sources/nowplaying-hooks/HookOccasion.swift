import NowPlaying
import NowPlayingClient

/// An occasion for hooks, and the values for their environment.
struct HookOccasion {
    /// The name of a key event, or of an event of ours: `active-began`.
    var event: String
    /// All events since the last run of the hook, in their order: several if the hook was too slow.
    var events: [String]
    /// The state of the event, or the last known one.
    var state: StateView
    /// True from the first sound until the quiet time has passed without sound.
    var isActive: Bool
    /// The command that sets the changed mode; nil: no mode changed.
    var changedMode: RemoteCommand?

    /// An occasion of one event.
    init(
        _ event: String, _ state: StateView, isActive: Bool, events: [String]? = nil, changedMode: RemoteCommand? = nil
    ) {
        self.event = event
        self.changedMode = changedMode
        self.state = state
        self.isActive = isActive
        self.events = events ?? [event]
    }

    /// This occasion with the events of an earlier one for which no hook ran.
    func replacing(_ earlier: HookOccasion) -> HookOccasion {
        var result = self
        result.events = earlier.events.filter { !events.contains($0) } + events
        return result
    }
}
