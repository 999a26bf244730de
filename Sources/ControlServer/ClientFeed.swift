import LinuxSystem

/// The events that a client follows, and those that it missed while it did not read.
@PlayerLoop final class ClientFeed {
    private var subscription: Subscription? {
        didSet {
            takesAll = subscription?.isOfAll ?? false
            form = subscription?.form
        }
    }
    private var topics: Set<String> = []
    private var missed: MissedEvents?
    /// True if the client gets each event of the subject that all follow.
    private(set) var takesAll = false
    /// Form in which the client gets the events of its subscription; nil: as they are.
    private(set) var form: EventForm?
    /// Number of the last event that was written or missed, or that happened before the subscription.
    private(set) var lastEvent = 0

    /// A feed without a subscription.
    init() {}

    /// True if the client follows any events.
    var isActive: Bool { subscription != nil || !topics.isEmpty }

    /// True if events wait until the client reads.
    var hasMissed: Bool { missed != nil }

    /// Replaces the subscription; nil: none.
    func subscribe(_ subscription: Subscription?) {
        self.subscription = subscription
        if subscription == nil { missed?.keepTopics() }
    }

    /// Follows a topic from now on, or no longer.
    func follow(_ topic: String, _ isFollowed: Bool) {
        if isFollowed { topics.insert(topic) } else { topics.remove(topic) }
    }

    /// Follows no topic any more.
    func unfollowAll() { topics = [] }

    /// Notes that the events up to this number are done with.
    func advance(to number: Int) { lastEvent = number }

    /// True if the event is of the subscription.
    func follows(_ event: ServerEvent) -> Bool { subscription?.wants(event) ?? false }

    /// The event as this client gets it, in its form; nil: the client does not follow it.
    func selected(_ event: ServerEvent) -> ServerEvent? {
        guard event.reach != .topic else { return topics.contains(event.subject) ? event : nil }
        guard let subscription, subscription.wants(event) else { return nil }
        return event.formed(in: form)
    }

    /// Keeps an event until the client reads. `hasSubject`: true if there is a subject of this name.
    func miss(_ event: ServerEvent, hasSubject: (String) -> Bool) {
        let isOfOneSubject = event.reach == .topic || subscription?.subject == .every
        var events = missed ?? MissedEvents()
        events.add(event, of: isOfOneSubject ? event.subject : nil, exists: hasSubject)
        missed = events
    }

    /// Returns and clears the missed events; nil: none.
    func takeMissed() -> MissedEvents? {
        defer { missed = nil }
        return missed
    }

    /// Ends everything that the client follows.
    func end() {
        subscription = nil
        topics = []
        missed = nil
    }
}
