import NowPlaying

/// The active session: the one that a person in the room would mean, by the rule of nowplayingd-protocol(7), Sessions. A
/// pure value.
struct ActiveSession: Hashable {
    /// The part of a session in the rule.
    struct Member: Hashable {
        /// The state that it has, or has been asked for.
        var state: PlaybackState
        /// True if another program plays it.
        var isExternal = false
        /// True if it has something to play, takes commands, is visible and does not mix.
        var isEligible: Bool

        /// True for the session of another program that has stopped: it counts as closed.
        var isEnded: Bool { isExternal && state == .stopped }
        /// True if it may be the active one.
        var canBeActive: Bool { isEligible && !isEnded }
        /// True if a client's choice holds beside another session that sounds.
        fileprivate var keepsChoice: Bool {
            switch state {
            case .playing, .paused, .stalled: canBeActive
            case .stopped, .interrupted: false
            }
        }
    }

    /// Name of the active session.
    private(set) var name: String
    /// Names of the sessions that were active, the present one at the end.
    private(set) var recent: [String]
    /// True if a client chose the active session, and the choice holds.
    private var isChosen = false
    private var members: [String: Member]
    /// Sessions that sound, in the order in which they take precedence, the last one first of all.
    private var sounding: [String] = []
    /// The session that is active if no other one can be.
    private let main: String

    /// `main` alone, with nothing to play.
    init(main: String) {
        self.main = main
        name = main
        recent = [main]
        members = [main: Member(state: .stopped, isEligible: false)]
    }

    /// A session was created.
    mutating func open(_ name: String) { members[name] = Member(state: .stopped, isEligible: false) }

    /// Takes what a session is now. `activatesOnPlay`: one that begins becomes the active one; false: only if the active one
    /// can't keep that. `resumes`: it sounds again by itself.
    mutating func take(
        _ name: String, _ member: Member, activatesOnPlay: Bool, resumes: Bool = false
    ) -> ActiveChange? {
        guard let before = members[name] else { return nil }
        members[name] = member
        if member.state != .playing {
            sounding.removeAll { $0 == name }
        } else if before.state != .playing {
            begin(name, activatesOnPlay)
        }
        return settle(name, resumes ? .resumed : .played)
    }

    /// A client plays a session that sounds already.
    mutating func play(_ name: String, activatesOnPlay: Bool) -> ActiveChange? {
        guard members[name]?.state == .playing else { return nil }
        begin(name, activatesOnPlay)
        return settle(name, .played)
    }

    /// A client chooses a session. `isActive`: it is the active one now.
    mutating func choose(_ name: String) -> (isActive: Bool, change: ActiveChange?) {
        guard let member = members[name] else { return (false, nil) }
        let isHeard = heard(besides: name) != nil
        guard name != self.name else {
            isChosen = member.keepsChoice || !isHeard
            return (true, nil)
        }
        guard member.canBeActive, member.keepsChoice || !isHeard else { return (false, nil) }
        isChosen = true
        return (true, move(to: name, .chosen))
    }

    /// Makes the session active that was so before a restart, unless another one sounds. False: it can't be.
    mutating func restore(_ name: String) -> Bool {
        guard name != self.name, members[name]?.canBeActive == true, heard(besides: name) == nil else { return false }
        _ = move(to: name, .chosen)
        return true
    }

    /// A session is closed; not `main`.
    mutating func close(_ name: String) -> ActiveChange? {
        members[name] = nil
        sounding.removeAll { $0 == name }
        recent.removeAll { $0 == name }
        return settle(name, .ended)
    }

    private mutating func begin(_ name: String, _ activatesOnPlay: Bool) {
        sounding.removeAll { $0 == name }
        let last = activatesOnPlay ? nil : sounding.firstIndex(of: self.name)
        sounding.insert(name, at: last ?? sounding.endIndex)
    }

    /// The session that sounds and takes precedence among those that can be active; nil: none.
    private func heard(besides other: String? = nil) -> String? {
        sounding.last { $0 != other && members[$0]?.canBeActive == true }
    }

    /// Applies the rule after a change of `cause`; `why`: the reason if that one becomes active.
    private mutating func settle(_ cause: String, _ why: ActiveChange.Reason) -> ActiveChange? {
        let present = members[name]
        if isChosen, let present, !present.isEnded, present.keepsChoice || heard(besides: name) == nil { return nil }
        isChosen = false
        if let heard = heard() {
            return heard == name ? nil : move(to: heard, heard == cause ? why : loss(of: present))
        }
        // An emptied queue keeps it: the next items are for the same session.
        if let present, !present.isEnded { return nil }
        let next = recent.last { $0 != name && members[$0]?.canBeActive == true } ?? main
        return next == name ? nil : move(to: next, .ended)
    }

    /// Reason for which the active session makes room for one that sounds already.
    private func loss(of member: Member?) -> ActiveChange.Reason {
        guard let member, !member.isEnded else { return .ended }
        guard member.canBeActive else { return .unavailable }
        return switch member.state {
        case .stopped: .stopped
        // A playing one makes room only for a beginning.
        case .paused, .interrupted, .stalled, .playing: .silent
        }
    }

    private mutating func move(to next: String, _ why: ActiveChange.Reason) -> ActiveChange {
        let change = ActiveChange(from: name, to: next, why: why)
        recent.removeAll { $0 == next }
        recent.append(next)
        name = next
        return change
    }
}
