import AudioCore
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import PlaybackEngine

/// Random histories of a player: random commands at random times, in a world of random speed.
@Suite struct HistoryTests {
    @Test(
        "for any requests at any times, each event agrees with the one before, and playback reaches its end")
    func drawnHistories() async {
        let drawn = DrawnHistories(usual: 300, nightly: 20_000)
        let counts = await drawn.run { seed in
            let history = History(seed: seed)
            return (history.run(), [history.successions])
        }
        #expect(counts[0] > drawn.count)
    }
}

/// One random history.
@PlayerLoop final class History {
    let seed: UInt64
    private(set) var successions = 0
    private var random: SeededRandom
    private let items: [ScriptedItem]

    init(seed: UInt64) {
        self.seed = seed
        var random = SeededRandom(seed: seed)
        let few = Int.random(in: 3...10, using: &random)
        let odd = Int.random(in: 0...3, using: &random)
        items = (0..<few).map { _ in
            let rate = Int.random(in: 0..<4, using: &random) < odd ? 11025 : 8000
            let kind: ScriptedItem.Kind =
                Int.random(in: 0..<10, using: &random) < odd * 2
                ? ScriptedItem.Kind.allCases.randomElement(using: &random)! : .plain
            // Some are so short that they are over before they are published.
            let seconds = [0.005, 0.05, 0.4, 1, 2, 4, 12].randomElement(using: &random)!
            return ScriptedItem(
                kind: kind, frames: max(1, Int64(seconds * Double(rate) * Double.random(in: 0.5...1, using: &random))),
                format: AudioFormat(sampleFormat: .int16, sampleRate: rate, channelCount: 1),
                seed: random.next())
        }
        self.random = random
    }

    /// Runs the history and returns its violations; empty: none.
    func run() -> [String] {
        guard let world = HistoryWorld.drawn(seed: seed, items: items) else { return ["no world can be had"] }
        defer { world.leave() }
        for number in items.indices where items[number].isUnplayable {
            world.check.broken.insert(ItemID(Int64(number + 1)))
        }
        world.play(0..<items.count)
        for _ in 0..<world.chance(30) {
            world.run(seconds: world.drawnWait())
            act(world)
        }
        // Left alone, it reaches its end.
        if world.player.transport.wish != .playing { world.order(.play(position: nil)) }
        let left = items.reduce(0) { $0 + $1.duration } + 60
        if !world.run(seconds: left, until: { world.player.transport.wish == .stopped }) {
            world.check.complain("it does not come to its end", world.player.state)
        }
        world.run(seconds: 2)
        if world.unanswered != 0 { world.check.complain("never answered: \(world.unansweredOrders)") }
        successions = world.check.successions
        return world.check.complaints.isEmpty ? [] : world.check.complaints + world.history
    }

    private func act(_ world: HistoryWorld) {
        let duration = world.player.currentDuration ?? 1
        switch world.chance(12) {
        case 0, 1: world.order(.seek(world.moment(duration)))
        case 2: world.order(.seek(max(0, duration - world.moment(0.01))))
        case 3: world.order(.seek(duration))
        case 4: world.order(.seek(0))
        case 5: world.order(.skip([0.7, -0.7, -0.1, -3][world.chance(4)]))
        case 6: world.order(.nextTrack)
        case 7: world.order(.previousTrack(mayRestart: true))
        case 8: world.order(.togglePlayPause)
        case 9, 10: world.pauseBriefly()
        default: world.playAgain()
        }
    }
}
