import ControlProtocol
import Glibc
import TestSupport
import Testing

/// Two clients that fight over the sessions of a daemon, and a third that follows and knows the expected result.
final class SessionFight {
    private var daemon: RealDaemon
    private var fighters: [Client]
    private var follower: Client
    private var numbers: SeededRandom
    private let music: JSONValue
    private let races: Bool
    /// Possible models so far: their differences have not shown yet.
    private var models: [SessionModel]
    private var model: SessionModel { models[0] }
    private var history: [String] = []
    private(set) var disagreement: String?
    private var sequence: Int64 = 0

    private static let names = ["main", "rain", "news", "game", "cast"]

    /// `races`: they ask at once, too.
    init(_ daemon: RealDaemon, _ folder: TemporaryFolder, seed: Int, races: Bool, activatesOnPlay: Bool) {
        self.daemon = daemon
        self.races = races
        models = [SessionModel(activatesOnPlay: activatesOnPlay)]
        fighters = [daemon.connect(), daemon.connect()]
        follower = daemon.connect()
        follower.call("nowPlaying.subscribe")
        numbers = SeededRandom(seed: UInt64(seed))
        music = .string(folder.silence("music.wav", seconds: 600))
    }

    private func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &numbers) }

    private func anyName() -> String { Self.names[chance(Self.names.count)] }

    /// One that exists, most of the time.
    private func someName() -> String {
        chance(8) == 0 ? anyName() : model.sessions.keys.sorted()[chance(model.sessions.count)]
    }

    /// A session of the daemon's own: only such have a queue.
    private func localName() -> String {
        let names = model.sessions.filter { !$1.isExternal }.keys.sorted()
        return names[chance(names.count)]
    }

    private func request(of client: Int) -> SessionModel.Request {
        let externals = model.sessions.keys.sorted().filter { model.sessions[$0]?.kind == .external(client) }
        switch chance(26) {
        case 0...1:
            let kind = [SessionModel.Kind.lasting, .brief(client), .external(client)][chance(3)]
            return .create(
                anyName(), kind, policy: ["pause", "pause", "duck", "pauseSpoken", "mix"][chance(5)],
                publishes: chance(6) > 0)
        case 2: return .close(someName())
        case 3...6: return .activate(someName())
        case 7...9: return .add(localName())
        case 10: return .clear(localName())
        case 11...14: return .play(chance(3) == 0 ? nil : localName())
        case 15...16: return .pause(chance(3) == 0 ? nil : localName())
        case 17: return .stop(chance(3) == 0 ? nil : localName())
        case 18...19: return .toggle(chance(3) == 0 ? nil : localName())
        case 20...21: return .volume(localName())
        default:
            guard let name = externals.randomElement(using: &numbers) else { return .play(localName()) }
            return .publish(
                name, state: ["playing", "playing", "paused", "stopped"][chance(4)], hasItem: chance(5) > 0)
        }
    }

    private func send(_ request: SessionModel.Request, by client: Int) -> Int {
        func session(_ name: String?) -> JSONValue { name.map { ["session": .string($0)] } ?? [:] }
        let fighter = fighters[client]
        switch request {
        case .create(let name, let kind, let policy, let publishes):
            var words: JSONObject = JSONObject([
                .init("name", .string(name)), .init("policy", .string(policy)), .init("publishes", .bool(publishes)),
            ])
            if case .brief = kind { words["whileConnected"] = true }
            if case .external = kind {
                words["external"] = true
                words["commands"] = ["nextTrack"]
            }
            return fighter.send("session.create", .object(words))
        case .close(let name): return fighter.send("session.close", ["name": .string(name)])
        case .activate(let name): return fighter.send("session.activate", ["name": .string(name)])
        case .add(let name): return fighter.send("queue.add", ["session": .string(name), "items": [music]])
        case .clear(let name): return fighter.send("queue.clear", ["session": .string(name)])
        case .play(let name): return fighter.send("play", session(name))
        case .pause(let name): return fighter.send("pause", session(name))
        case .stop(let name): return fighter.send("stop", session(name))
        case .toggle(let name): return fighter.send("togglePlayPause", session(name))
        case .volume(let name):
            return fighter.send("volume.set", ["session": .string(name), "volume": .number(Double(chance(100)) / 100)])
        case .publish(let name, let state, let hasItem):
            var words = JSONObject([.init("session", .string(name)), .init("state", .string(state))])
            if hasItem { words["item"] = ["title": .string("one of \(name)"), "duration": 600] }
            return fighter.send("nowPlaying.publish", .object(words))
        }
    }

    /// Makes a random request, and compares the result. False: the daemon was ended; the test continues with another one.
    func step() -> Bool {
        // Later steps prove nothing after a difference.
        guard disagreement == nil else { return true }
        switch chance(400) {
        case 0:
            end()
            return false
        case 1...4: reconnect(chance(2))
        case 5...140 where races: race()
        default: single()
        }
        return true
    }

    private func single() {
        let client = chance(2)
        let request = request(of: client)
        history.append("\(client) \(request)")
        forgetSwitches()
        let outcomes = models.flatMap { $0.outcomes(of: [request]) }
        compare(outcomes, [answer(to: request, fighters[client].answer(send(request, by: client)))])
        // One event for each switch, and none without.
        let switches = follow()
        let possible = models.filter { $0.switches == switches }
        if disagreement == nil, possible.isEmpty { disagree("followed \(switches), not \(model.switches)") }
        if !possible.isEmpty { models = possible }
    }

    private func forgetSwitches() {
        for index in models.indices { models[index].switches = [] }
    }

    /// Both at once.
    private func race() {
        forgetSwitches()
        let requests = [request(of: 0), request(of: 1)]
        history.append("both \(requests)")
        let before = model.active
        let outcomes = models.flatMap { $0.outcomes(of: requests) }
        let sent = [0, 1].map { send(requests[$0], by: $0) }
        compare(outcomes, [0, 1].map { answer(to: requests[$0], fighters[$0].answer(sent[$0])) })
        if disagreement == nil, follow().last ?? before != model.active {
            disagree("\(model.active) was not published")
        }
    }

    private func answer(to request: SessionModel.Request, _ answer: JSONValue) -> SessionModel.Answer {
        guard answer["error"] == nil else { return .refused }
        if case .activate = request { return .isActive(answer["result"]?["active"] == true) }
        return .granted
    }

    private func reconnect(_ client: Int) {
        history.append("\(client) goes")
        forgetSwitches()
        fighters[client] = daemon.connect()
        for index in models.indices { models[index].disconnect(client) }
        compare(models.flatMap { $0.outcomes(of: []) }, [])
        _ = follow()
    }

    private func end() {
        history.append("the daemon is started anew")
        fighters = []
        if daemon.stop() != 0 { disagree("the daemon did not end well") }
    }

    /// The daemon was started anew in the same folder.
    func goOn(_ daemon: RealDaemon) {
        self.daemon = daemon
        for index in models.indices { models[index].restart() }
        fighters = [daemon.connect(), daemon.connect()]
        follower = daemon.connect()
        sequence = follower.call("nowPlaying.subscribe")?.sequence ?? 0
        compare(models.flatMap { $0.outcomes(of: []) }, [])
        _ = follow()
    }

    /// The sessions that became active, in the events so far; each event later than the one before.
    private func follow() -> [String] {
        follower.call("nowPlaying.get")
        let events = follower.takeNotifications()
        for event in events {
            if event.sequence <= sequence { disagree("event \(event.sequence) after \(sequence)") }
            sequence = event.sequence
        }
        return events.filter { $0.words == "session" }.map { $0["session"]?.stringValue ?? "" }
    }

    /// Waits until the daemon's list matches one of these outcomes: holds and resumptions follow an answer. Outcomes with
    /// the same list that may differ later are all kept.
    private func compare(_ outcomes: [SessionModel.Outcome], _ answers: [SessionModel.Answer]) {
        let possible = outcomes.filter { $0.answers == answers }.map(\.model)
        var listed: [String] = []
        let isRight = becomes {
            listed = list()
            // A state in transition does not last.
            return possible.contains { $0.lines == listed } && (0..<3).allSatisfy { _ in list() == listed }
        }
        let found = Set(possible.filter { $0.lines == listed })
        if isRight, !found.isEmpty {
            models = Array(found)
        } else {
            let lines = outcomes.prefix(6).map { "\($0.answers), \($0.model.lines)" }
            disagree("\(answers), \(listed), not one of \(lines)")
        }
    }

    private func list() -> [String] {
        let sessions = follower.call("session.list")?["sessions"]?.arrayValue ?? []
        return sessions.map { session in
            let flags = ["active", "canBecomeActive"].map { session[$0] == true ? "true" : "false" }
            return "\(session["name"]?.stringValue ?? "") \(session.playing) \(flags[0]) \(flags[1])"
        }.sorted()
    }

    private func disagree(_ words: String) {
        disagreement = disagreement ?? "\(words); after \(history.suffix(12).joined(separator: "; "))"
    }

    /// Ends the daemon for good.
    func finish() -> Int32 { daemon.stop() }
}

extension Acceptance {
    /// Many clients, many sessions, one active.
    @Suite(.timeLimit(.minutes(30))) struct SessionFightTests {
        @Test(
            "two clients that fight over the active session, against a model",
            arguments: [(false, true), (true, true), (true, false)])
        func fight(atOnce: Bool, activatesOnPlay: Bool) async throws {
            LoopThread.start()
            let folder = TemporaryFolder()
            let setting = "[sessions]\nactivate-on-play = \(activatesOnPlay ? "yes" : "no")\n"
            let options = ["--config", folder.write(Array(setting.utf8), "settings.conf")]
            let steps = repetitions(300, nightly: 10_000)
            let seed = Int(currentEnvironment()["NOWPLAYING_SEED"] ?? "") ?? 7
            let fight = SessionFight(
                await RealDaemon.start(nil, output: "null", in: folder, options), folder, seed: seed, races: atOnce,
                activatesOnPlay: activatesOnPlay)
            for _ in 0..<steps where !fight.step() {
                fight.goOn(await RealDaemon.start(nil, output: "null", in: folder, options))
            }
            #expect(fight.disagreement == nil)
            #expect(fight.finish() == 0)
        }
    }
}
