import ControlProtocol
import LinuxSystem

/// From answers and events to bytes.
extension Connection {
    /// Appends a line to the output; `flush` sends it.
    func write(_ line: (inout JSONWriter) -> Void) {
        guard !output.isOver, !isClosed else { return }
        writeEvents()
        output.append(line)
    }

    /// Sends an open file along with the line that is written next.
    func attach(_ descriptor: OwnedDescriptor) {
        guard !output.isOver, !isClosed else { return }
        writeEvents()
        output.attach(descriptor)
    }

    /// Appends all events so far: an answer may refer to them.
    private func writeEvents() {
        catchUp(isFollowed: true)
        if let missed = feed.takeMissed() { output.append(missed) }
    }

    package func subscribe(_ subscription: Subscription?) {
        // Events before belong to the subscription before.
        catchUp(isFollowed: true)
        feed.subscribe(output.isOver || isClosed ? nil : subscription)
        server.setSubscribed(self, feed.isActive)
    }

    package func follow(_ topic: String, _ isFollowed: Bool) {
        catchUp(isFollowed: true)
        feed.follow(topic, isFollowed && !output.isOver && !isClosed)
        server.setSubscribed(self, feed.isActive)
    }

    /// Writes unsent events. `isFollowed`: something else is written and sent right after them.
    func catchUp(isFollowed: Bool = false) {
        let events = server.events(after: feed.lastEvent)
        feed.advance(to: server.eventCount)
        for event in events { write(event, isFollowed: isFollowed) }
    }

    /// Writes an event, now if the client reads, else later.
    private func write(_ event: ServerEvent, isFollowed: Bool) {
        guard !output.isOver, !isClosed, let event = feed.selected(event) else { return }
        if output.isChoked {
            feed.miss(event) { server.handler?.hasSubject($0) ?? false }
        } else if isFollowed || input.isBusy {
            output.append(event.line)
        } else if output.isEmpty {
            event.line.withUnsafeBytes { send($0) }
        } else {
            output.append(event.line)
            flush()
            watch()
        }
    }

    /// Sends an event of this number to a client that reads, if it follows it. `line`: its line in the client's form. False:
    /// nothing was done, `catchUp` has to.
    func sendAtOnce(_ event: ServerEvent, _ line: UnsafeRawBufferPointer, number: Int) -> Bool {
        guard feed.lastEvent == number - 1, output.isIdle, !input.isBusy, !isClosed else { return false }
        feed.advance(to: number)
        if feed.takesAll || feed.follows(event) { send(line) }
        return true
    }

    /// Sends a line of an idle output at once.
    private func send(_ line: UnsafeRawBufferPointer) {
        output.send(line)
        guard !output.isIdle else { return }
        endFeedIfOver()
        recount()
        watch()
    }

    /// Sends the waiting bytes, as many as the kernel takes.
    func flush() {
        guard !isClosed else { return }
        output.flush { feed.takeMissed() }
        endFeedIfOver()
        recount()
    }

    /// The client takes no more: nothing is kept for it.
    func stopSending() {
        output.end()
        endFeedIfOver()
        recount()
    }

    private func endFeedIfOver() {
        guard output.isOver, feed.isActive || feed.hasMissed else { return }
        feed.end()
        server.setSubscribed(self, false)
    }
}
