import AudioCore
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying

/// Events that a client subscribed to.
struct Subscription {
    /// Nil: all.
    let causes: Set<Cause>?
    /// Nil: the active one; `*`: all.
    let session: String?
    /// Those that the client reads, the dearest first.
    var languages: [String] = []

    func wants(_ event: PublishedEvent) -> Bool {
        guard causes?.contains(event.cause) ?? true else { return false }
        switch session {
        case nil: return event.isActive
        case "*"?: return !event.isHidden
        case let name?: return event.session == name
        }
    }
}

/// The events that a client missed while it did not read: of each session that it follows the newest, and the causes of all.
struct MissedEvents {
    private struct Slot {
        /// Nil: the active session, whichever that is.
        let session: String?
        var newest: PublishedEvent
        /// All causes in the order of their first event.
        var causes: [Cause]
    }

    /// Sessions at once, at most: of those that were closed, the oldest are forgotten.
    static let maximum = 64
    /// In the order of their newest events.
    private var slots: [Slot] = []

    /// Nothing was missed.
    init() {}

    /// Keeps an event in place of an earlier one of the same session (nil: the active one). `exists`: whether there is a
    /// session of this name. There are fewer than the limit.
    mutating func add(_ event: PublishedEvent, of session: String?, exists: (String) -> Bool) {
        var slot = Slot(session: session, newest: event, causes: [])
        if let index = slots.firstIndex(where: { $0.session == session }) {
            slot.causes = slots.remove(at: index).causes
        } else if slots.count >= Self.maximum {
            slots.remove(at: slots.firstIndex { $0.session.map { !exists($0) } ?? false } ?? 0)
        }
        if !slot.causes.contains(event.cause) { slot.causes.append(event.cause) }
        slots.append(slot)
    }

    /// The newest notification of each session, with `causes` in it if it stands for more than one event.
    func write(to output: inout [UInt8]) {
        for slot in slots { Self.write(slot.newest, slot.causes, to: &output) }
    }

    private static func write(_ newest: PublishedEvent, _ causes: [Cause], to output: inout [UInt8]) {
        guard causes.count > 1 else {
            output += newest.line
            return
        }
        // The line ends with the end of the state, of the notification, and itself: }}\n.
        var writer = JSONWriter(output + newest.line.dropLast(3))
        writer.key("causes")
        writer.beginArray()
        for cause in causes { writer.string(cause.rawValue) }
        writer.endArray()
        writer.endObject()
        writer.endObject()
        writer.newline()
        output = writer.bytes
    }
}

/// From answers and events to bytes.
extension Connection {
    /// Puts a line behind what is to be sent; `flush` sends it.
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
    private func write(_ event: PublishedEvent, isFollowed: Bool) {
        guard let subscription, subscription.wants(event), !isDeaf, !isClosed else { return }
        if let texts = event.texts, !subscription.languages.isEmpty {
            let line = texts.line(in: subscription.languages, server.encoder)
            return write(
                PublishedEvent(
                    cause: event.cause, session: event.session, isActive: event.isActive, isHidden: event.isHidden,
                    line: line),
                isFollowed: isFollowed)
        }
        if isChoked {
            var events = missed ?? MissedEvents()
            events.add(event, of: subscription.session == "*" ? event.session : nil) { server.hasSession($0) }
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

    /// Sends bytes when nothing waits before them, and keeps what the kernel does not take.
    private func send(_ bytes: [UInt8]) {
        let count = bytes.withUnsafeBytes { UnixSocket.send(descriptor, $0) }
        if count == bytes.count { return }
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
                // What was sent is let go only now and then: it costs a copy of the rest.
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
        if subscription != nil {
            subscription = nil
            server.setSubscribed(self, false)
        }
    }
}
