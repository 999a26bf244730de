import AudioCore
import Glibc
import LinuxSystem
import NowPlaying

/// What somebody else's sound does to ours.
package enum Yielding: Equatable, Sendable {
    /// It is multiplied by this, 0…1.
    case quiet(Double)
    /// It is silent, and keeps its place.
    case held
}

/// Making room for others: what plays gets quieter, or it is held. The rest of it is untouched.
extension Player {
    /// Has an announcement heard over what plays. The answer comes when it was heard, or can't be.
    package func announce(_ announcement: Announcement, _ answer: @escaping AnnouncementAnswer) {
        let announcer = self.announcer ?? Announcer(self)
        self.announcer = announcer
        announcer.add(announcement, answer)
    }

    /// Makes room for somebody else, `who` for people, until it is called with nil; what changes in loudness does so over
    /// `seconds`. Of several the quietest counts, and who holds us does.
    package func makeRoom(for who: String, _ yielding: Yielding?, over seconds: Double) {
        let wasHeld = isHeld
        yields.removeAll { $0.who == who }
        if let yielding { yields.append((who, yielding)) }
        var level = 1.0
        for case .quiet(let quiet) in yields.map(\.how) { level = min(level, quiet) }
        duck(to: level, over: seconds)
        if isHeld, !wasHeld { interrupt(by: who) }
        if wasHeld, !isHeld, !isAskedForSilence, !isInterruptedByProgram { endInterruption() }
    }

    /// Whether somebody holds us.
    var isHeld: Bool { yields.contains { $0.how == .held } }

    /// What a policy means for what plays now; nil: nothing. `decibels`: how quiet it gets.
    package func yielding(to policy: AnnouncementPolicy, decibels: Double) -> Yielding? {
        switch policy {
        case .mix: nil
        case .pause: .held
        case .pauseSpoken where isSpoken: .held
        case .duck, .pauseSpoken: .quiet(pow(10, min(0, decibels) / 20))
        }
    }

    /// Whether what plays is an audiobook or a podcast.
    private var isSpoken: Bool {
        guard let entry = transport.current.flatMap({ transport.queue[$0] }) else { return false }
        return parts.isSpoken(entry.source, entry.details?.metadata ?? MediaMetadata())
    }

    /// Brings what plays to a part of its loudness, in a straight line over `seconds`, in our own samples: what is queued at
    /// the server is rewritten from the ring, and so it is exact again when the part is 1.
    private func duck(to level: Double, over seconds: Double) {
        guard level != duckLevel else { return }
        duckLevel = level
        for lane in [ahead, pending?.lane] {
            guard let lane, lane !== audible else { continue }
            rewriteGain(of: lane) { _, _, _ in lane.gain.duck = .constant(level) }
        }
        guard let lane = audible else { return }
        rewriteGain(of: lane) { frame, offset, _ in
            let start = frame + offset
            let length = max(1, lane.format.frames(seconds: seconds))
            let from = lane.gain.duck?.value(at: start) ?? 1
            lane.gain.duck = GainPlan.Ramp(start: start, length: length, from: from, to: level)
        }
    }

    /// A lane for what was opened, as quiet as everything is now.
    func makeLane(for item: OpenedItem) -> Lane {
        let lane = Lane(ring: item.ring, sentEnd: item.ringStart)
        if duckLevel != 1 { lane.gain.duck = .constant(duckLevel) }
        return lane
    }
}
