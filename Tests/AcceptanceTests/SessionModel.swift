/// What must come of what clients ask of sessions: who is active, and who plays, is held or not.
struct SessionModel {
    /// Who a session belongs to.
    enum Kind: Equatable {
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

    struct Session {
        var kind = Kind.lasting
        var policy = "pause"
        var publishes = true
        var hasItem = false
        /// `playing`, `paused` or `stopped`: what is wanted, whoever holds it.
        var wish = "stopped"
        /// Those whose play it makes room for, and how.
        var yieldsTo: [String: String] = [:]
    }

    var sessions = ["main": Session()]
    /// The active one at the end, those that were it before below.
    var order = ["main"]
    var begun: Set<String> = []
    /// Those that are to be active as soon as they can.
    private var played: Set<String> = []

    var active: String { order.last ?? "main" }

    func canBecomeActive(_ name: String) -> Bool {
        sessions[name].map { $0.policy != "mix" && $0.publishes && $0.hasItem } ?? false
    }

    /// What everybody sees of a session.
    func state(_ name: String) -> String {
        guard let session = sessions[name] else { return "" }
        if case .external = session.kind { return session.wish }
        return session.wish == "playing" && session.yieldsTo.values.contains("pause") ? "interrupted" : session.wish
    }

    /// One line a session, as `session.list` must tell.
    var lines: [String] {
        sessions.keys.sorted().map { "\($0) \(state($0)) \($0 == active) \(canBecomeActive($0))" }
    }

    // MARK: What is asked

    /// What a client asks.
    enum Request: Equatable {
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
        /// What an external one says that it does.
        case publish(String, state: String, hasItem: Bool)
    }

    /// The request with the active session by its name.
    func named(_ request: Request) -> Request {
        switch request {
        case .play(nil): .play(active)
        case .pause(nil): .pause(active)
        case .stop(nil): .stop(active)
        case .toggle(nil): .toggle(active)
        default: request
        }
    }

    /// The session that a request wants to play, or not to; nil: it is another one.
    func target(_ request: Request) -> String? {
        switch request {
        case .play(let name), .pause(let name), .stop(let name), .toggle(let name): name ?? active
        default: nil
        }
    }

    /// Whether it is granted; the model is as it must be then.
    mutating func apply(_ request: Request) -> Bool {
        switch request {
        case .create(let name, let kind, let policy, let publishes):
            guard sessions[name] == nil else { return false }
            sessions[name] = Session(kind: kind, policy: policy, publishes: publishes)
            order.insert(name, at: 0)
            return true
        case .close(let name):
            guard name != "main", sessions[name] != nil else { return false }
            close(name)
            return true
        case .activate(let name):
            guard sessions[name] != nil else { return false }
            if canBecomeActive(name) { move(to: name) }
            return true
        case .add(let name):
            guard let session = sessions[name], session.kind.owner == nil || !isExternal(name) else { return false }
            sessions[name]?.hasItem = true
            return true
        case .clear(let name):
            guard sessions[name] != nil, !isExternal(name) else { return false }
            sessions[name]?.hasItem = false
            rest(name, "stopped")
            return true
        case .play(let name): return play(name ?? active)
        case .pause(let name): return hold(name ?? active, "paused")
        case .stop(let name): return hold(name ?? active, "stopped")
        case .toggle(let name):
            let name = name ?? active
            guard let session = sessions[name], !isExternal(name), session.hasItem else { return false }
            return session.wish == "playing" ? hold(name, "paused") : play(name)
        case .publish(let name, let state, let hasItem):
            guard sessions[name] != nil else { return false }
            publish(name, state, hasItem)
            return true
        }
    }

    private func isExternal(_ name: String) -> Bool {
        if case .external? = sessions[name]?.kind { return true }
        return false
    }

    private mutating func play(_ name: String) -> Bool {
        guard let session = sessions[name], !isExternal(name), session.hasItem else { return false }
        // What holds already is no beginning.
        if state(name) == "playing", name == active { return true }
        sessions[name]?.wish = "playing"
        begin(name)
        if canBecomeActive(name) { move(to: name) }
        return true
    }

    /// Pauses or stops.
    private mutating func hold(_ name: String, _ wish: String) -> Bool {
        guard let session = sessions[name], !isExternal(name) else { return false }
        if session.wish == "stopped" { return true }
        rest(name, wish)
        return true
    }

    private mutating func rest(_ name: String, _ wish: String) {
        sessions[name]?.wish = wish
        if wish == "stopped" { end(name) }
    }

    private mutating func publish(_ name: String, _ state: String, _ hasItem: Bool) {
        let before = sessions[name]?.wish
        sessions[name]?.wish = state
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

    private mutating func begin(_ name: String) {
        begun.insert(name)
        let policy = sessions[name]?.policy ?? "mix"
        sessions[name]?.yieldsTo = [:]
        for other in sessions.keys where other != name && policy != "mix" && sessions[other]?.policy != "mix" {
            sessions[other]?.yieldsTo[name] = policy
        }
    }

    private mutating func end(_ name: String) {
        guard begun.remove(name) != nil else { return }
        for other in sessions.keys { sessions[other]?.yieldsTo[name] = nil }
    }

    private mutating func move(to name: String) {
        order.removeAll { $0 == name }
        order.append(name)
    }

    private mutating func close(_ name: String) {
        end(name)
        played.remove(name)
        sessions[name] = nil
        order.removeAll { $0 == name }
    }

    // MARK: What happens

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
        for name in sessions.keys {
            sessions[name]?.yieldsTo = [:]
            if sessions[name]?.wish == "playing" { sessions[name]?.wish = "paused" }
        }
        move(to: "main")
        if canBecomeActive(last) { move(to: last) }
    }
}
