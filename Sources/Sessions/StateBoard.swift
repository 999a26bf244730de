package import ControlProtocol
package import ControlServer
package import LinuxSystem
package import NowPlaying

/// Receives each state of a session as it is published.
@PlayerLoop package protocol StateListener: AnyObject {
    /// Receives a new state, which has a `sequence` of its own.
    func published(_ state: NowPlayingState)
}

/// Follows the board. Called after the state was sent to subscribers.
@PlayerLoop package protocol BoardObserver: AnyObject {
    /// A state of some session was published.
    func statePublished()
    /// The active session published a state, or another session became active.
    func activeStateChanged(_ state: NowPlayingState)
}

/// The last published state of each session, for requests and subscribers.
@PlayerLoop package final class StateBoard {
    /// A state and its JSON text.
    package typealias Published = (state: NowPlayingState, encoded: [UInt8])

    /// The last pause of any session, for `diagnostics.get`.
    package struct Pause: Sendable {
        /// Nil: the daemon itself.
        package let by: Originator?
        package let reason: ChangeReason?
        package let time: MonotonicTime
    }

    package let encoder: StateEncoder
    private let server: ControlServer
    private let observer: any BoardObserver
    private var active: Published
    /// Sessions that are not the active one, by their names.
    private var others: [String: Published] = [:]
    /// Sessions whose events go only to clients that name them.
    private var hidden: Set<String> = []
    /// The last pause; nil: there was none.
    package private(set) var lastPause: Pause?
    private let clockPages = ClockPages()
    private let forms = EventForms()

    /// A board that shows `state` until the first `publish`. `observer` follows it.
    package init(_ server: ControlServer, _ encoder: StateEncoder, state: NowPlayingState, observer: any BoardObserver)
    {
        self.server = server
        self.encoder = encoder
        self.observer = observer
        active = (state, encoder.encode(state))
    }

    /// The last published state of the active session.
    package var state: NowPlayingState { active.state }

    /// Keeps a state and sends it to all its subscribers. Encodes it once.
    package func publish(_ state: NowPlayingState) {
        let encoded = encoder.encode(state)
        let isActive = state.session == active.state.session
        if state.cause == .pause { lastPause = Pause(by: state.by, reason: state.reason, time: EventLoop.now) }
        if isActive { active = (state, encoded) } else { others[state.session] = (state, encoded) }
        clockPages.show(state, isActive: isActive)
        defer {
            if isActive { observer.activeStateChanged(state) }
            observer.statePublished()
        }
        guard server.subscriberCount > 0 else { return }
        let reach: ServerEvent.Reach =
            isActive ? .followers : hidden.contains(state.session) ? .named : .everySubject
        server.publish(
            ServerEvent(
                kind: state.cause.rawValue, subject: state.session, reach: reach,
                line: Self.notification(encoded),
                merged: merged(state),
                forms: state.hasTexts || !forms.isEmpty ? FormedState(state, encoder, encoded) : nil))
    }

    /// Makes the notification of a state that merges several events; nil: the usual notification is right.
    private func merged(_ state: NowPlayingState) -> (@PlayerLoop () -> [UInt8])? {
        guard state.queueChanges != nil else { return nil }
        return { [encoder] in Self.notification(encoder.encode(state.withoutChanges)) }
    }

    /// A notification of an encoded state, with its line end.
    fileprivate static func notification(_ encoded: [UInt8]) -> [UInt8] {
        var writer = JSONWriter()
        writer.reserve(encoded.count + 80)
        writer.notification(Catalogue.stateChanged, parameters: encoded)
        writer.newline()
        return writer.bytes
    }

    // MARK: Sessions

    /// True if there is a session of this name.
    package func hasSession(_ name: String) -> Bool { name == active.state.session || others[name] != nil }

    /// The last published state of a session; nil: there is no such session.
    private func published(_ session: String?) -> Published? {
        guard let session, session != active.state.session else { return active }
        return others[session]
    }

    /// Makes this session the active one. It must have published a state.
    package func activate(_ session: String) {
        guard let next = others.removeValue(forKey: session) else { return }
        others[active.state.session] = active
        active = next
        clockPages.follow(next.state)
        observer.activeStateChanged(next.state)
    }

    /// Forgets a closed session, which is not the active one.
    package func forget(_ session: String) {
        if let ended = others.removeValue(forKey: session) { clockPages.end(ended.state) }
        hidden.remove(session)
    }

    /// A connection has ended: drops its clock pages.
    package func clientGone(_ client: ClientIdentity) { clockPages.clientGone(client) }

    /// Sends the events of a session only to clients that name it, from its first state on.
    package func hide(_ session: String) { hidden.insert(session) }

    // MARK: Methods

    /// `nowPlaying.get`.
    package func get(_ parameters: JSONObject) -> MethodResult {
        let session = parameters["session"]?.stringValue
        guard let published = published(session) else { return .failure(Self.noSession(session ?? "")) }
        let languages = Self.languages(parameters)
        return .encoded(
            languages.isEmpty || !published.state.hasTexts
                ? published.encoded : encoder.encode(published.state.localized(in: languages)))
    }

    /// `nowPlaying.subscribe`.
    package func subscribe(_ client: any ServerClient, _ parameters: JSONObject) -> MethodResult {
        let kinds = parameters["causes"]?.arrayValue?.compactMap(\.stringValue)
        let session = parameters["session"]?.stringValue
        guard let state = published(session == "*" ? nil : session)?.state else {
            return .failure(Self.noSession(session ?? ""))
        }
        let fields = parameters["fields"]?.arrayValue?.compactMap(\.stringValue).compactMap(StateField.init)
        let form = forms.form(Self.languages(parameters), fields)
        let subject: Subscription.Subject = session.map { $0 == "*" ? .every : .named($0) } ?? .present
        client.subscribe(Subscription(kinds: kinds.map(Set.init), subject: subject, form: form))
        return .encoded(snapshot(of: state, in: form))
    }

    /// `nowPlaying.map`.
    package func map(_ client: ClientIdentity, _ parameters: JSONObject) -> MethodResult {
        let session = parameters["session"]?.stringValue
        guard let state = published(session)?.state else { return .failure(Self.noSession(session ?? "")) }
        return clockPages.map(session, state, for: client)
    }

    /// The refusal of a request that names a session which does not exist.
    package static func noSession(_ name: String) -> RPCError {
        .noSuchContent(
            "there is no session “\(PrintableText.escaped(name, limit: 64))”; session.list lists the sessions",
            reason: .noSession)
    }

    private static func languages(_ parameters: JSONObject) -> [String] {
        parameters["languages"]?.arrayValue?.compactMap(\.stringValue) ?? []
    }

    /// The present state for an answer, without the members of an event.
    private func snapshot(of state: NowPlayingState, in form: EventForm?) -> [UInt8] {
        var state = state
        state.cause = .snapshot
        state.reason = nil
        state.by = nil
        state.activeChanged = nil
        return form.map { encoder.encode(state.withoutChanges, in: $0) } ?? encoder.encode(state.withoutChanges)
    }
}

extension NowPlayingState {
    /// The state without the changes of the queue, which belong to one event only.
    fileprivate var withoutChanges: NowPlayingState {
        var state = self
        state.queueChanges = nil
        return state
    }
}

/// A state in other forms: made once for each of them, at the first request.
@PlayerLoop private final class FormedState: FormedLines {
    private let state: NowPlayingState
    private let encoder: StateEncoder
    private let encoded: [UInt8]
    private var lines: [ObjectIdentifier: (form: EventForm, line: [UInt8])] = [:]

    /// No form is made yet. `encoded`: the state as JSON text.
    init(_ state: NowPlayingState, _ encoder: StateEncoder, _ encoded: [UInt8]) {
        self.state = state
        self.encoder = encoder
        self.encoded = encoded
    }

    func mergedLine(in form: EventForm) -> [UInt8] {
        StateBoard.notification(encoder.encode(state.withoutChanges, in: form))
    }

    func line(in form: EventForm) -> [UInt8] {
        if let known = lines[ObjectIdentifier(form)] { return known.line }
        let line = StateBoard.notification(encoder.encode(state, in: form, from: encoded))
        lines[ObjectIdentifier(form)] = (form, line)
        return line
    }
}
