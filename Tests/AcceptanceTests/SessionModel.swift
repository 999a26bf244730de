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
    /// The active session last, and the earlier active ones before it.
    private(set) var order = ["main"]
    /// True if a client chose the active session, and the choice holds.
    private var isChosen = false
    /// The sessions that sound: the last one to begin at the end.
    private var sounding: [String] = []
    /// The setting: sessions that begin become active.
    let activatesOnPlay: Bool
    /// The sessions that became active since the last request.
    var switches: [String] = []
    private var begun: Set<String> = []
    /// Those that are being made.
    private(set) var making: [String: Session] = [:]

    init(activatesOnPlay: Bool) { self.activatesOnPlay = activatesOnPlay }

    var active: String { order.last ?? "main" }

    func canBecomeActive(_ name: String) -> Bool {
        sessions[name].map {
            $0.policy != "mix" && $0.publishes && $0.hasItem && !($0.isExternal && $0.published == "stopped")
        } ?? false
    }

    /// The session that people hear, among those that can be active; nil: none.
    private func heard(besides other: String? = nil) -> String? {
        sounding.last { $0 != other && canBecomeActive($0) }
    }

    /// True if a client's choice of the session holds beside another one that sounds.
    private func keepsChoice(_ name: String) -> Bool {
        canBecomeActive(name) && ["playing", "paused", "stalled"].contains(sessions[name]?.published ?? "")
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
            if name == active {
                isChosen = keepsChoice(name) || heard(besides: name) == nil
            } else if canBecomeActive(name), keepsChoice(name) || heard(besides: name) == nil {
                isChosen = true
                move(to: name)
            }
            return .isActive(active == name)
        case .add(let name):
            guard sessions[name]?.isExternal == false else { return .refused }
            sessions[name]?.hasItem = true
            settle()
        case .clear(let name):
            guard sessions[name]?.isExternal == false else { return .refused }
            sessions[name]?.hasItem = false
            rest(name, "stopped")
            settle()
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
            if session.published == "playing", session.asked == nil, name != active {
                begin(name)
                turn(to: name)
            }
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
        sounds(name, state == "playing")
        if state == "stopped" { end(name) }
        if state == "playing", before != "playing" { begin(name) }
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
        sounds(name, session.next == "playing")
        if session.next == "stopped" { end(name) }
        guard session.next == "playing" else { return }
        let isTurnedTo = session.asked == .play && name != active
        let isNew = session.published != "playing" && (session.asked != nil || !begun.contains(name))
        if isNew || isTurnedTo || session.asked == .playThrough { begin(name) }
        if isTurnedTo { turn(to: name) }
    }

    /// A session that was being made is there.
    mutating func made(_ name: String) {
        sessions[name] = making.removeValue(forKey: name)
        settle()
    }

    /// A client's connection ended.
    mutating func disconnect(_ client: Int) {
        for name in sessions.keys.sorted() where sessions[name]?.kind.owner == client { close(name) }
    }

    /// The daemon ended and is there again.
    mutating func restart() {
        let last = order.last { sessions[$0]?.kind == .lasting } ?? "main"
        for name in sessions.keys.sorted() where sessions[name]?.kind != .lasting { close(name) }
        begun = []
        sounding = []
        isChosen = false
        order = ["main"]
        for (name, session) in sessions {
            let wish = session.wish == "playing" ? "paused" : session.wish
            sessions[name]?.yieldsTo = [:]
            sessions[name]?.wish = wish
            sessions[name]?.published = wish
        }
        if canBecomeActive(last) { move(to: last) }
    }

    /// Notes if a session sounds, and applies the rule of the active one.
    private mutating func sounds(_ name: String, _ isSounding: Bool) {
        if !isSounding {
            sounding.removeAll { $0 == name }
        } else if !sounding.contains(name) {
            begins(name)
        }
        settle()
    }

    private mutating func begins(_ name: String) {
        let last = activatesOnPlay ? nil : sounding.firstIndex(of: active)
        sounding.insert(name, at: last ?? sounding.endIndex)
    }

    /// A client plays a session that sounds already.
    private mutating func turn(to name: String) {
        sounding.removeAll { $0 == name }
        begins(name)
        settle()
    }

    /// The active session is the one that a person in the room would mean.
    private mutating func settle() {
        let isThere = sessions[active].map { !($0.isExternal && $0.published == "stopped") } ?? false
        if isChosen, isThere, keepsChoice(active) || heard(besides: active) == nil { return }
        isChosen = false
        if let heard = heard() {
            move(to: heard)
        } else if !isThere {
            move(to: order.dropLast().last { canBecomeActive($0) } ?? "main")
        }
    }

    /// Makes a session audible: the others yield.
    private mutating func begin(_ name: String) {
        begun.insert(name)
        let policy = sessions[name]?.policy ?? "mix"
        sessions[name]?.yieldsTo = [:]
        sessions[name]?.playsThrough = false
        for other in sessions.keys where other != name && policy != "mix" && sessions[other]?.policy != "mix" {
            sessions[other]?.yieldsTo[name] = policy
        }
    }

    private mutating func end(_ name: String) {
        guard begun.remove(name) != nil else { return }
        for other in sessions.keys {
            sessions[other]?.yieldsTo[name] = nil
            if sessions[other]?.isHeld == false { sessions[other]?.playsThrough = false }
        }
    }

    private mutating func move(to name: String) {
        guard name != active else { return }
        order.removeAll { $0 == name }
        order.append(name)
        switches.append(name)
    }

    private mutating func close(_ name: String) {
        end(name)
        sessions[name] = nil
        sounding.removeAll { $0 == name }
        let wasActive = name == active
        if !wasActive { order.removeAll { $0 == name } }
        settle()
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
