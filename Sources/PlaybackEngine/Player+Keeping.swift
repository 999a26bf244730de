import AudioCore
import LinuxSystem
import NowPlaying

/// What a player does when it finds where it stood before.
package enum ResumePolicy: String, Sendable, CaseIterable {
    /// What played is paused.
    case paused
    /// What played goes on.
    case playing
    /// Nothing plays; the next play begins where it was.
    case stopped
}

/// Surviving the process.
extension Player {
    /// Where the player stands now.
    package var place: SavedPlace {
        var place = SavedPlace()
        place.wish = transport.wish
        place.item = transport.current
        place.elapsed = transport.current == nil ? 0 : elapsed
        place.playCount = transport.current.flatMap { playCounts[$0] } ?? 0
        // A seek button that was held down is not held any more when the process is started anew.
        if let scan { place.rate = scan.before } else { place.rate = transport.chosenRate }
        place.pace = state.anchor.rate
        place.volume = volume
        place.muted = muted
        place.repeatMode = transport.order.repeatMode
        place.shuffleMode = transport.order.shuffleMode
        if loudness != parts.loudness { place.loudness = loudness }
        return place
    }

    /// From now on `keeper` is told of everything that must survive. What was restored before is not told.
    package func keepPlace(with keeper: any PlaceKeeper) {
        self.keeper = keeper
        transport.recordEdits()
    }

    /// Tells the keeper what has happened since the last time.
    func keep() {
        guard let keeper else { return }
        keeper.keep(transport.takeEdits(), transport.queue, place)
    }

    /// A refill that happens anyway is the occasion to note how far sound has come.
    func notePlace() { keeper?.note(place) }

    /// Takes up where an earlier run of the daemon stood: before any command, on a player that has just been made. Published
    /// as one state; what goes on playing is told when it is audible. `fault`: why nothing shall be opened until a client asks, in
    /// words for people; published as the error of the item until play is wanted.
    package func restore(_ queue: PlayQueue, _ saved: SavedPlace, _ policy: ResumePolicy, fault: String? = nil) {
        volume = saved.volume
        muted = saved.muted
        if let loudness = saved.loudness { self.loudness = loudness }
        output.setVolume(volume, muted: muted)
        if let highest = queue.entries.lazy.map(\.id.number).max() {
            nextItemNumber = max(nextItemNumber, highest.addingClamped(1))
        }
        let item = saved.item.flatMap { queue.index(of: $0) == nil ? nil : $0 }
        var wish = item == nil ? .stopped : saved.wish
        switch (policy, wish) {
        case (.stopped, _): wish = .stopped
        case (.paused, .playing): wish = .paused
        default: break
        }
        // The next play would return to the item's own rate; what goes on keeps the one it had.
        transport.restore(queue, at: item, saved.elapsed, wish, rate: wish == .playing ? saved.rate : nil)
        _ = transport.setRepeatMode(saved.repeatMode)
        _ = transport.setShuffleMode(saved.shuffleMode)
        if let item {
            if saved.playCount > 0 { playCounts[item] = saved.playCount }
            showCurrent()
        }
        if let fault, let item { startFault.set(fault, at: item) }
        publish(.snapshot, anchor: resting(at: item == nil ? 0 : saved.elapsed))
        guard let item, wish == .playing else { return }
        carryOut([.start(item, position: saved.elapsed, .play, nil)], nil, mayResume: false)
        pending?.begins = saved.playCount == 0
    }
}
