import AudioCore
import LinuxSystem
package import NowPlaying

/// Reaction to the saved position at the start.
package enum ResumePolicy: String, Sendable, CaseIterable {
    /// An item that played before the restart is paused.
    case paused
    /// An item that played before the restart continues.
    case playing
    /// Nothing plays; the next play begins at the saved position.
    case stopped
}

/// Life of a player: restore, activation, end.
extension Player {
    /// Position and settings to be saved now.
    package var savedPosition: SavedPosition {
        var saved = SavedPosition()
        saved.wish = fades.isPausing ? .paused : transport.wish
        saved.item = transport.current
        saved.elapsed = transport.current == nil ? 0 : elapsed
        saved.playCount = transport.current.map { publisher.playCount(of: $0) } ?? 0
        // A seek button that was held is not held after a restart.
        saved.rate = scanner.chosenRate
        saved.pace = publisher.state.anchor.rate
        saved.revision = queue.revision
        saved.volume = volume.level
        saved.muted = volume.isMuted
        saved.modes = transport.order.modes
        if loudness.settings != parts.loudness { saved.loudness = loudness.settings }
        saved.crossfade = playout.crossfade.settings
        saved.fades = fades.settings
        return saved
    }

    /// Restores the state of an earlier run of the daemon. Called before any command, on a new player. Publishes one state;
    /// an item that continues is published when it is audible. `fault`: reason in words to open nothing until a client asks;
    /// published as the item's error until the next play.
    package func restore(_ queue: PlayQueue, _ saved: SavedPosition, _ policy: ResumePolicy, fault: String? = nil) {
        setVolume(VolumeSetting(level: saved.volume, isMuted: saved.muted))
        if let settings = saved.loudness { loudness.restore(settings) }
        playout.crossfade.restore(saved.crossfade)
        fades.restore(saved.fades)
        output.setVolume(saved.volume, muted: saved.muted)
        if let highest = queue.entries.highestNumber { reserveNumbers(upTo: highest) }
        let item = saved.item.flatMap { queue.index(of: $0) == nil ? nil : $0 }
        var wish = item == nil ? .stopped : saved.wish
        switch (policy, wish) {
        case (.stopped, _): wish = .stopped
        case (.paused, .playing): wish = .paused
        case (.paused, _), (.playing, _): break
        }
        decide { transport in
            // The next play returns to the item's own rate; an item that continues keeps its rate.
            transport.restore(queue, at: item, saved.elapsed, wish, rate: wish == .playing ? saved.rate : nil)
            transport.restore(saved.modes)
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

    /// Publishes the whole state, because the session became the active one.
    package func publishActivation(by: Originator?) { publisher.publish(.session, by: by) }

    /// Publishes a last, empty state and answers all waiting clients. The player must not be used afterwards.
    package func close(by: Originator?) {
        publisher.publishEnd(by: by, anchor: playout.resting(at: 0))
        let waiters = playout.preparation.drop() + fades.take() + (playout.flow.take()?.takeWaiters() ?? [])
        for waiter in waiters { waiter.answer(.failure(.closed)) }
    }
}
