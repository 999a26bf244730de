import Glibc
import NowPlaying

/// Factors of a lane's frames on their way to the stream: a gain per item, exactly from its first frame on; a short ramp at a
/// change in its middle; and fades. A pure value.
struct GainPlan: Equatable {
    /// Ramp from one factor to another over frames of the stream.
    struct Ramp: Equatable {
        /// Course between the two factors.
        enum Shape {
            case linear
            /// The squares of the factors move by a sine: a rising and a falling ramp have the sum 1.
            case equalPower
        }

        /// Last frame with the factor `from`.
        var start: Int64
        /// Number of frames; at least 1.
        var length: Int64
        /// Factor up to `start`.
        var from: Double
        /// Factor from `end` on.
        var to: Double
        var shape = Shape.linear

        /// First frame with the factor `to`.
        var end: Int64 { start + length }

        /// A constant factor.
        static func constant(_ factor: Double) -> Ramp { Ramp(start: 0, length: 1, from: factor, to: factor) }

        /// Factor of this frame.
        func value(at frame: Int64) -> Double {
            if frame >= end { return to }
            if frame <= start { return from }
            let part = Double(frame - start) / Double(length)
            switch shape {
            case .linear: return from + (to - from) * part
            case .equalPower: return from * cos(part * .pi / 2) + to * sin(part * .pi / 2)
            }
        }

        /// Number of frames that are computed with one straight line.
        fileprivate var stepFrames: Int64 {
            switch shape {
            case .linear: GainPlan.stepFrames
            case .equalPower: max(1, min(GainPlan.stepFrames, length / 64))
            }
        }
    }

    /// Gains of the items, by the ring frames of their beginnings, in order.
    private(set) var items: [(start: Int64, factor: Double)] = []
    /// Transition from an old gain to the present one: the remaining part of the old one, 1 to 0.
    private(set) var change: (ramp: Ramp, old: Double)?
    /// Fade of everything; its last value stays.
    private(set) var fade: Ramp?
    /// Ramp to a lower volume during another sound, and back; its last value stays.
    private(set) var duck: Ramp?
    /// Fade before a pause or after a resume; its last value stays.
    private(set) var pause: Ramp?
    /// The fade that `pause` takes the place of at its start; nil: none.
    private(set) var pauseBefore: Ramp?
    /// Fade of the first item's beginning over the end of another lane; nil: none.
    private(set) var entry: Ramp?
    /// Fade of the last item's end under the beginning of another lane; nil: none.
    private(set) var exit: Ramp?

    /// Greatest number of frames that are computed with one straight line.
    private static let stepFrames: Int64 = 256

    static func == (a: Self, b: Self) -> Bool {
        a.items.elementsEqual(b.items, by: ==) && a.change?.ramp == b.change?.ramp && a.change?.old == b.change?.old
            && a.fade == b.fade && a.duck == b.duck && a.pause == b.pause && a.pauseBefore == b.pauseBefore
            && a.entry == b.entry && a.exit == b.exit
    }

    /// Replaces the gains; in ascending order of `start`.
    mutating func setItems(_ items: [(start: Int64, factor: Double)]) { self.items = items }

    /// Sets the fade of everything; nil: none.
    mutating func setFade(_ fade: Ramp?) { self.fade = fade }

    /// Sets the ducking of everything; nil: none.
    mutating func setDuck(_ duck: Ramp?) { self.duck = duck }

    /// Sets the fade of a pause or a resume; nil: none.
    mutating func setPause(_ pause: Ramp?) {
        self.pause = pause
        pauseBefore = nil
    }

    /// Lets the fade of a pause or a resume go over into one to the level `to` at this frame of the stream. The whole way from
    /// silence to the full level takes `length` frames, and any way at least `least`.
    mutating func turnPause(to: Double, at start: Int64, length: Int64, least: Int64) {
        let from = factorOfPause(at: start)
        let frames = Int64(clamping: (Double(length) * abs(to - from)).rounded())
        pauseBefore = pause
        pause = Ramp(start: start, length: max(1, least, frames), from: from, to: to)
    }

    private func factorOfPause(at streamFrame: Int64) -> Double {
        guard let pause else { return 1 }
        return (streamFrame < pause.start ? pauseBefore ?? pause : pause).value(at: streamFrame)
    }

    /// First stream frame that is silent by the fade of a pause; nil: none.
    var silence: Int64? { pause.flatMap { $0.to == 0 ? $0.end : nil } }

    /// Sets the fade of the beginning; nil: none.
    mutating func setEntry(_ entry: Ramp?) { self.entry = entry }

    /// Sets the fade of the end; nil: none.
    mutating func setExit(_ exit: Ramp?) { self.exit = exit }

    /// Appends a gain.
    mutating func add(_ item: (start: Int64, factor: Double)) { items.append(item) }

    /// Index of the first gain that begins after this frame of the ring.
    private func firstItem(behind frame: Int64) -> Int {
        var (low, high) = (0, items.count)
        while low < high {
            let middle = (low + high) / 2
            if items[middle].start <= frame { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Begins other frames at this frame of the stream, without a transition; fades continue.
    mutating func begin(_ items: [(start: Int64, factor: Double)], at streamFrame: Int64) {
        self.items = items
        change = nil
        entry = nil
        exit = nil
        // Its start was after the dropped frames.
        if let start = duck?.start, start > streamFrame { duck?.start = streamFrame }
        if let start = pause?.start, start > streamFrame { pause?.start = streamFrame }
        // The silence of a pause is that of the dropped frames.
        if silence != nil { setPause(nil) }
    }

    /// Moves all ramps by a number of frames, for another stream.
    mutating func shift(by frames: Int64) {
        change?.ramp.start += frames
        fade?.start += frames
        duck?.start += frames
        pause?.start += frames
        pauseBefore?.start += frames
        entry?.start += frames
        exit?.start += frames
    }

    /// Adds a ramp from the audible gain to that of `items`, from this stream frame on.
    mutating func ramp(from old: Double, at start: Int64, length: Int64) {
        change = (Ramp(start: start, length: max(1, length), from: 1, to: 0), old)
    }

    /// Drops ramps that end before this frame of the stream.
    mutating func forget(before streamFrame: Int64) {
        if let ramp = change?.ramp, ramp.end <= streamFrame { change = nil }
        if let duck, duck.to == 1, duck.end <= streamFrame { self.duck = nil }
        if let pause, pause.start <= streamFrame { pauseBefore = nil }
        if let pause, pause.to == 1, pause.end <= streamFrame { self.pause = nil }
        if let entry, entry.end <= streamFrame { self.entry = nil }
    }

    /// Factor of a frame; `offset` is its stream frame minus its ring frame.
    func factor(at ringFrame: Int64, offset: Int64) -> Double {
        let behind = firstItem(behind: ringFrame)
        var result = behind > 0 ? items[behind - 1].factor : items.first?.factor ?? 1
        if let change {
            let part = change.ramp.value(at: ringFrame + offset)
            result += (change.old - result) * part
        }
        if let fade { result *= fade.value(at: ringFrame + offset) }
        if let duck { result *= duck.value(at: ringFrame + offset) }
        if pause != nil { result *= factorOfPause(at: ringFrame + offset) }
        if let entry { result *= entry.value(at: ringFrame + offset) }
        if let exit { result *= exit.value(at: ringFrame + offset) }
        return result
    }

    /// First part of `range` with a linear factor: its end, and the factors at both ends.
    func piece(of range: Range<Int64>, offset: Int64) -> (end: Int64, from: Double, to: Double) {
        let first = range.lowerBound
        var end = range.upperBound
        let next = firstItem(behind: first)
        if next < items.count { end = min(end, items[next].start) }
        var step: Int64?
        for ramp in [change?.ramp, fade, duck, pause, pauseBefore, entry, exit] {
            guard let ramp else { continue }
            let (start, stop) = (ramp.start - offset, ramp.end - offset)
            if start > first {
                end = min(end, start)
            } else if stop > first {
                end = min(end, stop)
                step = min(step ?? .max, ramp.stepFrames)
            }
        }
        if let step { end = min(end, first + step) }
        let from = factor(at: first, offset: offset)
        // The end of a line may be the beginning of another item: only a moving factor has two ends.
        guard step != nil else { return (end, from, from) }
        let last = factor(at: end - 1, offset: offset)
        let length = end - first
        return (end, from, length > 1 ? from + (last - from) * Double(length) / Double(length - 1) : from)
    }
}
