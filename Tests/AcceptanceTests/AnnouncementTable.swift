import ControlProtocol
import NowPlaying
import TestSupport
import Testing

/// Announcements over a recorded daemon that plays the position code: what was heard before, during and after each is
/// judged when all of them were made.
final class AnnouncementTable {
    /// What becomes of what plays.
    enum During: Equatable {
        /// It goes on at this part of its loudness.
        case plays(Double)
        case held
        /// It was silent before, and is after.
        case silent
    }

    private struct Row {
        var name: String
        var before: JSONValue
        var after: JSONValue
        var during: During
        var begin: Double
        var end: Double
        /// Frame of the code with which its file begins; nil: it is heard from anywhere.
        var base: Int?
    }

    let client: Client
    private let recorder: Recorder
    private var rows: [Row] = []
    /// When the first recorded frame was audible.
    private var origin = 0.0
    private let rate: Double
    /// Whether all that was played is in the recording: a busy PipeWire misses a cycle at times.
    private let losesNothing: Bool
    /// Frames of which a level is measured.
    private static let measured = 1900

    /// `client` follows the daemon that is recorded.
    init(_ client: Client, _ recorder: Recorder, rate: Double = 44100, losesNothing: Bool = true) {
        self.client = client
        self.recorder = recorder
        self.rate = rate
        self.losesNothing = losesNothing
    }

    /// Has something announced, waits until all is as before, and compares what was told meanwhile: these events and no
    /// others but better readings of the clock, each numbered one more than the one before.
    func announce(
        _ name: String, _ parameters: JSONValue, _ during: During, events: [String] = [], refusal: String? = nil,
        base: Int? = 0, meanwhile: () -> Void = {}
    ) async {
        await recorder.waitFor(more: 0.8)
        client.call("nowPlaying.get")
        _ = client.takeNotifications()
        guard let before = client.call("nowPlaying.get") else { return }
        let begin = now()
        let sent = client.send("announce", parameters)
        meanwhile()
        let answer = client.answer(sent)
        let end = now()
        if let refusal {
            #expect(answer["error"]?["code"]?.integerValue.map(String.init) == refusal, "\(name)")
        } else {
            #expect(answer["result"]?["status"] == "success", "\(name): \(JSONWriter.text(answer))")
        }
        await recorder.waitFor(more: 0.8)
        guard let after = client.call("nowPlaying.get") else { return }
        let told = client.takeNotifications()
        #expect(told.map(\.words).filter { $0 != "drift" } == events, "\(name)")
        let sequences = told.map { $0.sequence }
        let expected = (0..<told.count).map { before.sequence + 1 + Int64($0) }
        #expect(sequences == expected && after.sequence == (expected.last ?? before.sequence), "\(name)")
        for key in ["queue", "item", "repeatMode", "volume", "commandsVersion"] {
            #expect(before[key] == after[key], "\(name): \(key)")
        }
        rows.append(Row(name: name, before: before, after: after, during: during, begin: begin, end: end, base: base))
    }

    /// Judges what was recorded; to be called when all was announced.
    func judge() async {
        await recorder.waitFor(more: 0.3)
        recorder.stop()
        let samples = int16Samples(recorder.bytes())
        let numbers = PositionCode.decode(samples)
        origin = Double(recorder.time(ofFrame: 0).nanoseconds) / 1e9
        for row in rows { judge(row, samples, numbers) }
    }

    private func judge(_ row: Row, _ samples: [Int16], _ numbers: [Int]) {
        func index(_ time: Double) -> Int {
            max(0, min(numbers.count - 1, Int((time - origin) * rate)))
        }
        let span = index(row.begin - 0.3)..<index(row.end + 0.75)
        let heard = span.filter { numbers[$0] >= 0 }
        switch row.during {
        case .silent:
            #expect(heard.isEmpty, "\(row.name): something was heard")
            #expect(row.before["anchor"] == row.after["anchor"], "\(row.name)")
            return
        case .plays(let level):
            // Every frame of it is heard when it is its turn.
            let offsets = Set(heard.map { numbers[$0] - $0 })
            #expect(
                offsets.count == 1 || !losesNothing,
                "\(row.name): frames were lost or late: \(offsets.count) times")
            self.level(row, "during", (row.begin + row.end) / 2, level, samples, numbers)
        case .held:
            guard let gap = heard.indices.dropFirst().max(by: { distance(heard, $0) < distance(heard, $1) }) else {
                return #expect(Bool(false), "\(row.name): nothing was heard")
            }
            let (last, next) = (numbers[heard[gap - 1]], numbers[heard[gap]])
            #expect((1...20).contains(next - last), "\(row.name): it does not go on where it was held")
            let seconds = Double(distance(heard, gap)) / rate
            #expect(abs(seconds - (row.end - row.begin)) < 0.3, "\(row.name): held for \(seconds) s")
        }
        level(row, "before", row.begin - 0.2, 1, samples, numbers)
        level(row, "after", row.end + 0.72, 1, samples, numbers)
        for (state, part) in [
            (row.before, span.lowerBound..<index(row.begin)), (row.after, index(row.end + 0.1)..<span.upperBound),
        ] {
            clock(row, state, Array(part.filter { numbers[$0] >= 0 }), numbers)
        }
    }

    private func distance(_ heard: [Int], _ index: Int) -> Int { heard[index] - heard[index - 1] }

    /// What was heard, and when, is what the clock said.
    private func clock(_ row: Row, _ state: JSONValue, _ heard: [Int], _ numbers: [Int]) {
        guard let base = row.base else { return }
        let errors = heard.map { index in
            let time = origin + Double(index) / rate
            return Double(numbers[index] - base) / rate - state.position(at: time)
        }.sorted()
        guard !errors.isEmpty else { return #expect(Bool(false), "\(row.name): nothing was heard") }
        let error = errors[errors.count / 2]
        if environmentHas("NOWPLAYING_FIGURES") { print("\(row.name): clock off by \(error * 1000) ms") }
        #expect(abs(error) < 0.02, "\(row.name): the clock is off by \(error) s")
    }

    /// How loud it was at an instant, as a part of what the file says.
    private func level(
        _ row: Row, _ when: String, _ time: Double, _ expected: Double, _ samples: [Int16],
        _ numbers: [Int]
    ) {
        let count = Self.measured
        let first = max(0, min(numbers.count - 1, Int((time - origin) * rate)))
        let found = numbers[first...].dropLast(count).indices.first { index in
            numbers[index] >= 0 && numbers[index + count] == numbers[index] + count
        }
        guard let found else { return #expect(Bool(false), "\(row.name): nothing was heard \(when)") }
        let code = PositionCode.int16(from: numbers[found], count: count)
        var (product, square) = (0.0, 0.0)
        for (a, b) in zip(samples[(2 * found)...], code) {
            product += Double(a) * Double(b)
            square += Double(b) * Double(b)
        }
        let level = product / square
        if environmentHas("NOWPLAYING_FIGURES") { print("\(row.name): level \(level) \(when)") }
        // To the bit where nobody else is heard.
        #expect(expected == 1 ? level == 1 : abs(level - expected) < 0.002, "\(row.name): \(level) \(when)")
    }
}
