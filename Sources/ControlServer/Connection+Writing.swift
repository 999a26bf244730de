import ControlProtocol
import Glibc
import LinuxSystem

/// From answers and events to bytes.
extension Connection {
    /// Appends a line to the output; `flush` sends it.
    func write(_ line: (inout JSONWriter) -> Void) {
        guard !isDeaf, !isClosed else { return }
        // An answer may refer to an earlier event.
        catchUp(isFollowed: true)
        if let missed {
            missed.write(to: &output)
            self.missed = nil
        }
        var writer = JSONWriter(output)
        output = []
        line(&writer)
        writer.newline()
        output = writer.bytes
    }

    package func subscribe(_ subscription: Subscription?) {
        // Events before belong to the subscription before.
        catchUp(isFollowed: true)
        guard let subscription, !isDeaf, !isClosed else {
            self.subscription = nil
            if subscription == nil { missed?.keepTopics() }
            return server.setSubscribed(self, isSubscribed)
        }
        self.subscription = subscription
        server.setSubscribed(self, true)
    }

    package func follow(_ topic: String, _ isFollowed: Bool) {
        catchUp(isFollowed: true)
        if isFollowed, !isDeaf, !isClosed { topics.insert(topic) } else { topics.remove(topic) }
        server.setSubscribed(self, isSubscribed)
    }

    /// True if it gets any events.
    var isSubscribed: Bool { subscription != nil || !topics.isEmpty }

    /// Sends an open file along with the line that is written next.
    func attach(_ descriptor: OwnedDescriptor) {
        guard !isDeaf, !isClosed else { return }
        catchUp(isFollowed: true)
        if let missed {
            missed.write(to: &output)
            self.missed = nil
        }
        outgoing.append((output.count, descriptor))
    }

    /// Writes unsent events. `isFollowed`: something else is written and sent right after them.
    func catchUp(isFollowed: Bool = false) {
        let events = server.events(after: sentEvents)
        sentEvents = server.eventCount
        for event in events { write(event, isFollowed: isFollowed) }
    }

    /// Writes an event, now if the client reads, else when it does.
    private func write(_ event: ServerEvent, isFollowed: Bool) {
        let isTopic = event.reach == .topic
        guard isTopic ? topics.contains(event.subject) : subscription?.wants(event) == true, !isDeaf, !isClosed else {
            return
        }
        if let translations = event.translations, let subscription, !subscription.languages.isEmpty {
            let line = translations.line(in: subscription.languages)
            return write(
                ServerEvent(
                    kind: event.kind, subject: event.subject, reach: event.reach, line: line,
                    merged: { translations.mergedLine(in: subscription.languages) }),
                isFollowed: isFollowed)
        }
        if isChoked {
            var events = missed ?? MissedEvents()
            events.add(event, of: isTopic || subscription?.subject == .every ? event.subject : nil) {
                server.handler?.hasSubject($0) ?? false
            }
            missed = events
        } else if isFollowed || isProcessing || !output.isEmpty {
            output += event.line
            guard !isFollowed, !isProcessing else { return }
            flush()
            watch()
        } else {
            send(event.line)
            watch()
        }
    }

    /// Sends the event of this number to a client that takes all events and reads. False: nothing was done, `catchUp` has to.
    func sendAtOnce(_ line: UnsafeRawBufferPointer, number: Int) -> Bool {
        guard takesAll, sentEvents == number - 1, !isChoked, !isProcessing, output.isEmpty, !isDeaf, !isClosed else {
            return false
        }
        sentEvents = number
        let count = UnixSocket.send(descriptor, line)
        guard count != line.count else { return true }
        keepUnsent(of: line, count)
        watch()
        return true
    }

    /// Sends bytes when nothing waits before them, and keeps what the kernel does not take.
    private func send(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            let count = UnixSocket.send(descriptor, bytes)
            if count != bytes.count { keepUnsent(of: bytes, count) }
        }
    }

    /// Keeps what the kernel did not take; `count`: the result of sending them.
    private func keepUnsent(of bytes: UnsafeRawBufferPointer, _ count: Int) {
        guard count >= 0 || count == -Int(EAGAIN) || count == -Int(EINTR) else { return stopSending() }
        isChoked = true
        output = Array(bytes.dropFirst(max(0, count)))
    }

    /// Sends what waits, as much as the kernel takes.
    func flush() {
        guard !isDeaf, !isClosed else { return }
        isChoked = false
        while true {
            if output.isEmpty, let missed {
                missed.write(to: &output)
                self.missed = nil
            }
            guard !output.isEmpty else { return }
            // Files go with the first byte of their line, so what is before that goes first.
            let file = outgoing.first.flatMap { $0.start == sent ? $0.descriptor : nil }
            let end = outgoing.first { $0.start > sent }?.start ?? output.count
            let count = output.withUnsafeBytes {
                let part = UnsafeRawBufferPointer(rebasing: $0[sent..<end])
                return UnixSocket.send(descriptor, part, with: file?.number)
            }
            if count > 0, file != nil { outgoing.removeFirst() }
            if count < 0 {
                switch Int32(-count) {
                case EINTR: continue
                case EAGAIN: isChoked = true
                default: stopSending()
                }
                return
            }
            sent += count
            if sent == end, end < output.count { continue }
            guard sent == output.count else {
                isChoked = true
                // Sent bytes are dropped only now and then: that costs a copy of the rest.
                if sent > 64 << 10 { dropSent() }
                return
            }
            sent = 0
            output.removeAll(keepingCapacity: output.capacity <= 4096)
        }
    }

    private func dropSent() {
        output.removeFirst(sent)
        outgoing = outgoing.map { ($0.start - sent, $0.descriptor) }
        sent = 0
    }

    /// The client takes no more: nothing is kept for it.
    func stopSending() {
        isDeaf = true
        isChoked = false
        output = []
        outgoing = []
        sent = 0
        missed = nil
        if isSubscribed {
            subscription = nil
            topics = []
            server.setSubscribed(self, false)
        }
    }
}
