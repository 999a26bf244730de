import ControlProtocol
import TestSupport
import Testing

/// Compares the events of one announcement with the recording.
struct AnnouncementJudge {
    private let row: AnnouncementTable.Row
    private let recording: CodeRecording
    private let release: Double
    private let noise: Double
    private let step: Double
    /// Number of frames that are ambiguous if a single one of them is too quiet to be read.
    private static let unreadable = 20

    init(
        _ row: AnnouncementTable.Row, _ recording: CodeRecording, release: Double, noise: Double, step: Double
    ) {
        self.row = row
        self.recording = recording
        self.release = release
        self.noise = noise
        self.step = step
    }

    private var rate: Double { recording.rate }
    /// Frames by which sound may be late, since no thread had a processor.
    private var lateFrames: Double { (row.waited * rate).rounded(.up) }
    /// The time of its sound, with the sound around it.
    private var span: ClosedRange<Double> {
        (row.begin - AnnouncementTable.lead)...(row.end + release + AnnouncementTable.tail)
    }

    func judge() {
        if row.words.code != nil { words() }
        let levels = recording.levels(span) { isMusic($0) }
        if environmentHas("NOWPLAYING_FIGURES") {
            print("\(row.name): \(levels.map { ($0.level * 1000).rounded() / 1000 })")
        }
        if row.during == .silent {
            return #expect(levels.isEmpty, "\(row.name): something was heard")
        }
        guard levels.count > 10 else { return #expect(Bool(false), "\(row.name): nothing was heard") }
        switch row.during {
        case .plays(let level) where level != 1: ducked(levels, level)
        case .plays, .held, .silent:
            let other = levels.first { $0.level != 1 }
            #expect(other == nil, "\(row.name): \(other?.level ?? 1) as loud as the file")
        }
        let steps = zip(levels.dropFirst(), levels).map { $0.frame - $1.frame }
        #expect(steps.allSatisfy { $0 > 0 }, "\(row.name): something was heard twice")
        let before = levels.filter { $0.time < row.begin }
        let after = levels.filter { $0.time > row.end + 0.1 }
        if row.during == .held {
            held()
        } else {
            continuous(levels)
            moved(before, after)
        }
        clock(before, row.before)
        clock(after, row.after)
    }

    /// True for a frame of the playback, not of the announcement.
    private func isMusic(_ frame: Int) -> Bool { row.words.code?.contains(frame) != true }

    /// As loud as its file to the bit, quieter in one line, as quiet as asked for for as long as the words last, and in one
    /// line as loud as its file to the bit.
    private func ducked(_ levels: [CodeRecording.Level], _ level: Double) {
        func isQuiet(_ found: CodeRecording.Level) -> Bool { abs(found.level - level) < 0.002 }
        guard let first = levels.firstIndex(where: isQuiet), let last = levels.lastIndex(where: isQuiet) else {
            return #expect(Bool(false), "\(row.name): it never was \(level) as loud")
        }
        #expect(levels.first?.level == 1, "\(row.name): before")
        #expect(levels.last?.level == 1, "\(row.name): after")
        #expect(levels[first...last].allSatisfy(isQuiet), "\(row.name): louder in between")
        let falling = levels[..<first].map(\.level)
        let rising = levels[(last + 1)...].map(\.level)
        #expect(zip(falling.dropFirst(), falling).allSatisfy { $0 <= $1 + 0.002 }, "\(row.name): \(falling)")
        #expect(zip(rising.dropFirst(), rising).allSatisfy { $0 >= $1 - 0.002 }, "\(row.name): \(rising)")
        // A stretch that the recording lacks does not count as quiet.
        let seconds = Double(levels[last].frame - levels[first].frame) / rate
        #expect(seconds > row.words.seconds * 0.5 - 0.1, "\(row.name): quiet for \(seconds) s")
        #expect(seconds < row.end - row.begin + 0.1, "\(row.name): quiet for \(seconds) s")
    }

    /// Checks that every frame of the item plays at its time.
    private func continuous(_ levels: [CodeRecording.Level]) {
        let offsets = levels.map { Double($0.frame) - ($0.time * rate).rounded() }
        let spread = (offsets.max() ?? 0) - (offsets.min() ?? 0)
        let words = "\(row.name): \(spread) frames were lost or late, \(lateFrames) by the machine"
        #expect(spread <= 1 + lateFrames, "\(words)")
    }

    /// Its clock moved as the music did.
    private func moved(_ before: [CodeRecording.Level], _ after: [CodeRecording.Level]) {
        let off = row.after.position(at: row.after.monotonic) - row.before.position(at: row.after.monotonic)
        func offset(_ levels: [CodeRecording.Level]) -> Double {
            let all = levels.map { Double($0.frame) / rate - $0.time }.sorted()
            return all.isEmpty ? 0 : all[all.count / 2]
        }
        let heard = offset(after) - offset(before)
        let words = "\(row.name): the clock moved by \(off) s, the music by \(heard) s"
        #expect(abs(off - heard) < step + row.waited, "\(words)")
    }

    /// Checks that the item continues with the next frame.
    private func held() {
        let runs = recording.runs(span).filter { isMusic($0.frame) }
        let gaps = zip(runs.dropFirst(), runs).map { next, last in
            (frames: next.recorded - last.recorded - last.count, passed: next.frame - last.frame - last.count)
        }
        guard let gap = gaps.max(by: { $0.frames < $1.frames }) else {
            return #expect(Bool(false), "\(row.name): it was not held")
        }
        #expect((0...(4 + Int(lateFrames))).contains(gap.passed), "\(row.name): \(gap.passed) frames are missing")
        let seconds = Double(gap.frames) / rate
        #expect(abs(seconds - (row.end - row.begin)) < 0.3 + row.waited, "\(row.name): held for \(seconds) s")
    }

    /// Compares the times of the recorded frames with the clock.
    private func clock(_ levels: [CodeRecording.Level], _ state: JSONValue) {
        guard let base = row.base else { return }
        let errors = levels.map { Double($0.frame - base) / rate - state.position(at: $0.time) }.sorted()
        guard !errors.isEmpty else { return #expect(Bool(false), "\(row.name): nothing was heard") }
        let error = errors[errors.count / 2]
        if environmentHas("NOWPLAYING_FIGURES") { print("\(row.name): clock off by \(error * 1000) ms") }
        #expect(abs(error) < noise + row.waited, "\(row.name): the clock is off by \(error) s")
    }

    /// Checks that the announcement plays from the first to the last frame, each once and at the right level.
    private func words() {
        let code = row.words.code ?? 0..<0
        let said = recording.levels(span) { code.contains($0) }
        guard let volume = row.volume else { return #expect(said.isEmpty, "\(row.name): it was refused") }
        let levels = said.map(\.level)
        #expect(levels.allSatisfy { volume == 1 ? $0 == 1 : abs($0 - volume) < 0.002 }, "\(row.name): \(levels)")
        let heard = recording.numbers(recording.frames(span)).enumerated().filter { code.contains($0.element) }
        #expect(zip(heard.dropFirst(), heard).allSatisfy { $0.element > $1.element }, "\(row.name): words were doubled")
        guard let first = heard.first, let last = heard.last else {
            return #expect(Bool(false), "\(row.name): nothing was heard")
        }
        // A frame that is too quiet hides the frames of which its sign is a part. So does music that a machine holds late: it
        // is heard at the same time. The frames that follow are in their place.
        let unreadable = (volume < 1 ? Self.unreadable : 0) + Int(lateFrames)
        let outside = first.element - code.lowerBound + code.upperBound - 1 - last.element
        let missing = zip(heard.dropFirst(), heard).reduce(max(0, outside - 16 - unreadable)) { sum, pair in
            let (passed, recorded) = (pair.0.element - pair.1.element, pair.0.offset - pair.1.offset)
            return sum + (passed == recorded && passed <= unreadable ? 0 : passed - 1)
        }
        #expect(missing == 0, "\(row.name): \(missing) frames were not heard")
    }
}
