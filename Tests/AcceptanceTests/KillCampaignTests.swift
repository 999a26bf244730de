import ControlProtocol
import Glibc
import TestSupport
import Testing

/// A daemon that is killed again and again, with a model of its commands.
private final class KilledDaemon {
    private let folder = TemporaryFolder()
    private let configuration: String
    private let files: [JSONValue]
    private var numbers = SeededRandom(seed: 4711)
    private var daemon: RealDaemon
    private var client: Client
    /// Model of the answered commands, and of the possible results of a command that was under way.
    private var model = PlayerModel()
    private var underWay: PlayerModel.Command?
    /// Published position; nil: it moves, or a command was under way that may have changed it.
    private var position: Double?
    private var volume = 1.0
    private(set) var kills = 0
    private(set) var carriedOut = 0
    private(set) var differences = 0

    init() async {
        let folder = folder
        configuration = folder.write(Array("[playback]\nresume = paused\n".utf8), "nowplayingd.conf")
        files = (0..<4).map { .string(folder.silence("\($0).wav", seconds: 600)) }
        daemon = await RealDaemon.start(nil, output: "null", in: folder, ["--config", configuration])
        client = daemon.connect()
    }

    private func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &numbers) }

    private func anyone() -> Int64 { model.queue.randomElement(using: &numbers) ?? 1 }

    private func command() -> PlayerModel.Command {
        if model.queue.isEmpty { return .add(3, at: 0) }
        switch chance(14) {
        case 0...1: return .play
        case 2: return .pause
        case 3: return chance(2) == 0 ? .stop : .playItem(anyone())
        case 4: return .next
        case 5: return .previous
        case 6...7: return .seek(Double(chance(2900)) / 1000)
        case 8...10: return .add(1 + chance(4), at: chance(model.queue.count + 1))
        case 11: return .remove([anyone(), anyone()])
        case 12: return .move([anyone()], to: chance(model.queue.count))
        default: return chance(6) == 0 ? .clear : .seek(1)
        }
    }

    private func parameters(_ command: PlayerModel.Command) -> JSONValue {
        command.parameters(queueCount: model.queue.count) { files[chance(files.count)] }
    }

    /// A few commands, a kill, and a check of the saved state.
    func round() async {
        for _ in 0..<chance(6) {
            let command = command()
            let answer = client.answer(client.send(command.method, parameters(command)))
            _ = model.apply(
                command, added: (answer["result"]?["ids"]?.arrayValue ?? []).compactMap(\.integerValue))
        }
        volume = Double(chance(100)) / 100
        client.call("volume.set", ["volume": .number(volume)])
        let state = client.call("nowPlaying.get") ?? .null
        if let difference = model.difference(from: state) { complain("before the kill it should be \(difference)") }
        position = state.rate == 0 ? state.elapsed : nil
        underWay = chance(3) == 0 ? nil : command()
        if let underWay {
            client.send(underWay.method, parameters(underWay))
            position = nil
        }
        usleep(UInt32(chance(4) == 0 ? 0 : chance(4000)))
        daemon.process.signal(SIGKILL)
        daemon.process.wait()
        kills += 1
        daemon = await RealDaemon.start(nil, output: "null", in: folder, ["--config", configuration])
        client = daemon.connect()
        look()
    }

    /// Compares the restored state with the published one.
    private func look() {
        let state = client.call("nowPlaying.get") ?? .null
        let queue = client.call("queue.list", ["limit": 1000])?["items"]?.arrayValue ?? []
        let ids = queue.compactMap { $0["id"]?.integerValue }
        var (before, after) = (model, model)
        if let underWay {
            // The numbers that it gave out were not published.
            _ = after.apply(underWay, added: ids.filter { !model.queue.contains($0) })
        }
        // A playing item is paused after a start.
        if before.wish == "playing" { before.wish = "paused" }
        if after.wish == "playing" { after.wish = "paused" }
        let isAfter = after.queue == ids && after.difference(from: state) == nil
        if underWay != nil, isAfter, after != before { carriedOut += 1 }
        guard isAfter || (before.queue == ids && before.difference(from: state) == nil) else {
            complain("it should be \(before) or \(after); but it is \(state.playing) at \(state.itemID ?? 0) in \(ids)")
            return
        }
        model = isAfter ? after : before
        if let position, state.elapsed != position { complain("it stood at \(position), and is at \(state.elapsed)") }
        if state["volume"]?.doubleValue != volume { complain("the volume was \(volume): \(state["volume"] ?? .null)") }
    }

    private func complain(_ what: String) {
        differences += 1
        Issue.record("kill \(kills), \(underWay.map { "\($0)" } ?? "nothing") under way: \(what)")
    }

    func stop() { #expect(daemon.stop() == 0) }
}

extension Acceptance {
    /// The daemon itself, killed.
    @Suite(.timeLimit(.minutes(20))) struct KillCampaignTests {
        @Test("killed at any instant, it is as after its last answer, or as after the command that was under way")
        func kills() async {
            LoopThread.start()
            let killed = await KilledDaemon()
            for _ in 0..<Campaign.times(4, long: 500) { await killed.round() }
            Campaign.report(
                "the daemon killed during commands (kill -9)", killed.kills,
                "\(killed.differences) differences from what was answered; \(killed.carriedOut) commands under way were "
                    + "carried out, the others not at all")
            killed.stop()
        }
    }
}
