import ControlProtocol
import NowPlaying
import TestSupport

/// A chunk as a room hears it.
struct HeardChunk {
    /// Instant at which its first frame is heard, in seconds of CLOCK_MONOTONIC.
    let time: Double
    /// Number of its first frame by the code; nil: it begins with silence, or with frames that do not follow each other.
    let frame: Int?
    /// True if it is silent.
    let isSilent: Bool
}

extension SnapcastListener {
    /// Frames at the beginning of a chunk that have to follow each other, and those that tell the number of one.
    private static let (checked, code) = (20, 16)

    /// All chunks so far, as a room hears them.
    var heard: [HeardChunk] {
        chunks.compactMap { chunk in
            guard chunk.samples.count >= 2 * Self.checked else { return nil }
            let frames = PositionCode.decode(Array(chunk.samples.prefix(2 * Self.checked)))
                .prefix(Self.checked - Self.code)
            let isRun = frames[0] >= 0 && zip(frames, frames.dropFirst()).allSatisfy { $1 == $0 + 1 }
            return HeardChunk(
                time: time(of: chunk), frame: isRun ? frames[0] : nil, isSilent: chunk.samples.allSatisfy { $0 == 0 })
        }
    }

    /// Instants at which the rooms hear the first chunk of another run: of a connection, or after a server that read late
    /// changed its times.
    var changes: [Double] {
        let times = chunks.map(time)
        return zip(times, times.dropFirst()).filter { abs($1 - $0 - 0.02) > 0.0001 }.map { $1 }
    }

    private func time(of chunk: Chunk) -> Double { Double(chunk.stamp.nanoseconds) / 1e9 + SnapcastHouse.buffer }
}

/// Errors of a position in seconds.
struct PositionErrors {
    /// Seconds by which a position may be wrong.
    static let limit = 0.001

    private(set) var all: [Double] = []
    /// Words about the first errors beyond the limit.
    private var faults: [String] = []

    /// Adds an error; `place`: words about its place, for a message.
    mutating func add(_ error: Double, _ place: @autoclosure () -> String) {
        all.append(error)
        if abs(error) > Self.limit, faults.count < 40 { faults.append("\(error) s \(place())") }
    }

    /// The 95th of 100 errors, by size.
    var p95: Double {
        let sizes = all.map(abs).sorted()
        return sizes.isEmpty ? .infinity : sizes[min(sizes.count - 1, sizes.count * 95 / 100)]
    }

    /// Size of the largest one.
    var largest: Double { all.map(abs).max() ?? 0 }
    var words: String { "p95 \(p95) s, largest \(largest) s of \(all.count) chunks" }
    /// The same with the places of errors, for a failure.
    var report: String { words + faults.map { "\n  " + $0 }.joined() }
}

/// The times for which the daemon and its server had no processor, in the course of a test.
struct HouseWaits {
    private let processes: [Int32]
    private var readings: [(time: Double, waits: ProcessorWaits)] = []

    /// Begins with a reading.
    init(_ house: SnapcastHouse) {
        processes = [house.daemon.process.pid, house.server.process.pid]
        read()
    }

    /// Takes a reading. The more there are, the nearer is `seconds`.
    mutating func read() {
        readings.append((Double(MonotonicTime.now.nanoseconds) / 1e9, ProcessorWaits(of: processes)))
    }

    /// Seconds for which they waited from one instant to another, and in the readings around.
    func seconds(from begin: Double, to end: Double) -> Double {
        guard let first = readings.last(where: { $0.time <= begin }) ?? readings.first,
            let last = readings.first(where: { $0.time >= end }) ?? readings.last
        else { return 0 }
        return max(0, last.waits.seconds(since: first.waits))
    }
}

/// The states of a daemon beside the chunks that the rooms hear.
struct RoomComparison {
    /// Chunks by the last event in the second before them.
    enum Kind: String, CaseIterable { case steady, start, resume, seek, next, reconnect }

    private(set) var errors: [Kind: PositionErrors] = [:]
    /// Instants of chunks that are heard while nothing plays.
    private(set) var intruders: [Double] = []
    /// Changes of the server's times without a start of ours.
    private(set) var changes: [Double] = []
    /// Chunks near such changes, and those of which the waits of a busy machine delayed the answer.
    private(set) var leftOut = 0
    /// Chunks whose first frame is that of a state, but whose time is rounded to the instant before it.
    private(set) var joints = 0

    /// Half a frame: chunks have times of whole microseconds.
    private static let half = 0.5 / SnapcastHouse.rate
    /// Seconds after a change that the server made by itself is heard until the daemon knows.
    private static let learning = 1.0

    /// Compares each chunk with the state at its instant. `receipts`: the instants at which the states came. `offsets`: code of the
    /// first frame of each address, in seconds.
    init(
        _ listener: SnapcastListener, _ states: [JSONValue], _ receipts: StateReceipts, _ offsets: [String: Double],
        _ waits: HouseWaits
    ) {
        let heard = listener.heard
        let starts = states.filter { $0["cause"] == "play" || $0["cause"] == "unstall" }.map(\.monotonic)
        var unclear: [ClosedRange<Double>] = []
        for change in listener.changes {
            let isOurs = starts.contains { abs($0 - change) < 0.05 }
            if !isOurs { changes.append(change) }
            let read = change - SnapcastHouse.buffer
            let waited = waits.seconds(from: read, to: change + Self.learning)
            unclear.append(isOurs ? change...(change + waited) : (change - 0.05)...(change + Self.learning + waited))
        }
        let known = states.map { (time: Self.begin($0, receipts), kind: Self.kind(of: $0), state: $0) }
        for chunk in heard {
            let now = chunk.time + Self.half
            guard let index = known.lastIndex(where: { $0.time <= now }) else { continue }
            let state = known[index].state
            if unclear.contains(where: { $0.contains(chunk.time) }) {
                leftOut += 1
            } else if state.rate == 0 {
                if !chunk.isSilent, chunk.time > state.monotonic + PositionErrors.limit { intruders.append(chunk.time) }
            } else if let frame = chunk.frame, let offset = offsets[state["item"]?["uri"]?.stringValue ?? ""] {
                let event = known[...index].last { $0.kind != .steady }
                let isNear = event.map { now - $0.time <= 1 } ?? false
                if chunk.time < state.monotonic { joints += 1 }
                errors[isNear ? event?.kind ?? .steady : .steady, default: PositionErrors()].add(
                    state.position(at: chunk.time) + offset - Double(frame) / SnapcastHouse.rate,
                    "at \(chunk.time), \(chunk.time - state.monotonic) s after \(state.words)")
            }
        }
    }

    /// Instant from which a state is the present one. A `drift` keeps the place of the anchor before, and says nothing about
    /// the time until it came.
    private static func begin(_ state: JSONValue, _ receipts: StateReceipts) -> Double {
        guard state["cause"] == "drift", let came = receipts.instant(of: state) else { return state.monotonic }
        return max(came, state.monotonic)
    }

    private static func kind(of state: JSONValue) -> Kind {
        switch state["cause"]?.stringValue {
        case "play": state.elapsed == 0 ? .start : .resume
        case "unstall": .reconnect
        case "seek": .seek
        case "track": .next
        default: .steady
        }
    }

    /// Number of chunks that were compared.
    var count: Int { errors.values.reduce(0) { $0 + $1.all.count } }
    /// True if each position is that of the rooms, and they are silent while nothing plays.
    var isRight: Bool { intruders.isEmpty && errors.values.allSatisfy { $0.largest <= PositionErrors.limit } }

    /// Figures of each kind.
    var words: String {
        Kind.allCases.compactMap { kind in errors[kind].map { "\(kind.rawValue): \($0.words)" } }.joined(
            separator: "; ")
    }

    /// The same for a failure: each state, each start of a run of chunks, each error beyond the limit.
    func report(_ states: [JSONValue], _ listener: SnapcastListener) -> String {
        let lines =
            states.map { ($0.monotonic, "\($0.words) at \($0.elapsed) × \($0.rate)") }
            + listener.changes.map { ($0, "another run of chunks") }
        return Kind.allCases.compactMap { kind in errors[kind].map { "\(kind.rawValue): \($0.report)" } }
            .joined(separator: "\n") + "\nheard while nothing plays: \(intruders)"
            + lines.sorted { $0.0 < $1.0 }.map { "\n  \($0.0) \($0.1)" }.joined()
    }
}
