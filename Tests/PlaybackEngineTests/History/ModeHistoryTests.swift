import AudioCore
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import PlaybackEngine

/// Random histories of the modes: random commands at random times over a queue in which some items can't be played.
@Suite struct ModeHistoryTests {
    @Test("for any modes at any times, the announced item follows, and the queue loses the items that play left")
    func drawnHistories() async {
        let drawn = DrawnHistories(usual: 200, nightly: 20_000)
        let counts = await drawn.run { seed in
            let history = ModeHistory(seed: seed)
            return (history.run(), [history.successions, history.consumed, history.pauses])
        }
        let (successions, consumed, pauses) = (counts[0], counts[1], counts[2])
        #expect(
            successions > drawn.count && consumed > drawn.count / 2 && pauses > drawn.count / 10,
            "\(successions) items, \(consumed) of them consumed, \(pauses) pauses")
    }
}

/// One random history of the modes, with a model of the queue beside the player.
@PlayerLoop private final class ModeHistory {
    private let seed: UInt64
    private let items: [ScriptedItem]
    private(set) var successions = 0
    /// Items that the queue lost because play left them.
    private(set) var consumed = 0
    /// Times that play paused after an item.
    private(set) var pauses = 0
    /// Items that came into the queue so far.
    private var made = 0
    /// Items that play left, or that a client removed.
    private var departed: Set<ItemID> = []
    /// The queue at the last event.
    private var known: Set<ItemID> = []
    /// True if a client asked for something since an item began or playback stopped.
    private var isAsked = false

    /// Without items that announce more frames than they have: `HistoryTests` has those.
    private static let oddKinds: [ScriptedItem.Kind] = [
        .late, .broken, .brokenLate, .empty, .unreadable, .unreadableLate,
    ]

    init(seed: UInt64) {
        self.seed = seed
        var random = SeededRandom(seed: seed)
        let odd = Int.random(in: 0...3, using: &random)
        items = (0..<Int.random(in: 1...7, using: &random)).map { _ in
            let rate = Int.random(in: 0..<4, using: &random) < odd ? 11025 : 8000
            let isOdd = Int.random(in: 0..<10, using: &random) < odd * 2
            let kind = isOdd ? Self.oddKinds.randomElement(using: &random)! : .plain
            let seconds = [0.005, 0.05, 0.4, 1, 2, 4, 12].randomElement(using: &random)!
            return ScriptedItem(
                kind: kind, frames: max(1, Int64(seconds * Double(rate) * Double.random(in: 0.5...1, using: &random))),
                format: AudioFormat(sampleFormat: .int16, sampleRate: rate, channelCount: 1), seed: random.next())
        }
    }

    /// Runs the history and returns its violations; empty: none.
    func run() -> [String] {
        guard let world = HistoryWorld.drawn(seed: seed, items: items) else { return ["no world can be had"] }
        defer { world.leave() }
        listen(to: world)
        add(to: world) { world.play(0..<items.count) }
        for _ in 0..<world.chance(40) {
            world.run(seconds: wait(world))
            act(world)
        }
        finish(world)
        successions = world.check.successions
        return world.check.complaints.isEmpty ? [] : world.check.complaints + world.history
    }

    private func finish(_ world: HistoryWorld) {
        for mode in [PlayMode.single(.off), .repetition(.off)] { ask(world, .mode(mode)) }
        if world.player.queue.isEmpty { add(to: world) { world.append(0..<items.count) } }
        if world.player.transport.wish != .playing { ask(world, .play(position: nil)) }
        let left = Double(made) / Double(items.count) * items.reduce(0) { $0 + $1.duration } + 60
        if !world.run(seconds: left, until: { world.player.transport.wish == .stopped }) {
            world.check.complain("it does not come to its end", world.player.state)
        }
        world.run(seconds: 2)
        if world.unanswered != 0 { world.check.complain("never answered: \(world.unansweredOrders)") }
    }

    // MARK: The model

    private func listen(to world: HistoryWorld) {
        let note = world.player.listeners.onPublish
        world.player.listen { listeners in
            listeners.onPublish = { [unowned self] state in
                let before = world.check.last
                note?(state)
                if let before { check(world, before, state) }
                known = Set(world.player.queue.entries.map(\.id))
                // The next item agrees with the modes of this event, unless a request comes before it.
                if state.cause == .track || state.cause == .stop || state.cause == .play { isAsked = false }
            }
        }
    }

    private func check(_ world: HistoryWorld, _ before: NowPlayingState, _ state: NowPlayingState) {
        let queue = Set(world.player.queue.entries.map(\.id))
        let left = before.item?.id
        let isOver = state.reason == .ended && (state.cause == .track || state.cause == .stop)
        // Another event may come before the next item is ready.
        let isLeft = world.player.transport.current != left
        if isOver || isLeft, let left { departed.insert(left) }
        for id in known.subtracting(queue) where !departed.contains(id) {
            world.check.complain("\(id.number) is gone, which play did not leave", before, state)
        }
        // A mode that was asked for since may have been in force already.
        guard isOver, !isAsked, let left, left != state.item?.id else { return }
        let loses = before.modes.consumeMode != .off && before.modes.repeatMode != .one
        if known.contains(left), queue.contains(left) == loses {
            world.check.complain("\(left.number) \(loses ? "stays in" : "left") the queue", before, state)
        }
        if loses {
            consumed += 1
            let mode: OccasionMode = before.modes.consumeMode == .once ? .off : .on
            if state.modes.consumeMode != mode { world.check.complain("consume is not \(mode)", before, state) }
        }
        guard before.modes.pausesAfterItem else { return }
        let rests = state.anchor.rate == 0 && state.anchor.elapsed == 0
        if !rests || state.state != (state.cause == .track ? .paused : .stopped) {
            world.check.complain("it does not pause after an item", before, state)
        }
        let mode: OccasionMode = before.modes.singleMode == .once ? .off : .on
        if state.modes.singleMode != mode { world.check.complain("single is not \(mode)", before, state) }
        pauses += 1
    }

    // MARK: Commands

    private func ask(_ world: HistoryWorld, _ command: PlayerCommand) {
        isAsked = true
        switch command {
        case .nextTrack, .skip: if let current = world.player.transport.current { departed.insert(current) }
        case .play, .playItem, .playQueue, .pause, .stop, .togglePlayPause, .previousTrack, .skipChapter, .seek, .mode,
            .changeRate:
            break
        }
        world.order(command)
    }

    /// All items come into the queue once more.
    private func add(to world: HistoryWorld, _ deed: () -> Void) {
        for item in items {
            made += 1
            if item.isUnplayable { world.check.broken.insert(ItemID(Int64(made))) }
        }
        isAsked = true
        deed()
    }

    /// Seconds until the next action: often on a boundary.
    private func wait(_ world: HistoryWorld) -> Double {
        switch world.chance(4) {
        case 0: return world.moment(0.003)
        case 1: return world.moment(0.2)
        case 2:
            let state = world.player.state
            guard state.anchor.rate > 0, let duration = state.item?.duration else { return world.moment(1) }
            return max(0, duration - state.anchor.position(at: EventLoop.now, duration: duration) - 0.01)
                + world.moment(0.02)
        default: return world.moment(4)
        }
    }

    private func act(_ world: HistoryWorld) {
        let player = world.player
        let duration = player.currentDuration ?? 1
        // An item that is being prepared begins where a seek puts it: `HistoryTests` has those.
        let isPrepared = player.playout.pending == nil
        switch world.chance(16) {
        case 0 where isPrepared: ask(world, .seek(world.moment(duration)))
        case 1 where isPrepared: ask(world, .seek(world.moment(duration / 2)))
        case 2: ask(world, .nextTrack)
        case 3: ask(world, .previousTrack(mayRestart: world.chance(2) == 0))
        case 4: ask(world, .togglePlayPause)
        case 5:
            if world.chance(3) == 0 { ask(world, .stop) }
            ask(world, .play(position: nil))
        case 6:
            let ids = player.queue.entries.map(\.id)
            if !ids.isEmpty { ask(world, .playItem(ids[world.chance(ids.count)], position: nil)) }
        case 7 where isPrepared: ask(world, .skip([0.7, -0.7, 20][world.chance(3)]))
        case 8, 9: ask(world, .mode(.consume(OccasionMode.allCases[world.chance(3)])))
        case 10, 11: ask(world, .mode(.single(OccasionMode.allCases[world.chance(3)])))
        case 12: ask(world, .mode(.repetition(RepeatMode.allCases[world.chance(3)])))
        case 13: ask(world, .mode(.shuffle(ShuffleMode.allCases[world.chance(3)])))
        case 14 where player.queue.count < 20: add(to: world) { world.append(0..<items.count) }
        default: if player.transport.wish != .playing { ask(world, .play(position: nil)) }
        }
    }
}
