import LinuxSystem
package import NowPlaying

/// Returns memory to the kernel when a bridge rests: the pages of its file, most of which are needed once, and free pages
/// of the heap. It has no timer while the bridge rests.
@PlayerLoop final class BridgeRest {
    private let loop: EventLoop
    private var rhythm = RestRhythm()
    private var others: EventSource?
    private var look: EventSource?

    /// Begins with the start of the bridge.
    init(_ loop: EventLoop) {
        self.loop = loop
        others = loop.afterOthers { [unowned self] in happened() }
    }

    private func happened() {
        // No event matters before the next look.
        others?.setEnabled(false)
        perform(rhythm.happened(at: EventLoop.now))
    }

    private func looked() {
        look = nil
        // The look itself is no event.
        others?.setEnabled(false)
        others?.setEnabled(true)
        perform(rhythm.looked(at: EventLoop.now))
    }

    private func perform(_ step: RestRhythm.Step) {
        switch step {
        case .nothing: break
        case .look(let seconds):
            look = loop.deadline(EventLoop.now.advanced(bySeconds: seconds)) { [unowned self] in looked() }
        case .rest:
            ProgramPages.giveBackHeap()
            ProgramPages.giveBack()
        }
    }
}

/// Decides when a program rests: after one to two looks, 0.7 seconds apart, without an event in between.
package struct RestRhythm {
    /// The action after an event or a look.
    package enum Step: Equatable, Sendable {
        case nothing
        /// Look again after these seconds.
        case look(Double)
        /// Return memory to the kernel. The next look comes after an event.
        case rest
    }

    /// Seconds between two looks.
    package static let interval = 0.7
    /// Short rests in a row after which the next look is delayed. Otherwise memory would come and go with each request.
    package static let mostShortRests = 3
    /// Seconds up to which a rest is short, and by which a look is delayed.
    package static let shortRest = 30.0

    private var isLooking = false
    private var isBusy = false
    private var restedAt: MonotonicTime?
    private var shortRests = 0

    /// The rhythm of a program that has not begun.
    package init() {}

    /// Takes note of an event.
    package mutating func happened(at now: MonotonicTime) -> Step {
        isBusy = true
        guard !isLooking else { return .nothing }
        isLooking = true
        let isShort = restedAt.map { now.seconds(since: $0) < Self.shortRest } ?? false
        shortRests = isShort ? shortRests + 1 : 0
        guard shortRests >= Self.mostShortRests else { return .look(Self.interval) }
        shortRests = 0
        return .look(Self.shortRest)
    }

    /// Takes note of a look.
    package mutating func looked(at now: MonotonicTime) -> Step {
        if isBusy {
            isBusy = false
            return .look(Self.interval)
        }
        isLooking = false
        restedAt = now
        return .rest
    }
}
