import LinuxSystem

/// An event that subscribers are sent.
package struct ServerEvent {
    /// Clients that an event reaches, beside those that name its subject.
    package enum Reach: Sendable {
        /// All who follow the present subject, or all subjects.
        case followers
        /// All who follow all subjects.
        case everySubject
        /// Nobody else.
        case named
        /// Only those who follow the topic that the subject names, whatever else they subscribed to.
        case topic
    }

    /// Kind of the event, by which subscribers choose: `pause`.
    let kind: String
    /// Thing that the event is about: the name of a session.
    let subject: String
    let reach: Reach
    /// The notification with its line end; its parameters are an object.
    let line: [UInt8]
    /// Makes the line that stands for several events, the last of which this is; nil: it is `line`.
    let merged: (@PlayerLoop () -> [UInt8])?
    /// The same in other forms; nil: it is the same in all.
    let forms: (any FormedLines)?

    /// An event, by its parts. `line` is a notification with its line end, whose parameters are an object.
    package init(
        kind: String, subject: String, reach: Reach, line: [UInt8], merged: (@PlayerLoop () -> [UInt8])? = nil,
        forms: (any FormedLines)? = nil
    ) {
        self.kind = kind
        self.subject = subject
        self.reach = reach
        self.line = line
        self.merged = merged
        self.forms = forms
    }

    /// The line for a reader of a form; nil: as it is.
    @PlayerLoop func line(in form: EventForm?) -> [UInt8] {
        guard let form, let forms else { return line }
        return forms.line(in: form)
    }

    /// The event for a reader of a form; nil: as it is.
    @PlayerLoop func formed(in form: EventForm?) -> ServerEvent {
        guard let form, let forms else { return self }
        return ServerEvent(
            kind: kind, subject: subject, reach: reach, line: forms.line(in: form),
            merged: { forms.mergedLine(in: form) })
    }
}

/// Events of a client's subscription.
package struct Subscription: Sendable {
    /// The subjects that a client follows.
    package enum Subject: Equatable, Sendable {
        /// The present one, whichever that is.
        case present
        case every
        case named(String)
    }

    /// Nil: all.
    let kinds: Set<String>?
    let subject: Subject
    /// Form in which the reader gets them; nil: as they are.
    let form: EventForm?

    /// A subscription, by its parts; `kinds` nil: all.
    package init(kinds: Set<String>? = nil, subject: Subject = .present, form: EventForm? = nil) {
        self.kinds = kinds
        self.subject = subject
        self.form = form
    }

    /// True if it has each event that reaches all followers.
    var isOfAll: Bool {
        guard kinds == nil else { return false }
        switch subject {
        case .present, .every: return true
        case .named: return false
        }
    }

    /// True if the event is one of these.
    func wants(_ event: ServerEvent) -> Bool {
        guard event.reach != .topic else { return false }
        guard kinds?.contains(event.kind) ?? true else { return false }
        switch subject {
        case .present: return event.reach == .followers
        case .every: return event.reach == .followers || event.reach == .everySubject
        case .named(let name): return event.subject == name
        }
    }
}
