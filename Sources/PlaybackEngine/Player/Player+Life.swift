import AudioCore
import LinuxSystem
package import NowPlaying

/// The reaction of a player to the place where it stood before.
package enum ResumePolicy: String, Sendable, CaseIterable {
    /// An item that played is paused.
    case paused
    /// An item that played plays on.
    case playing
    /// Nothing plays; the next play begins at the place.
    case stopped
}

/// The life of a player: restored from an earlier run, one of several sessions, closed.
extension Player {
    /// The place where the player stands now.
    package var place: SavedPlace {
        var place = SavedPlace()
        place.wish = transport.wish
        place.item = transport.current
        place.elapsed = transport.current == nil ? 0 : elapsed
        place.playCount = transport.current.map { publisher.playCount(of: $0) } ?? 0
        // A seek button that was held down is not held any more when the process is started anew.
        place.rate = scanner.chosenRate
        place.pace = state.anchor.rate
        place.volume = volume.level
        place.muted = volume.isMuted
        place.repeatMode = transport.order.repeatMode
        place.shuffleMode = transport.order.shuffleMode
        if loudness.settings != parts.loudness { place.loudness = loudness.settings }
        return place
    }

    /// Continues where an earlier run of the daemon stood: before any command, on a player that has just been made. Published
    /// as one state; an item that plays on is published when it is audible. `fault`: the reason to open nothing until a client
    /// asks, in words for people; published as the error of the item until play is wanted.
    package func restore(_ queue: PlayQueue, _ saved: SavedPlace, _ policy: ResumePolicy, fault: String? = nil) {
        setVolume(VolumeSetting(level: saved.volume, isMuted: saved.muted))
        if let settings = saved.loudness { loudness.restore(settings) }
        output.setVolume(saved.volume, muted: saved.muted)
        if let highest = queue.entries.lazy.map(\.id.number).max() { reserveNumbers(upTo: highest) }
        let item = saved.item.flatMap { queue.index(of: $0) == nil ? nil : $0 }
        var wish = item == nil ? .stopped : saved.wish
        switch (policy, wish) {
        case (.stopped, _): wish = .stopped
        case (.paused, .playing): wish = .paused
        case (.paused, _), (.playing, _): break
        }
        decide { transport in
            // The next play returns to the item's own rate; an item that plays on keeps its rate.
            transport.restore(queue, at: item, saved.elapsed, wish, rate: wish == .playing ? saved.rate : nil)
            _ = transport.setRepeatMode(saved.repeatMode)
            _ = transport.setShuffleMode(saved.shuffleMode)
        }
        if let item {
            if saved.playCount > 0 { publisher.restorePlayCount(saved.playCount, of: item) }
            publisher.showCurrent()
            if let fault { failures.setStartFault(fault, at: item) }
        }
        publisher.publish(.snapshot, anchor: playout.resting(at: item == nil ? 0 : saved.elapsed))
        guard let item, wish == .playing else { return }
        carryOut([.start(item, position: saved.elapsed, .play, nil)], nil, mayResume: false)
        playout.pending?.setBegins(saved.playCount == 0)
    }

    /// Publishes the whole state because the session is the active one now.
    package func tellActivation(by: Originator?) { publisher.publish(.session, by: by) }

    /// Publishes one last state, in which there is nothing, and answers those who wait that it is over. Nothing may be asked of
    /// the player afterwards.
    package func close(by: Originator?) {
        publisher.publishEnd(by: by, anchor: playout.resting(at: 0))
        let waiters = playout.preparation.drop() + (playout.flow.take()?.takeWaiters() ?? [])
        for waiter in waiters { waiter.answer(.failure(.closed)) }
    }
}
