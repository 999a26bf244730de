import NowPlayingClient

/// Why hooks are run, and what they are told.
struct HookOccasion {
    /// A key event's name, or one of ours: `active-began`.
    var event: String
    /// All events since the hook was run last, in their order: more than one where it was too slow.
    var events: [String]
    /// The state that came with it, or the last one known.
    var state: StateView
    /// Whether sound is on, or was until a moment ago.
    var isActive: Bool
    /// Whether a change of modes was one of what is repeated.
    var repeatChanged: Bool

    /// An occasion of one event.
    init(_ event: String, _ state: StateView, isActive: Bool, events: [String]? = nil, repeatChanged: Bool = false) {
        self.event = event
        self.repeatChanged = repeatChanged
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
