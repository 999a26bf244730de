import ControlProtocol
import Glibc
import TestSupport
import Testing

/// Clients that make random requests, and one that follows and knows the expected result.
final class RandomClient {
    /// The one that follows.
    let client: Client
    private let others: [Client]
    private let files: [JSONValue]
    private var numbers: SeededRandom
    private(set) var model = PlayerModel()
    /// Number of wrong positions of the daemon.
    private(set) var disagreements = 0
    /// Requests so far, for a failure's text.
    private(set) var history: [String] = []

    /// `files`: files for the queue, each less than 3 s long. `clients`: the clients that make requests.
    init(_ daemon: RealDaemon, _ files: [String], seed: Int, clients: Int = 0) {
        client = daemon.connect()
        others = (0..<clients).map { _ in daemon.connect() }
        client.call("nowPlaying.subscribe")
        self.files = files.map(JSONValue.string)
        numbers = SeededRandom(seed: UInt64(seed))
    }

    private func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &numbers) }

    private func anyone() -> Int64 { model.queue.randomElement(using: &numbers) ?? 1 }

    private func command() -> PlayerModel.Command {
        switch chance(20) {
        case 0...2: .play
        case 3: .toggle
        case 4: .pause
        case 5: chance(3) == 0 ? .stop : .pause
        case 6...8: .next
        case 9: .previous
        case 10...12: .seek(Double(chance(30)) / 1000)
        case 13: .playItem(anyone())
        case 14...16: .add(1 + chance(3), at: chance(model.queue.count + 1))
        case 17: .remove([anyone(), anyone()])
        case 18: .move([anyone()], to: chance(max(1, model.queue.count)))
        default: chance(4) == 0 ? .clear : .add(2, at: model.queue.count)
        }
    }

    private func parameters(_ command: PlayerModel.Command) -> JSONValue {
        command.parameters(queueCount: model.queue.count) { files[chance(files.count)] }
    }

    /// Waits for a random time, makes a random request, and compares the result.
    func step() {
        usleep(UInt32(chance(3) == 0 ? 0 : chance(60_000)))
        let command = command()
        switch command {
        case .move where model.queue.isEmpty, .remove where model.queue.isEmpty: return
        default: break
        }
        // Later steps prove nothing after a difference.
        if disagreements > 0 { return }
        ask(command)
    }

    /// Makes this request, and compares the result.
    func ask(_ command: PlayerModel.Command) {
        let before = model
        history.append("\(command)")
        let asker = others.randomElement(using: &numbers) ?? client
        let answer = asker.answer(asker.send(command.method, parameters(command)))
        // An event is written to all clients before the answer that names it: this brings it here.
        if asker !== client { client.call("hello") }
        let added = (answer["result"]?["ids"]?.arrayValue ?? []).compactMap(\.integerValue)
        // Earlier events of the player itself count first. The event of this command has an originator.
        var code: Int64?
        // A command that changes nothing has no event: its answer has the number of the last one.
        let last = answer["result"]?["seq"]?.integerValue
        for event in client.takeNotifications() {
            if event["by"] == .null || event["by"] == nil {
                if code == nil, let last, event.sequence > last { code = model.apply(command, added: added) }
                model.observe(event)
            } else if code == nil {
                code = model.apply(command, added: added)
            }
        }
        let expected = code ?? model.apply(command, added: added)
        let actual = answer["error"]?["code"]?.integerValue ?? 0
        if actual != expected { complain("the answer is \(answer), not \(expected)", before) }
        let state = client.call("nowPlaying.get") ?? .null
        for event in client.takeNotifications() { model.observe(event) }
        if let difference = model.difference(from: state) { complain("it should be \(difference)", before) }
    }

    /// Something else happened.
    func note(_ what: String) { history.append(what) }

    /// Lets it play to the end.
    func finish() {
        if model.queue.isEmpty { ask(.add(2, at: 0)) }
        if model.wish != "playing" { ask(.play) }
        while model.wish == "playing" {
            let event = client.event()
            if event == .null { return complain("it does not end by itself", model) }
            if event["by"] == .null { model.observe(event) }
        }
        let state = client.call("nowPlaying.get") ?? .null
        if let difference = model.difference(from: state) { complain("at the end it should be \(difference)", model) }
    }

    private func complain(_ what: String, _ before: PlayerModel) {
        disagreements += 1
        Issue.record(
            "\(what); before \(before.wish) at \(before.current ?? 0) in \(before.queue); \(history.suffix(12))")
    }
}

extension Acceptance {
    /// Random commands at random moments over a queue of short items in two formats, against a model.
    @Suite(.timeLimit(.minutes(20))) struct RandomTests {
        /// Six items, 0.04 to 0.5 s long, by turns at 44.1 kHz stereo and 48 kHz mono.
        static func files(_ folder: TemporaryFolder) -> [String] {
            [0.04, 0.1, 0.17, 0.3, 0.4, 0.5].enumerated().map { number, seconds in
                number % 2 == 0
                    ? folder.silence("\(number).wav", seconds: seconds, rate: 44100, channels: 2)
                    : folder.silence("\(number).wav", seconds: seconds, rate: 48000, channels: 1)
            }
        }

        private func play(_ daemon: RealDaemon, seed: Int, steps: Int) {
            let random = RandomClient(daemon, Self.files(daemon.folder), seed: seed)
            for _ in 0..<steps { random.step() }
            random.finish()
            #expect(random.model.complaints == [], "seed \(seed)")
            #expect(daemon.stop() == 0)
        }

        static let seeds = Array(1...repetitions(1, nightly: 20))

        @Test("random commands end where the model says, on nothing", arguments: seeds)
        func null(_ seed: Int) async throws {
            LoopThread.start()
            play(await RealDaemon.silent(), seed: seed, steps: repetitions(60, nightly: 1000))
        }

        @Test("random commands end where the model says, on PulseAudio", arguments: seeds)
        func pulse(_ seed: Int) async throws {
            LoopThread.start()
            let server = await SharedServer.pulseAudio.value
            play(await RealDaemon.start(server), seed: 1000 + seed, steps: repetitions(60, nightly: 1000))
        }
    }
}
