import NowPlaying
import PlaybackEngine

/// The place and the queue of an earlier run.
extension PlayerMethods {
    /// Takes up where an earlier run stood, and begins to keep what happens. After `deaths` it rests: it comes up paused, opens
    /// no media and searches no pictures until a client plays or goes to another item.
    func restore(_ found: StateStore.Found, _ policy: ResumePolicy, _ deaths: EarlyDeaths) {
        centre.restoreLasting(found.commands)
        if found.place != nil || !found.queue.isEmpty {
            let rests = deaths.isPoisoned
            if rests { rest(deaths.words) }
            player.restore(
                found.queue, found.place ?? SavedPlace(), rests && policy == .playing ? .paused : policy,
                fault: rests ? deaths.words : nil)
            if rests { wakeWhenAsked(deaths) }
        }
        guard let store else { return }
        store.begin { [unowned player] in player.queue }
        store.observe(deaths.observer())
        player.keepPlace(with: store)
    }

    /// The first state that says anything else than the restored one ends the rest.
    private func wakeWhenAsked(_ deaths: EarlyDeaths) {
        let item = player.state.item
        if let item { log("\(deaths.words); the item is \(item.uri)") }
        let publish = player.onPublish
        player.onPublish = { [unowned self] state in
            let isAtRest = state.state == .paused || state.state == .stopped
            if !isAtRest || state.item?.id != item?.id {
                deaths.asked()
                wake()
                player.onPublish = publish
            }
            publish?(state)
        }
    }
}
