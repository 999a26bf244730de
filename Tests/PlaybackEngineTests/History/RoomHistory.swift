import AudioCore
import LinuxSystem
import MixedOutput
import NowPlaying
import TestSupport

@testable import PlaybackEngine

/// One history on a room's output.
@PlayerLoop final class RoomHistory {
    private let seed: UInt64
    private let delay: Double
    private let formats: [AudioFormat]
    private let makeSink: @PlayerLoop (EventLoop, Double) -> any RoomOutput
    /// Comparisons of a state with the room.
    private(set) var compared = 0
    /// States with a pending change.
    private(set) var pending = 0

    /// Seconds beside an event in which a state may be the old or the new one.
    private static let grace = 0.003
    /// Seconds by which a position may differ.
    private static let tolerance = 0.001

    /// `delay`: seconds of the room's buffer. `formats`: those of the items. `makeSink`: makes the room, with that buffer.
    init(
        seed: UInt64, delay: Double, formats: [AudioFormat] = [RoomSink.room.audioFormat],
        sink makeSink: @escaping @PlayerLoop (EventLoop, Double) -> any RoomOutput = { RoomSink($0, delay: $1) }
    ) {
        self.seed = seed
        self.delay = delay
        self.formats = formats
        self.makeSink = makeSink
    }

    /// Runs the history with random steps, or these; returns the faults.
    func run(_ deeds: ((HistoryWorld) -> Void)? = nil) -> [String] {
        HistoryWorld.enter()
        var random = SeededRandom(seed: seed)
        let items = (1...8).map { number in
            let seconds =
                [0.4, 1, 2, 4, 30].randomElement(using: &random)! * Double.random(in: 0.5...1, using: &random)
            let format = formats.count == 1 ? formats[0] : formats.randomElement(using: &random)!
            var item = ScriptedItem(
                kind: .plain, frames: Int64(8000 * (deeds == nil ? seconds : 100)), format: format,
                seed: random.next())
            item.number = Int64(number)
            return item
        }
        let sink = makeSink(EventLoop.current, delay)
        let world = HistoryWorld(
            seed: seed, machine: HistoryWorld.Machine(), check: HistoryCheck(tolerance: 0.004, gap: 4), items: items,
            ringSeconds: 11 + delay,
            output: { MixedOutput($0, Mixer($0, sink)) })
        guard let world else { return ["no world can be had"] }
        defer {
            sink.end()
            world.leave()
        }
        world.play(0..<items.count)
        if let deeds {
            deeds(world)
        } else {
            for _ in 0..<world.chance(20) {
                world.run(seconds: world.moment([0.05, 0.5, 3, 2 * delay + 1][world.chance(4)]))
                act(world)
            }
        }
        world.run(seconds: delay + 2)
        if world.unanswered != 0 { world.check.complain("never answered: \(world.unansweredOrders)") }
        compare(world, sink)
        let complaints = world.check.complaints
        return complaints.isEmpty ? [] : complaints + world.history
    }

    private func act(_ world: HistoryWorld) {
        // A jump in the milliseconds of the first start is left to the other histories: a room hears the old beginning.
        let player = world.player
        world.run(seconds: 1, until: { player.publisher.state.state != .stopped || player.playout.pending == nil })
        let duration = world.player.currentDuration ?? 1
        switch world.chance(10) {
        case 0, 1: world.order(.seek(world.moment(duration)))
        case 2: world.order(.skip([0.7, -0.7, -3][world.chance(3)]))
        case 3: world.order(.nextTrack)
        case 4: world.order(.previousTrack(mayRestart: true))
        case 5, 6, 7: world.order(.togglePlayPause)
        case 8: world.pauseBriefly()
        default: world.playAgain()
        }
    }

    /// Compares each state with the room from its event to the next.
    private func compare(_ world: HistoryWorld, _ sink: any RoomOutput) {
        let states = world.published
        pending = states.filter { $0.pending != nil }.count
        // Until its anchor a state may be ahead of the room.
        var known = MonotonicTime(nanoseconds: 0)
        for (index, state) in states.enumerated() {
            let ahead = state.anchor.monotonic.seconds(since: world.instants[index])
            if ahead > Hearing.limit { world.check.complain("the anchor is \(ahead) s ahead", state) }
            known = max(known, world.instants[index], state.anchor.monotonic)
            let begin = known.advanced(bySeconds: Self.grace)
            let end = (index + 1 < states.count ? world.instants[index + 1] : EventLoop.now)
                .advanced(bySeconds: -Self.grace)
            let length = end.seconds(since: begin)
            guard length > 0 else { continue }
            for part in [0, 0.3, 0.8, 1] { compare(world, state, sink, at: begin.advanced(bySeconds: part * length)) }
        }
    }

    private func compare(
        _ world: HistoryWorld, _ state: NowPlayingState, _ sink: any RoomOutput, at time: MonotonicTime
    ) {
        guard sink.isKnown(at: time) else { return }
        compared += 1
        let heard = sink.sample(at: time).map(RoomCode.decode)
        let seconds = Double(time.nanoseconds % 1_000_000_000_000) / 1e9
        guard state.anchor.rate > 0 else {
            if let heard { world.check.complain("at \(seconds) the room hears \(heard)", state) }
            return
        }
        // After the last item it is silent until the next sound, and the position stands at the end.
        let isOver = state.item?.duration.map { state.anchor.position(at: time, duration: nil) >= $0 } ?? false
        if heard == nil, isOver { return }
        guard let heard, let item = state.item else {
            return world.check.complain("at \(seconds) the room hears nothing", state)
        }
        let position = state.anchor.position(at: time, duration: item.duration)
        guard heard.item == item.id.number, abs(Double(heard.frame) / 8000 - position) < Self.tolerance else {
            return world.check.complain("at \(seconds) the room hears \(heard), not \(position)", state)
        }
    }
}
