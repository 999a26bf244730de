import AudioCore
import LinuxSystem
import NowPlaying
import TestSupport

@testable import MixedOutput

/// A sink whose room has a server as Snapcast's, on simulated time: the server reads chunk after chunk, is late for the first one
/// of a connection, and stands now and then. A chunk for which it is late keeps its time, and those after it have others.
@PlayerLoop final class ServedRoomSink: RoomOutput {
    weak var owner: (any MixSinkOwner)?
    let format = RoomSink.room
    let lead = 0.2
    let patience = 0.0
    let hangTime = 0.5
    let delay: Double
    let chunk = 160
    private(set) var isConnected = false
    private(set) var isConnecting = false
    private(set) var isOpen = false
    private let loop: EventLoop
    private var random: SeededRandom
    /// Spans in which the server stands.
    private let stops: [(begin: MonotonicTime, end: MonotonicTime)]
    private var opening: EventSource?
    private var question: EventSource?
    private var questions = QuestionPause()
    private var areNew = false
    /// All chunks, of which the server has read the first ones.
    private var chunks: [Chunk] = []
    private var read = 0
    /// Numbers of the first chunks of connections, and samples after the last whole chunk.
    private var firsts: [Int] = []
    private var left: [Int32] = []
    /// Instant for which the server awaits the next chunk; nil: it gives that the time at which it reads it.
    private var due: MonotonicTime?
    /// Instant of the last read, and of the last one that was late, with the instant at which that is heard.
    private var last = MonotonicTime(nanoseconds: 0)
    private var change: (read: MonotonicTime, heard: MonotonicTime)?
    /// Spans of the room's time in which its times cannot be known.
    private var unknown: [ClosedRange<MonotonicTime>] = []

    private struct Chunk {
        var samples: [Int32]
        var sent: MonotonicTime
        /// Seconds by which the server is late for it.
        var lateness: Double
        /// Instant at which it counts as taken; nil: the server has not read it.
        var taken: MonotonicTime?
    }

    private static let length = 0.02
    /// Seconds in which a change is found: two looks, a pause between questions, and an answer.
    private static let learning = 1.8

    /// `delay`: seconds from the instant at which a chunk is taken to its being heard. `stops`: lengths of the server's stops.
    init(_ loop: EventLoop, delay: Double, seed: UInt64, stops lengths: ClosedRange<Double>?) {
        self.loop = loop
        self.delay = delay
        var random = SeededRandom(seed: seed ^ 0x5EED)
        var time = EventLoop.now
        var stops: [(begin: MonotonicTime, end: MonotonicTime)] = []
        if let lengths {
            for _ in 0..<60 {
                let begin = time.advanced(bySeconds: Double.random(in: 2.5...8, using: &random))
                time = begin.advanced(bySeconds: Double.random(in: lengths, using: &random))
                stops.append((begin, time))
            }
        }
        self.stops = stops
        self.random = random
    }

    var device: OutputDevice {
        OutputDevice(
            name: "room", description: "room", state: .running, isDefault: true, format: format.audioFormat,
            exactBits: 32, takesFloat: false)
    }

    // MARK: Connection

    func connect() {
        guard !isConnected, !isConnecting else { return }
        isConnecting = true
        loop.later { [self] in
            isConnecting = false
            isConnected = true
            begin()
            owner?.sinkConnected()
        }
    }

    func disconnect() {
        isConnected = false
        rest()
    }

    func open() {
        guard isConnected, !isOpen, opening == nil else { return }
        opening = loop.deadline(EventLoop.now.advanced(bySeconds: 0.13)) { [unowned self] in
            opening = nil
            begin()
            owner?.sinkOpened()
        }
    }

    func rest() {
        advance()
        isOpen = false
        question = nil
        guard let change, EventLoop.now < change.read.advanced(bySeconds: Self.learning) else { return }
        // Nobody asks for its times any more.
        unknown.append(change.heard.advanced(bySeconds: -0.25)...EventLoop.now.advanced(bySeconds: delay + 1))
    }

    func stall() {}
    func watch(_ handler: @escaping @PlayerLoop () -> Void) -> AnyObject { self }

    private func begin() {
        advance()
        isOpen = true
        firsts.append(chunks.count)
        left = []
        questions = QuestionPause()
        areNew = false
        question = nil
    }

    // MARK: The server

    func send(_ frames: UnsafeRawBufferPointer) -> Int {
        left += frames.withMemoryRebound(to: Int32.self) { Array($0) }
        while left.count >= chunk {
            // A server that waits for the first bytes wakes up late.
            let lateness = chunks.count == firsts.last ? Double.random(in: 0...0.006, using: &random) : 0
            chunks.append(Chunk(samples: Array(left[..<chunk]), sent: EventLoop.now, lateness: lateness))
            left.removeFirst(chunk)
        }
        if questions.isDue { checkTimes(areNew: false) }
        return frames.count
    }

    var untaken: Int? {
        advance()
        return 4 * ((chunks.count - read) * chunk + left.count)
    }

    /// Reads the chunks that are due by now.
    private func advance() {
        while read < chunks.count {
            let next = chunks[read]
            let isFirst = firsts.contains(read)
            let expected = isFirst ? nil : due
            let ready = max(expected ?? next.sent.advanced(bySeconds: next.lateness), next.sent, last)
            let time = stops.first { $0.begin <= ready && ready < $0.end }?.end ?? ready
            guard time <= EventLoop.now else { break }
            let taken = expected ?? time
            let following = taken.advanced(bySeconds: Self.length)
            chunks[read].taken = taken
            read += 1
            last = time
            if isFirst {
                // The answer comes a moment later.
                unknown.append(
                    heard(taken).advanced(bySeconds: -0.01)...max(heard(taken), time.advanced(bySeconds: 0.4)))
            }
            due = following < time ? nil : following
            guard due == nil else { continue }
            change = (time, heard(following))
            unknown.append(
                heard(following).advanced(
                    bySeconds: -0.25)...max(
                        heard(time).advanced(bySeconds: 0.25), time.advanced(bySeconds: Self.learning)))
        }
    }

    private func heard(_ taken: MonotonicTime) -> MonotonicTime { taken.advanced(bySeconds: delay) }

    func checkTimes(areNew isNew: Bool) {
        areNew = areNew || isNew
        guard isOpen, question == nil, questions.asks(at: EventLoop.now, areNew: areNew) else { return }
        areNew = false
        advance()
        answer(after: read + 1, until: EventLoop.now.advanced(bySeconds: 1))
    }

    /// Answers with the time of a chunk once the server has read it.
    private func answer(after number: Int, until end: MonotonicTime) {
        let time = EventLoop.now.advanced(bySeconds: Double.random(in: 0.03...0.06, using: &random))
        question = loop.deadline(time) { [unowned self] in
            question = nil
            advance()
            guard chunks.indices.contains(number), let first = firsts.last, number >= first,
                let taken = chunks[number].taken
            else {
                return EventLoop.now < end ? answer(after: number, until: end) : questions.answered(nil)
            }
            questions.answered(owner?.sinkTook(SinkTime(frame: Int64((number - first) * chunk), time: taken)))
        }
    }

    // MARK: The room

    func sample(at time: MonotonicTime) -> Int32? {
        advance()
        // The last chunk that is heard by then.
        var (low, high) = (0, read)
        while low < high {
            let middle = (low + high) / 2
            if let taken = chunks[middle].taken, heard(taken) <= time { low = middle + 1 } else { high = middle }
        }
        guard low > 0, let taken = chunks[low - 1].taken else { return nil }
        let index = Int(time.seconds(since: heard(taken)) * Double(format.sampleRate))
        let samples = chunks[low - 1].samples
        return index < samples.count && samples[index] != 0 ? samples[index] : nil
    }

    func isKnown(at time: MonotonicTime) -> Bool {
        advance()
        return !unknown.contains { $0.contains(time) }
    }

    func end() {
        question = nil
        opening = nil
    }
}
