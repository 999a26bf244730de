import AudioCore
import CVirtualTime
import LinuxSystem
import MixedOutput
import NowPlaying
import Synchronization
import TestSupport

@testable import PlaybackEngine

/// A player in a world with simulated time: nothing waits, no thread runs beside it, and the order of simultaneous events is
/// random.
///
/// It lives within one call on the loop's thread: between `enter` and `leave` nothing else happens there.
@PlayerLoop final class HistoryWorld {
    /// Speed of the machine.
    struct Machine {
        /// One of this number of calls is late; 0: none.
        var lateCalls = 0
        /// Longest delay of such a call in seconds.
        var lateness = 0.0
        /// Longest step of the decode thread in seconds.
        var step = 0.001
        /// Longest delay of a late source in seconds.
        var elsewhere = 0.3

        /// A machine that the seed makes punctual or late.
        static func drawn(_ seed: UInt64) -> Machine {
            var machine = Machine()
            if seed % 2 == 0 {
                machine.lateCalls = [3, 20, 100][Int(seed / 2 % 3)]
                machine.lateness = [0.02, 0.2][Int(seed / 6 % 2)]
                machine.step = [0.001, 0.05][Int(seed / 12 % 2)]
            }
            return machine
        }
    }

    let player: Player
    var check: HistoryCheck
    var random: SeededRandom
    /// Latest actions.
    private(set) var history: [String] = []
    /// All published states.
    private(set) var published: [NowPlayingState] = []
    /// Instants at which they were published.
    private(set) var instants: [MonotonicTime] = []
    /// Number of commands without an answer.
    var unanswered: Int { waiting.count }
    private var waiting: [Int: String] = [:]
    private var orders = 0
    /// True if another position was requested since the last event.
    private var hasMoved = false
    /// Orders without an answer.
    var unansweredOrders: String { waiting.sorted { $0.key < $1.key }.map(\.value).joined(separator: ", ") }
    private let machine: Machine
    private let items: [ScriptedItem]
    private let decode: DecodeThread
    private let worker: DecodeWorker
    private var stepping: EventSource?
    private var delivery: EventSource?
    private var others: [EventSource] = []
    private var waitsForSource = false
    /// True while a late source delivers nothing.
    private var isSourceHung = false
    /// Number of instants at which something happened.
    private(set) var turns = 0

    /// A world with a stopped player that plays `items`, on a machine that the seed makes punctual or late. Nil: the system
    /// has no descriptors left.
    static func drawn(
        seed: UInt64, items: [ScriptedItem], elsewhere: Double = Machine().elsewhere,
        output: (EventLoop) -> any AudioOutput = { NullOutput($0) }
    ) -> HistoryWorld? {
        enter()
        var machine = Machine.drawn(seed)
        machine.elsewhere = elsewhere
        return HistoryWorld(
            seed: seed, machine: machine,
            check: HistoryCheck(tolerance: 0.004, gap: 4, unpublished: 0.5 + 6 * machine.lateness), items: items,
            output: output)
    }

    /// Begins a world, in which everything until `leave` happens.
    static func enter() {
        EventLoop.current.separateDeferred()
        virtual_time_enter(1_000_000_000_000)
    }

    /// A stopped player; nil: the system has no descriptors left. `ringSeconds`: seconds that a ring keeps.
    init?(
        seed: UInt64, machine: Machine, check: HistoryCheck, items: [ScriptedItem], ringSeconds: Double = 11,
        output: (EventLoop) -> any AudioOutput,
        configure: (inout PlayerParts) -> Void = { _ in }
    ) {
        self.machine = machine
        self.items = items
        self.check = check
        random = SeededRandom(seed: seed)
        let loop = EventLoop.current
        let open: DecoderOpener = { source, _ throws(DecodingError) in
            guard let number = Self.number(of: source) else {
                throw DecodingError(.unavailable, "it does not exist")
            }
            return try items[number].open()
        }
        // Same as in the daemon.
        let capacity: @Sendable (AudioFormat) -> Int64 = { $0.frames(seconds: ringSeconds) }
        var parts = PlayerParts(
            output: output(loop), openDecoder: open, ringCapacity: capacity, events: EventCounter(),
            instance: "history")
        parts.shuffleSeed = seed
        configure(&parts)
        var made: DecodeWorker?
        guard
            let decode = DecodeThread(
                loop, open: open, ringCapacity: capacity, rates: parts.rates, knowledge: parts.knowledge,
                deliver: {},
                start: {
                    made = $0; return true
                }), let worker = made
        else { return nil }
        self.decode = decode
        self.worker = worker
        parts.makeDecodeThread = { _, _ in decode }
        player = Player(loop, parts)
        player.listen { listeners in
            listeners.onPublish = { [unowned self] state in
                note(HistoryCheck.line(state))
                published.append(state)
                instants.append(EventLoop.now)
                self.check.take(state, awaitsPosition: player.playout.pending != nil, hasMoved: hasMoved)
                if state.anchor.rate > 0 { hasMoved = false }
            }
        }
    }

    /// Ends the world.
    func leave() {
        player.listen { $0.onPublish = nil }
        player.shutDown()
        stepping?.release()
        delivery?.release()
        for other in others { other.release() }
        var turns = 0
        while virtual_time_dispatch(), turns < 1000 { turns += 1 }
        virtual_time_leave()
        EventLoop.current.joinDeferred()
    }

    /// A random number below `count`.
    func chance(_ count: Int) -> Int { Int.random(in: 0..<max(1, count), using: &random) }

    /// A random number of seconds up to `seconds`.
    func moment(_ seconds: Double) -> Double { seconds * Double(chance(1000)) / 1000 }

    /// Random seconds until the next action: often on the next boundary.
    func drawnWait() -> Double {
        switch chance(4) {
        case 0: return moment(0.003)
        case 1: return moment(0.2)
        case 2:
            guard let end = player.state.upcoming?.instant?.monotonic else { return moment(1) }
            let left = end.seconds(since: EventLoop.now)
            return left < 15 ? max(0, left - 0.01 + moment(0.02)) : moment(1)
        default: return moment(3)
        }
    }

    func note(_ line: String) {
        history.append("\(Double(EventLoop.now.nanoseconds % 1_000_000_000_000) / 1e9) \(line)")
        if history.count > 40 { history.removeFirst() }
    }

    /// Inserts items into the queue by their numbers and plays the first.
    func play(_ items: Range<Int>) {
        order(.playQueue(requests(items), position: nil))
    }

    /// Lets items overlap by so many seconds.
    func setCrossfade(_ seconds: Double) {
        note("crossfade \(seconds)")
        player.setCrossfade(CrossfadeSettings(seconds: seconds), by: Originator(client: "test", pid: 1, uid: 1))
    }

    /// Lets pause and resume fade.
    func setFades(_ fades: FadeSettings) {
        note("fades \(fades)")
        player.setFades(fades, by: Originator(client: "test", pid: 1, uid: 1))
    }

    /// Appends items to the queue by their numbers.
    func append(_ items: Range<Int>) {
        note("append \(items)")
        let answer = try? player.insert(requests(items), at: nil, by: Originator(client: "test", pid: 1, uid: 1))
        if answer == nil { check.complain("the queue takes no more") }
    }

    /// Removes an item from the queue.
    func remove(_ item: ItemID) {
        note("remove \(item.number)")
        player.remove([item], by: Originator(client: "test", pid: 1, uid: 1)) { _ in }
    }

    private func requests(_ items: Range<Int>) -> [QueueRequest] { items.map { QueueRequest(source: source($0)) } }

    /// Source of an item: a file if its medium can disappear, else an address.
    func source(_ number: Int) -> MediaSource {
        let item = items[number]
        let mayGo = item.absences > 0 || item.breakFrame != nil
        if !item.isLive, item.networkError == nil, mayGo, let path = FilePath(Array("/\(number)".utf8)) {
            return .file(path)
        }
        return .remote(address(number))
    }

    private func address(_ number: Int) -> RemoteMedia {
        RemoteMedia(address: "\(number)", shownAddress: "\(number)", mayUseLoopback: false)
    }

    private nonisolated static func number(of source: MediaSource) -> Int? {
        switch source {
        case .remote(let media): Int(media.address)
        case .plain(let path): Int(String(decoding: path.path.bytes.dropFirst(), as: UTF8.self))
        default: nil
        }
    }

    /// Gives a command.
    func order(_ command: PlayerCommand) {
        switch command {
        case .playQueue: note("order: play the queue")
        default: note("order: \(command)")
        }
        switch command {
        case .seek, .skip: hasMoved = true
        default: break
        }
        orders += 1
        let number = orders
        waiting[number] = "\(Double(EventLoop.now.nanoseconds % 1_000_000_000_000) / 1e9) \(command)"
        player.perform(command, by: Originator(client: "test", pid: 1, uid: 1)) { [weak self] _ in
            guard let self else { return }
            if waiting.removeValue(forKey: number) == nil { check.complain("answered twice: \(command)") }
        }
    }

    /// Pauses for a moment of 20 ms at most.
    func pauseBriefly() {
        order(.pause)
        run(seconds: moment(0.02))
        order(.play(position: nil))
    }

    /// Plays, now and then after a stop.
    func playAgain() {
        if chance(3) == 0 { order(.stop) }
        order(.play(position: nil))
    }

    /// Acts `seconds` from now.
    func after(_ seconds: Double, _ deed: @escaping @PlayerLoop () -> Void) {
        var source: EventSource?
        source = EventLoop.current.deadline(EventLoop.now.advanced(bySeconds: seconds)) { [unowned self] in
            others.removeAll { $0 === source }
            source = nil
            deed()
        }
        if let source { others.append(source) }
    }

    /// Lets late sources deliver nothing from their next read on, or again.
    func hangSource(_ hangs: Bool) { isSourceHung = hangs }

    // MARK: Time

    /// Runs the world until the condition holds; false: it does not hold within `seconds`.
    @discardableResult func run(seconds: Double, until isOver: () -> Bool = { false }) -> Bool {
        let end = EventLoop.now.advanced(bySeconds: seconds)
        wakeWorker()
        while !isOver() {
            let due = virtual_time_next()
            guard due >= 0, due <= end.nanoseconds else {
                virtual_time_set(end.nanoseconds)
                return false
            }
            virtual_time_set(due)
            if machine.lateCalls > 0, chance(machine.lateCalls) == 0 { pass(moment(machine.lateness)) }
            _ = virtual_time_dispatch()
            turns += 1
            pass(0.00002)
            wakeWorker()
        }
        return true
    }

    private func pass(_ seconds: Double) { virtual_time_set(EventLoop.now.nanoseconds + Int64(seconds * 1e9)) }

    // MARK: The decode thread

    /// Lets the decode thread take its next step, unless it sleeps.
    private func wakeWorker() {
        guard stepping == nil, decode.withOrders({ $0.isAwake || $0.awaitsSource }) else { return }
        let isAwake = decode.withOrders { $0.isAwake }
        if isSourceHung, !isAwake { return }
        let time = moment(isAwake ? machine.step : machine.elsewhere)
        waitsForSource = !isAwake
        stepping = EventLoop.current.deadline(EventLoop.now.advanced(bySeconds: time)) { [unowned self] in step() }
    }

    private func step() {
        stepping?.release()
        stepping = nil
        if waitsForSource {
            waitsForSource = false
            worker.becomeReadable()
        }
        _ = decode.withOrders { $0.wake() }
        _ = worker.step()
        deliver()
    }

    private func deliver() {
        guard delivery == nil, decode.withOrders({ $0.hasReports }) else { return }
        let time = EventLoop.now.advanced(bySeconds: moment(0.001))
        delivery = EventLoop.current.deadline(time) { [unowned self] in
            delivery?.release()
            delivery = nil
            player.playout.decoding.takeReports()
        }
    }
}
