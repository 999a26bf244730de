import AudioCore
import LinuxSystem
package import NowPlaying

/// What clients ask for.
extension Player {
    /// Carries out a command. `answer` is called once: when the change has happened at the sound server, at most a second
    /// later; at once where nothing has to change.
    package func perform(
        _ command: PlayerCommand, by: Originator,
        _ answer: @escaping @PlayerLoop (Result<CommandOutcome, CommandRefusal>) -> Void
    ) {
        command.staysInItem ? ProgramPages.keepForAWhile() : ProgramPages.keepNoLonger()
        let waiter = Waiter(by: by, answer: answer)
        stayAwake(command, by: by)
        endsScan(command)
        if isRefusedSound(command) { return answer(.failure(.interrupted(by: interruption?.by ?? "the sound server"))) }
        if playThroughInterruption(command, waiter) { return }
        if case .play(nil) = command {
            if stall != nil, !playWithoutLostDevice() { tryAgain() }
        }
        do throws(Transport.Refusal) {
            carryOut(try effects(of: command), waiter, mayResume: command.mayResume)
        } catch {
            answer(.failure(CommandRefusal(error)))
        }
    }

    /// Whoever asks for something else has let go of the seek button.
    private func endsScan(_ command: PlayerCommand) {
        switch command {
        case .repeatMode, .shuffleMode: return
        case .play(nil):
            // Play goes on at the item's own rate: the command itself gives up the other one.
            scan = nil
            scanDeadline = nil
        default: forgetScan()
        }
    }

    private func effects(of command: PlayerCommand) throws(Transport.Refusal) -> [Transport.Effect] {
        switch command {
        case .play(nil): return try transport.play()
        case .play(let position?): return try play(at: position)
        case .playItem(let id, let position): return try transport.play(id, at: position ?? 0)
        case .playQueue(let requests, let position):
            return transport.play(replacingWith: makeEntries(requests), at: position ?? 0)
        case .pause: return transport.pause()
        case .stop: return transport.stop()
        case .togglePlayPause: return transport.wish == .playing ? transport.pause() : try transport.play()
        case .nextTrack: return try transport.next()
        case .previousTrack: return try transport.previous(elapsed: elapsed)
        case .skip(let interval): return try transport.skip(by: interval, from: elapsed, duration: currentDuration)
        case .skipChapter(let isForward): return try skipChapter(forward: isForward)
        case .seek(let position): return try transport.seek(to: position, duration: currentDuration)
        case .repeatMode(let mode): return transport.setRepeatMode(mode)
        case .shuffleMode(let mode): return transport.setShuffleMode(mode)
        case .changeRate(let rate): return try transport.changeRate(to: rate)
        }
    }

    private func skipChapter(forward: Bool) throws(Transport.Refusal) -> [Transport.Effect] {
        let chapters = transport.current.flatMap { transport.queue[$0]?.details?.metadata.chapters } ?? []
        return try transport.skipChapter(forward: forward, from: elapsed, starts: chapters.map(\.start))
    }

    private func play(at position: Double) throws(Transport.Refusal) -> [Transport.Effect] {
        if transport.wish == .stopped {
            guard let id = transport.itemToBegin() else { throw .noItem }
            if let duration = transport.queue[id]?.details?.duration, position > duration { throw .outOfRange }
            return try transport.play(id, at: position)
        }
        let seek = try transport.seek(to: position, duration: currentDuration)
        // The seek carries the play: it becomes audible as one change.
        return try transport.wish == .paused ? transport.play().filter { $0 != .resume } + seek : seek
    }

    /// Gives new entries their identities.
    func makeEntries(_ requests: [QueueRequest]) -> [QueueEntry] {
        var entries: [QueueEntry] = []
        entries.reserveCapacity(requests.count)
        // No closure: it would be looked for each of them whether this is the loop.
        for request in requests {
            entries.append(
                QueueEntry(id: ItemID(nextItemNumber), source: request.source, details: request.details))
            nextItemNumber += 1
        }
        return entries
    }

    /// Puts items into the queue at `place` (nil: the end); their identities, in order. Throws `queueFull`.
    package func insert(
        _ requests: [QueueRequest], at place: Int?, by: Originator
    ) throws(CommandRefusal) -> ClosedRange<Int64>? {
        guard queue.count + requests.count <= QueueLimit.items,
            queue.textBytes + QueueRequest.textBytes(of: requests) <= QueueLimit.textBytes
        else { throw .queueFull }
        let entries = makeEntries(requests)
        carryOut(transport.insert(entries, at: max(0, min(place ?? queue.count, queue.count))), nil, by: by)
        guard let first = entries.first, let last = entries.last else { return nil }
        return first.id.number...last.id.number
    }

    /// Where an item would go to be heard after the present one.
    package var placeForNext: Int {
        transport.current.flatMap { queue.index(of: $0) }.map { $0 + 1 } ?? 0
    }

    /// Takes items out of the queue; unknown ones are ignored. `answer` as for `perform`.
    package func remove(
        _ ids: [ItemID], by: Originator,
        _ answer: @escaping @PlayerLoop (Result<CommandOutcome, CommandRefusal>) -> Void
    ) {
        carryOut(transport.remove(ids), Waiter(by: by, answer: answer))
    }

    /// Moves items to `place`, counted after their removal.
    package func move(_ ids: [ItemID], to place: Int, by: Originator) {
        carryOut(transport.move(ids, to: place), nil, by: by)
    }

    /// Takes all items out. `answer` as for `perform`.
    package func clear(by: Originator, _ answer: @escaping @PlayerLoop (Result<CommandOutcome, CommandRefusal>) -> Void)
    {
        carryOut(transport.clear(), Waiter(by: by, answer: answer))
    }

    /// Puts the queue into a random order; the present item comes first and goes on.
    package func shuffle(by: Originator) {
        var generator = SystemRandomNumberGenerator()
        carryOut(transport.shuffle(using: &generator), nil, by: by)
    }

    /// Sets what a client says about an item. Throws `noSuchItem`, and `queueFull` where its texts are too long.
    package func update(_ id: ItemID, _ given: MediaMetadata, by: Originator) throws(CommandRefusal) {
        guard let entry = queue[id] else { throw .noSuchItem }
        let old = entry.details ?? ItemDetails()
        let details = old.with(given: given.filled(from: old.given))
        guard queue.textBytes - old.textBytes + details.textBytes <= QueueLimit.textBytes else { throw .queueFull }
        transport.setDetails(details, of: id)
        guard state.item?.id == id || state.upcoming?.itemID == id else { return keep() }
        let movesPlace = shown?.id == id && old.contentTime != details.contentTime
        if shown?.id == id { shown?.details = details }
        publish(.metadata, anchor: movesPlace && pending == nil ? mappedAnchor() : nil, by: by)
        if movesPlace { scheduleBoundary() }
    }

    /// Sets the volume (0…1 on the server's cubic scale) and muting of what we play; nil: as it is.
    package func setVolume(_ volume: Double?, muted: Bool?, by: Originator) {
        let volume = volume ?? self.volume
        let muted = muted ?? self.muted
        // A fade that ends here has published nothing of its steps.
        guard volume != self.volume || muted != self.muted || volume != state.volume else { return }
        self.volume = volume
        self.muted = muted
        output.setVolume(volume, muted: muted)
        publish(.volume, by: by)
    }

    /// Something that commands can do changed: tells everybody.
    package func commandsChanged(by: Originator) {
        commandsVersion += 1
        publish(.commands, by: by)
    }
}

/// Carrying out what the transport decides.
extension Player {
    /// Does what `effects` say; who waits is answered when the last of it is done. `mayResume`: an item that begins may go on
    /// where it was left once.
    func carryOut(
        _ effects: [Transport.Effect], _ waiter: Waiter?, by: Originator? = nil, mayResume: Bool = true
    ) {
        var waiter = waiter
        let by = waiter?.by ?? by
        for effect in effects {
            switch effect {
            case .start(let id, let position, let cause, let reason):
                start(id, at: position, cause, reason, by: by, waiter, mayResume: mayResume)
                waiter = nil
            case .resume:
                resume(by: by, waiter)
                waiter = nil
            case .changeRate:
                changeRate(by: by, waiter)
                waiter = nil
            case .hold:
                hold(by: by, waiter)
                waiter = nil
            case .halt(let reason):
                halt(reason, by: by, waiter)
                waiter = nil
            case .replan: replan()
            case .publish(let cause, let reason):
                if cause == .seek || cause == .track || cause == .queue, transport.wish == .stopped { showStopped() }
                publish(cause, reason, by: by)
            }
        }
        guard let waiter else { return }
        // A repeated play, pause or stop is answered when the first one's change has happened.
        if effects.isEmpty, let pending, pending.deadline != nil {
            pending.waiters.append(waiter)
        } else if effects.isEmpty, let flow, flow.deadline != nil {
            flow.waiters.append(waiter)
        } else {
            self.answer([waiter])
        }
    }

    /// Tells those who waited how it is now.
    func answer(_ waiters: [Waiter], superseded: Bool = false) {
        for waiter in waiters { waiter.answer(.success(CommandOutcome(state: state, isSuperseded: superseded))) }
    }
}

extension Player {
    /// A step of a volume that changes over time: heard at once, told when it is the last.
    package func fadeVolume(_ volume: Double, isLast: Bool, by: Originator) {
        self.volume = volume
        output.setVolume(volume, muted: muted)
        if isLast { publish(.volume, by: by) }
    }
}
