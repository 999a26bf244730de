import NowPlaying
import NowPlayingClient

/// An occasion for hooks, and the values for their environment.
struct HookOccasion {
    /// A key event's name, or one of ours: `active-began`.
    var event: String
    /// All events since the hook was run last, in their order: more than one where it was too slow.
    var events: [String]
    /// The state that came with it, or the last one known.
    var state: StateView
    /// True if there is sound, or was a moment ago.
    var isActive: Bool
    /// The command that sets the mode which changed; nil: none did.
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

    /// This one in the place of an earlier one that no hook has seen.
    func replacing(_ earlier: HookOccasion) -> HookOccasion {
        var result = self
        result.events = earlier.events.filter { !events.contains($0) } + events
        return result
    }
}
