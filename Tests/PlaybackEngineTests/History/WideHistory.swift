import AudioCore
import LinuxSystem
import MixedOutput
import NowPlaying
import TestSupport

@testable import PlaybackEngine

/// A random history with everything that a player meets: commands, edits, tags, rates, interruptions, media and devices that
/// disappear and return. It records each published state, each answer and each call of the output.
@PlayerLoop final class WideHistory {
    private let seed: UInt64
    private let items: [ScriptedItem]
    private var random: SeededRandom
    private var world: HistoryWorld?
    private var output: FaultyOutput?
    /// Lines of the record; kept only on request.
    private(set) var lines: [String] = []
    private let keepsLines: Bool
    /// Seconds by which items overlap.
    private let crossfade: Double
    /// Fades of pause and resume.
    private let fades: FadeSettings
    /// Number of overlaps that were seen.
    private(set) var overlaps = 0
    /// Commands without an answer at the end.
    private(set) var unanswered = ""
    /// FNV-1a of all lines.
    private(set) var digest: UInt64 = 0xcbf2_9ce4_8422_2325
    /// Lines so far.
    private(set) var count = 0
    /// Modes that read no neighbours: those have a thread of their own, which does not run on the world's time.
    private static let loudness: [LoudnessMode] = [.off, .track, .album]
    private let by = Originator(client: "test", pid: 1, uid: 1)

    /// The history with this number, in which items overlap by `crossfade` seconds, and pause and resume fade.
    init(seed: UInt64, crossfade: Double = 0, fades: FadeSettings = FadeSettings(), keepsLines: Bool = false) {
        self.crossfade = crossfade
        self.fades = fades
        self.seed = seed
        self.keepsLines = keepsLines
        var random = SeededRandom(seed: seed &* 7919)
        let odd = Int.random(in: 0...3, using: &random)
        items = (0..<Int.random(in: 3...9, using: &random)).map { number in
            var item = Self.item(&random, odd: odd)
            item.metadata.title = "item \(number)"
            return item
        }
        self.random = random
    }

    private static func item(_ random: inout SeededRandom, odd: Int) -> ScriptedItem {
        let rate = Int.random(in: 0..<4, using: &random) < odd ? 11025 : 8000
        let isOdd = Int.random(in: 0..<12, using: &random) < odd * 2
        let kind = isOdd ? ScriptedItem.Kind.allCases.randomElement(using: &random)! : .plain
        let seconds = [0.005, 0.4, 1, 2, 4, 12, 30].randomElement(using: &random)!
        let part = Double.random(in: 0.5...1, using: &random)
        var item = ScriptedItem(
            kind: kind, frames: max(1, Int64(seconds * Double(rate) * part)),
            format: AudioFormat(sampleFormat: .int16, sampleRate: rate, channelCount: 1), seed: random.next())
        switch Int.random(in: 0..<10, using: &random) {
        case 0 where kind == .plain: item.absences = Int.random(in: 1...4, using: &random)
        case 1 where kind == .plain: item.breakFrame = item.frames / 2
        case 2:
            item.kind = .late
            item.isLive = true
            item.frames *= 4
            if Bool.random(using: &random) { item.breakFrame = item.frames / 3 }
        case 3: item.metadata.chapters = (0..<4).map { Chapter(start: Double($0) * seconds / 5, title: "\($0)") }
        case 4:
            item.metadata.adTimeRanges = [
                AdTimeRange(start: seconds * 0.1, duration: seconds * 0.1),
                AdTimeRange(start: seconds * 0.4, duration: seconds * 0.2),
            ]
        case 5, 6:
            item.metadata.loudness = LoudnessTags(
                trackGain: Double(Int.random(in: -9...3, using: &random)), trackPeak: 0.7, albumGain: -4, albumPeak: 0.9
            )
            item.metadata.albumTitle = "album"
            item.metadata.trackNumber = Int.random(in: 1...5, using: &random)
        default: break
        }
        return item
    }

    private func write(_ line: String) {
        let line = "\(EventLoop.now.nanoseconds) \(line)"
        for byte in line.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
        digest = (digest ^ 10) &* 0x100_0000_01b3
        count += 1
        if keepsLines { lines.append(line) }
    }

    /// A state without the time of day, which is not the world's.
    private func line(of state: NowPlayingState) -> String {
        var line = HistoryCheck.line(state)
        let anchor = state.anchor
        line += " \(anchor.media) \(anchor.mediaRate) \(anchor.skew) \(anchor.defaultRate)"
        if let ad = anchor.ad { line += " ad \(ad.index) \(ad.ends?.nanoseconds ?? 0)" }
        if let by = state.by { line += " by \(by.client)" }
        if let interruption = state.interruption { line += " for \(interruption.by) \(interruption.shouldResume)" }
        if let route = state.route { line += " \(route.from ?? "-")>\(route.to ?? "-") \(route.reason.rawValue)" }
        if let item = state.item {
            line += " \(item.uri) \(item.metadata.title ?? "-") \(item.chapterIndex ?? -1) \(item.feedback != nil)"
            line += " \(item.format?.codec ?? "-")"
        }
        if let next = state.upcoming {
            line += " next \(next.title ?? "-") \(next.instant?.monotonic.nanoseconds ?? 0)"
        }
        line += " queue \(state.queueIndex ?? -1) \(state.queueCount) \(state.queueVersion) \(state.commandsVersion)"
        line += " \(state.modes.repeatMode.rawValue) \(state.volume) \(state.muted) \(state.loudness.mode.rawValue)"
        line += " \(state.loudness.preamp) \(state.loudness.gain ?? 0)"
        if let sleep = state.sleep { line += " sleep \(sleep.time?.nanoseconds ?? 0) \(sleep.fade)" }
        if let output = state.output {
            line += " \(output.name) \(output.state) \(output.latency ?? -1)"
            line += " \(output.bitPerfect.map { $0.reason ?? "exact" } ?? "-")"
        }
        if let error = state.error { line += " error \(error.itemID.number) \(error.message) \(error.count)" }
        return line
    }

    private func line(of position: SavedPosition) -> String {
        "\(position.wish.rawValue) \(position.item?.number ?? 0) \(position.elapsed) \(position.playCount) \(position.rate ?? 0) "
            + "\(position.pace) \(position.loudness?.mode.rawValue ?? "-")"
    }

    /// Runs the history.
    func run() {
        HistoryWorld.enter()
        let isSlow = seed % 5 == 0
        let world = HistoryWorld(
            seed: seed, machine: .drawn(seed), check: HistoryCheck(tolerance: 1e9, gap: 1e9), items: items,
            output: { loop in
                let inner: any AudioOutput = isSlow ? SlowOutput(loop, latency: 0.3, SlowOutputLog()) : NullOutput(loop)
                let output = FaultyOutput(loop, inner) { [unowned self] in write($0) }
                self.output = output
                return output
            },
            configure: { parts in
                parts.rates = RateRules(makeChanger: { format, rate in ScanChanger(format, rate: max(rate, 1.01)) })
                parts.watchServer = { Alarm(0.3, $0) }
                parts.watchMedia = { _, _, back in Alarm(0.7, back) }
                if self.seed % 3 == 0 { parts.onOutputLost = OutputLostPolicy.allCases[Int(self.seed / 3 % 3)] }
                parts.loudness = LoudnessSettings(mode: Self.loudness[Int(self.seed % 3)])
            })
        guard let world else { return write("no world can be had") }
        self.world = world
        defer {
            self.world = nil
            world.leave()
        }
        listen(to: world)
        if crossfade > 0 { world.setCrossfade(crossfade) }
        if fades != FadeSettings() { world.setFades(fades) }
        world.play(0..<(items.count - 1))
        for _ in 0..<world.chance(40) {
            world.run(seconds: world.drawnWait())
            if world.player.playout.leaving != nil { overlaps += 1 }
            act(world)
        }
        output?.restoreServer()
        output?.suspend(false)
        output?.interrupt(nil)
        world.player.yield(to: "test", nil, over: 0.1)
        if world.player.transport.wish != .playing { world.order(.play(position: nil)) }
        world.run(seconds: 60, until: { world.player.transport.wish == .stopped })
        world.run(seconds: 2)
        unanswered = world.unansweredOrders
        write("unanswered \(unanswered)")
        if seed % 7 == 0 { world.player.close(by: by) }
    }

    private func listen(to world: HistoryWorld) {
        let note = world.player.listeners.onPublish
        world.player.listen { listeners in
            listeners.onPublish = { [unowned self] state in
                write("state \(line(of: state))")
                note?(state)
            }
            listeners.onItemFailure = { [unowned self] in write("failure \($0) \($1)") }
            listeners.onMediaAway = { [unowned self] in write("away \($0) \($1)") }
            listeners.onStreamLost = { [unowned self] in write("lost \($0) \($1)") }
            listeners.onAsked = { [unowned self] in write("asked \($0.number)") }
            listeners.feedbackOf = { state in
                guard state.item?.id.number == 2 else { return nil }
                return Feedback()
            }
            listeners.kindOf = { $0.id.number % 2 == 0 ? .audio : .podcast }
        }
        let keeper = RecordingKeeper { [unowned self] in write("kept \($0) \(line(of: $1))") }
        self.keeper = keeper
        world.player.keepPosition(with: keeper)
    }

    private var keeper: RecordingKeeper?

    private func act(_ world: HistoryWorld) {
        switch world.chance(5) {
        case 0, 1: navigate(world)
        case 2: edit(world)
        case 3: set(world)
        default: disturb(world)
        }
    }

    private func navigate(_ world: HistoryWorld) {
        let duration = world.player.currentDuration ?? 1
        switch world.chance(14) {
        case 0, 1: world.order(.seek(world.moment(duration)))
        case 2: world.order(.seek(max(0, duration - world.moment(0.01))))
        case 3: world.order(.seek([0, duration][world.chance(2)]))
        case 4: world.order(.skip([0.7, -0.7, -0.1, -3, 20][world.chance(5)]))
        case 5: world.order(.nextTrack)
        case 6: world.order(.previousTrack(mayRestart: true))
        case 7: world.order(.togglePlayPause)
        case 8: world.order(.skipChapter(forward: world.chance(2) == 0))
        case 9: world.order(.playItem(ItemID(Int64(1 + world.chance(items.count))), position: nil))
        case 10: world.order(.play(position: world.moment(duration)))
        case 11: world.pauseBriefly()
        default: world.playAgain()
        }
    }

    private func edit(_ world: HistoryWorld) {
        let player = world.player
        let ids = player.queue.entries.map(\.id)
        let id = ids.isEmpty ? ItemID(1) : ids[world.chance(ids.count)]
        switch world.chance(8) {
        case 0, 1: world.append((items.count - 1)..<items.count)
        case 2, 3: world.remove(id)
        case 4: player.move([id], to: world.chance(ids.count), by: by)
        case 5:
            var given = MediaMetadata()
            given.title = "given \(world.chance(3))"
            if world.chance(2) == 0 { given.adTimeRanges = [AdTimeRange(start: world.moment(3), duration: 0.5)] }
            try? player.update(id, given, by: by)
        case 6: if world.chance(4) == 0 { player.clear(by: by) { _ in } }
        default: world.order(.mode(.repetition(RepeatMode.allCases[world.chance(RepeatMode.allCases.count)])))
        }
    }

    private func set(_ world: HistoryWorld) {
        let player = world.player
        switch world.chance(11) {
        case 0, 1: world.order(.changeRate([0.5, 1, 1.5, 2][world.chance(4)]))
        case 2, 3:
            player.beginScan(forward: world.chance(3) > 0, owner: 1, by: by) { [weak self] in self?.answered($0) }
            world.run(seconds: world.moment(6))
            if world.chance(4) > 0 { player.endScan(by: by) { [weak self] in self?.answered($0) } }
        case 4: player.connectionEnded(1, by: by)
        case 5:
            player.setLoudness(
                Self.loudness[world.chance(3)], preamp: [0, -6][world.chance(2)], by: by)
        case 6: player.setSleep(.at(EventLoop.now.advanced(bySeconds: world.moment(8))), fade: world.moment(4), by: by)
        case 7: player.setSleep([.endOfItem, nil][world.chance(2)], fade: world.moment(2), by: by)
        case 8: player.setVolume(world.moment(1), muted: world.chance(4) == 0, by: by)
        case 9: player.fadeVolume(world.moment(1), isLast: world.chance(2) == 0, by: by)
        default: world.chance(2) == 0 ? player.commandsChanged(by: by) : player.publishActivation(by: by)
        }
    }

    private func answered(_ result: Result<CommandOutcome, CommandRefusal>) {
        switch result {
        case .success(let outcome): write("answered \(outcome.state.sequence) \(outcome.isSuperseded)")
        case .failure(let refusal): write("refused \(refusal)")
        }
    }

    private func disturb(_ world: HistoryWorld) {
        guard let output else { return }
        switch world.chance(14) {
        case 0, 1:
            output.dropServer()
            world.after(world.moment(3)) { output.restoreServer() }
        case 2, 3:
            output.loseDevice(moves: world.chance(2) == 0)
            world.after(world.moment(4)) { output.restoreDevice() }
        case 4:
            output.suspend(true)
            world.after(world.moment(3)) { output.suspend(false) }
        case 5: output.move(to: ["speakers", "television"][world.chance(2)], .moved)
        case 6, 7:
            output.interrupt("phone")
            world.after(world.moment(3)) { output.interrupt(nil) }
        case 8:
            output.askForSilence("call")
            world.after(world.moment(3)) { output.askForSilence(nil) }
        case 9, 10:
            let yielding: Yielding = world.chance(2) == 0 ? .held : .quiet(0.1)
            world.player.yield(to: "test", yielding, over: world.moment(0.3))
            world.after(world.moment(3)) { world.player.yield(to: "test", nil, over: 0.2) }
        case 11: output.changeVolume(world.moment(1), muted: false)
        case 12: world.player.playout.clockStepped()
        default: output.refuse()
        }
    }
}

/// Calls back once after a while, unless released.
@PlayerLoop private final class Alarm {
    private var source: EventSource?

    init(_ seconds: Double, _ call: @escaping @PlayerLoop () -> Void) {
        source = EventLoop.current.deadline(EventLoop.now.advanced(bySeconds: seconds)) { call() }
    }
}

/// Records saved states.
@PlayerLoop private final class RecordingKeeper: PositionKeeper {
    private let write: @PlayerLoop (String, SavedPosition) -> Void

    init(_ write: @escaping @PlayerLoop (String, SavedPosition) -> Void) { self.write = write }

    func keep(_ edits: [QueueEdit], _ queue: PlayQueue, _ position: SavedPosition) {
        write("\(edits.count) edits of \(queue.count)", position)
    }

    func note(_ position: SavedPosition) { write("note", position) }
}
