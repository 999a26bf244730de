/// A model of sessions under clients' requests: the active one, and the playing and held ones.
///
/// The result of a request is published later: when it is audible, or silent. Requests of others in between count, and so two
/// simultaneous ones have several outcomes (`outcomes`).
struct SessionModel: Hashable {
    /// Owner of a session.
    enum Kind: Hashable {
        /// Is there until it is closed, also over restarts.
        case lasting
        /// Ends with the connection of this client.
        case brief(Int)
        /// Is played by this client, and ends with its connection.
        case external(Int)

        var owner: Int? {
            switch self {
            case .lasting: nil
            case .brief(let owner), .external(let owner): owner
            }
        }
    }

    /// Kind of a request for sound that is not audible yet.
    enum Asking: Hashable {
        case play
        /// By the button that does both.
        case toggle
        /// Play regardless of the sessions that hold this one.
        case playThrough
    }

    struct Session: Hashable {
        var kind = Kind.lasting
        var policy = "pause"
        var publishes = true
        var hasItem = false
        /// `playing`, `paused` or `stopped`: the requested state, regardless of the sessions that hold it.
        var wish = "stopped"
        /// Published state: the same, or `interrupted`.
        var published = "stopped"
        /// Those whose play it makes room for, and how.
        var yieldsTo: [String: String] = [:]
        var asked: Asking?
        /// True if it continues regardless of the sessions that held it at the time of the request.
        var playsThrough = false

        var isHeld: Bool { yieldsTo.values.contains("pause") }
        /// The state that will be published.
        var next: String { wish == "playing" && isHeld && !playsThrough ? "interrupted" : wish }
        var isExternal: Bool { if case .external = kind { true } else { false } }
    }

    var sessions = ["main": Session()]
    /// The active session last, and the earlier active ones before it. A session before `main` never becomes active again.
    private(set) var order = ["main"]
    private var begun: Set<String> = []
    /// External ones that are to be active as soon as they can.
    private var played: Set<String> = []
    /// Those that are being made.
    private(set) var making: [String: Session] = [:]

    var active: String { order.last ?? "main" }

    func canBecomeActive(_ name: String) -> Bool {
        sessions[name].map { $0.policy != "mix" && $0.publishes && $0.hasItem } ?? false
    }

    /// One line per session, for comparison with `session.list`.
    var lines: [String] {
        sessions.map { "\($0) \($1.published) \($0 == active) \(canBecomeActive($0))" }.sorted()
    }

    // MARK: Requests

    /// A client's request.
    enum Request: Hashable {
        case create(String, Kind, policy: String, publishes: Bool)
        case close(String)
        case activate(String)
        case add(String)
        case clear(String)
        /// Nil: the active one.
        case play(String?)
        case pause(String?)
        case stop(String?)
        case toggle(String?)
        /// A change of a session of the daemon that concerns no other.
        case volume(String)
        /// A published state of an external session.
        case publish(String, state: String, hasItem: Bool)
    }

    /// The answer.
    enum Answer: Hashable {
        case granted
        case refused
        /// Answer of `activate`: true if the session is the active one now.
        case isActive(Bool)
    }

    mutating func ask(_ request: Request) -> Answer {
        switch request {
        case .create(let name, let kind, let policy, let publishes):
            guard sessions[name] == nil, making[name] == nil else { return .refused }
            making[name] = Session(kind: kind, policy: policy, publishes: publishes)
            if making[name]?.isExternal == true { made(name) }
        case .close(let name):
            guard name != "main", sessions[name] != nil else { return .refused }
            close(name)
        case .activate(let name):
            guard sessions[name] != nil else { return .refused }
            if canBecomeActive(name) { move(to: name) }
            return .isActive(active == name)
        case .add(let name):
            guard sessions[name]?.isExternal == false else { return .refused }
            sessions[name]?.hasItem = true
        case .clear(let name):
            guard sessions[name]?.isExternal == false else { return .refused }
            sessions[name]?.hasItem = false
            rest(name, "stopped")
        case .play(let name): return play(name ?? active, .play)
        case .pause(let name): return hold(name ?? active, "paused")
        case .stop(let name): return hold(name ?? active, "stopped")
        case .toggle(let name):
            let name = name ?? active
            guard let session = sessions[name], !session.isExternal, session.hasItem else { return .refused }
            return session.wish == "playing" ? hold(name, "paused") : play(name, .toggle)
        case .volume(let name): guard sessions[name]?.isExternal == false else { return .refused }
        case .publish(let name, let state, let hasItem):
            guard sessions[name] != nil else { return .refused }
            publish(name, state, hasItem)
        }
        return .granted
    }

    private mutating func play(_ name: String, _ how: Asking) -> Answer {
        guard let session = sessions[name], !session.isExternal, session.hasItem else { return .refused }
        if session.wish == "playing", session.next == "playing" {
            // A session that plays already does not begin, but it is the audible one.
            if session.published == "playing", session.asked == nil, name != active { begin(name) }
            return .granted
        }
        sessions[name]?.asked = session.wish == "playing" ? .playThrough : how
        sessions[name]?.wish = "playing"
        sessions[name]?.playsThrough = session.isHeld
        return .granted
    }

    /// Pauses or stops.
    private mutating func hold(_ name: String, _ wish: String) -> Answer {
        guard let session = sessions[name], !session.isExternal else { return .refused }
        if session.wish != "stopped" { rest(name, wish) }
        return .granted
    }

    private mutating func rest(_ name: String, _ wish: String) {
        sessions[name]?.wish = wish
        sessions[name]?.asked = nil
        sessions[name]?.playsThrough = false
    }

    private mutating func publish(_ name: String, _ state: String, _ hasItem: Bool) {
        let before = sessions[name]?.published
        sessions[name]?.wish = state
        sessions[name]?.published = state
        sessions[name]?.hasItem = hasItem
        if state != "playing" { played.remove(name) }
        if state == "stopped" { end(name) }
        guard state == "playing" else { return }
        if before != "playing" {
            begin(name)
            played.insert(name)
        }
        if played.contains(name), canBecomeActive(name) {
            played.remove(name)
            move(to: name)
        }
    }

    // MARK: Events

    /// The sessions with an unpublished change.
    var unpublished: [String] {
        sessions.filter { !$1.isExternal && ($1.asked != nil || $1.next != $1.published) }.keys.sorted()
    }

    /// Publishes the change of a session.
    mutating func publish(_ name: String) {
        guard let session = sessions[name] else { return }
        sessions[name]?.published = session.next
        sessions[name]?.asked = nil
        if session.next == "stopped" { end(name) }
        guard session.next == "playing" else { return }
        let isTurnedTo = session.asked == .play && name != active
        let isNew = session.published != "playing" && (session.asked != nil || !begun.contains(name))
        if isNew || isTurnedTo || session.asked == .playThrough { begin(name) }
    }

    /// A session that was being made is there.
    mutating func made(_ name: String) {
        sessions[name] = making.removeValue(forKey: name)
    }

    /// A client's connection ended.
    mutating func disconnect(_ client: Int) {
        for name in sessions.keys.sorted() where sessions[name]?.kind.owner == client { close(name) }
    }

    /// The daemon ended and is there again.
    mutating func restart() {
        for name in sessions.keys.sorted() where sessions[name]?.kind != .lasting { close(name) }
        let last = active
        begun = []
        played = []
        for (name, session) in sessions {
            let wish = session.wish == "playing" ? "paused" : session.wish
            sessions[name]?.yieldsTo = [:]
            sessions[name]?.wish = wish
            sessions[name]?.published = wish
        }
        move(to: "main")
        if canBecomeActive(last) { move(to: last) }
    }

    /// Makes a session audible: the others yield, and it becomes the active session.
    private mutating func begin(_ name: String) {
        begun.insert(name)
        let policy = sessions[name]?.policy ?? "mix"
        sessions[name]?.yieldsTo = [:]
        sessions[name]?.playsThrough = false
        for other in sessions.keys where other != name && policy != "mix" && sessions[other]?.policy != "mix" {
            sessions[other]?.yieldsTo[name] = policy
        }
        if sessions[name]?.isExternal == false, canBecomeActive(name) { move(to: name) }
    }

    private mutating func end(_ name: String) {
        guard begun.remove(name) != nil else { return }
        for other in sessions.keys {
            sessions[other]?.yieldsTo[name] = nil
            if sessions[other]?.isHeld == false { sessions[other]?.playsThrough = false }
        }
    }

    private mutating func move(to name: String) {
        order.removeAll { $0 == name }
        order.append(name)
        order.removeFirst(order.firstIndex(of: "main") ?? 0)
    }

    private mutating func close(_ name: String) {
        end(name)
        played.remove(name)
        sessions[name] = nil
        order.removeAll { $0 == name }
    }
}

extension SessionModel {
    /// A possible outcome of simultaneous requests, each of another client, when all changes are published.
    struct Outcome: Hashable {
        var model: SessionModel
        /// Nil: not asked yet.
        var answers: [Answer?]
    }

    /// All outcomes: every order of requests and publications.
    func outcomes(of requests: [Request]) -> [Outcome] {
        var seen: Set<Outcome> = []
        var waiting = [Outcome(model: self, answers: requests.map { _ in nil })]
        var result: [Outcome] = []
        while let next = waiting.popLast() {
            guard seen.insert(next).inserted else { continue }
            let later = next.later(requests)
            waiting += later
            if later.isEmpty { result.append(next) }
        }
        return result
    }
}

extension SessionModel.Outcome {
    /// Possible next steps.
    fileprivate func later(_ requests: [SessionModel.Request]) -> [Self] {
        var result: [Self] = []
        for (index, request) in requests.enumerated() where answers[index] == nil {
            var next = self
            next.answers[index] = next.model.ask(request)
            result.append(next)
        }
        for name in model.unpublished {
            var next = self
            next.model.publish(name)
            result.append(next)
        }
        for name in model.making.keys {
            var next = self
            next.model.made(name)
            result.append(next)
        }
        return result
    }
}
