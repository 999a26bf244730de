import LinuxSystem
package import NowPlaying

/// What a player is among others.
extension Player {
    /// Publishes the whole state because the session is the active one now.
    package func tellActivation(by: Originator?) { publish(.session, by: by) }

    /// Publishes one last state, in which there is nothing, and answers those who wait that it is over. Nothing may be asked of
    /// the player afterwards.
    package func close(by: Originator?) {
        var last = state
        last.sequence = parts.events.next()
        last.cause = .session
        last.reason = nil
        last.by = by
        last.state = .stopped
        last.item = nil
        last.upcoming = nil
        last.anchor = resting(at: 0)
        state = last
        onPublish?(last)
        onPublish = nil
        let waiters = dropPending() + (flow?.waiters ?? [])
        flow?.deadline?.release()
        flow = nil
        for waiter in waiters { waiter.answer(.failure(.closed)) }
    }
}
