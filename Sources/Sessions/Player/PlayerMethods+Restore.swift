import NowPlaying
import PlaybackEngine
import StateKeeping

/// Saved position and queue of an earlier run.
extension PlayerMethods {
    /// Takes up where an earlier run stood, and begins to keep what happens. After `deaths` it rests: it comes up paused, opens
    /// no media and searches no pictures until a client plays or goes to another item.
    func restore(_ found: StateStore.Found, _ policy: ResumePolicy, _ deaths: EarlyDeaths) {
        centre.restoreLasting(found.commands)
        if !found.delays.isEmpty { player.outputDelays.restore(found.delays) }
        if !found.skews.isEmpty { player.deviceSkews.restore(found.skews) }
        if found.position != nil || !found.queue.isEmpty {
            let rests = deaths.isPoisoned
            if rests { rest(after: deaths) }
            player.restore(
                found.queue, found.position ?? SavedPosition(), rests && policy == .playing ? .paused : policy,
                fault: rests ? deaths.words : nil)
            if rests {
                if let item = player.state.item { log("\(deaths.words); the item is \(item.uri)") }
                restored()
            }
        }
        guard let store else { return }
        store.begin { [unowned player] in player.queue }
        store.observe(deaths.observer())
        player.deviceSkews.observe { [unowned store] in store.keep(skews: $0) }
        player.keepPosition(with: store)
    }
}
