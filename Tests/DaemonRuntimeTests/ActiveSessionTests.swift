import NowPlaying
import TestSupport
import Testing

@testable import Sessions

/// The rule of the active session (nowplayingd-protocol(7), Sessions).
@Suite struct ActiveSessionTests {
    typealias Member = ActiveSession.Member

    /// The rule, and all that a follower knows of the sessions.
    private struct World: Hashable {
        var rule = ActiveSession(main: "main")
        var members = ["main": Member(state: .stopped, isEligible: false)]
        /// The active session, if a client chose it since it became active.
        var choice: String?

        var active: Member? { members[rule.name] }

        /// Sessions that sound and can be active.
        var heard: [String] { members.filter { $1.state == .playing && $1.canBeActive }.keys.sorted() }

        /// True if the active session is silent by the choice of a client, which a pause or a late source does not end.
        var isSilentChoice: Bool {
            choice == rule.name && active.map { [.paused, .stalled].contains($0.state) && $0.canBeActive } ?? false
        }
    }

    private enum Event: Hashable {
        case open(String)
        case close(String)
        case choose(String)
        case play(String)
        case take(String, PlaybackState, isEligible: Bool)
    }

    private static let others = [("night", false), ("cast", true)]

    private func events(_ world: World, _ states: [PlaybackState]) -> [Event] {
        var events: [Event] = Self.others.map { world.members[$0.0] == nil ? .open($0.0) : .close($0.0) }
        for name in world.members.keys.sorted() {
            events += [.choose(name), .play(name)]
            for state in states { events += [true, false].map { .take(name, state, isEligible: $0) } }
        }
        return events
    }

    /// Applies an event, and says what is wrong afterwards; nil: nothing.
    private func apply(_ event: Event, to world: inout World, activatesOnPlay: Bool) -> String? {
        let before = world
        var change: ActiveChange?
        var isBeginning = false
        switch event {
        case .open(let name):
            world.rule.open(name)
            world.members[name] = Member(
                state: .stopped, isExternal: Self.others.contains { $0 == (name, true) }, isEligible: false)
            change = world.rule.take(name, world.members[name]!, activatesOnPlay: activatesOnPlay)
        case .close(let name):
            world.members[name] = nil
            change = world.rule.close(name)
        case .choose(let name):
            let answer = world.rule.choose(name)
            change = answer.change
            guard answer.isActive == (world.rule.name == name) else { return "the answer is \(answer.isActive)" }
            if answer.isActive { world.choice = name }
        case .play(let name):
            isBeginning = before.members[name]?.state == .playing
            change = world.rule.play(name, activatesOnPlay: activatesOnPlay)
        case .take(let name, let state, let isEligible):
            isBeginning = state == .playing && before.members[name]?.state != .playing
            world.members[name]?.state = state
            world.members[name]?.isEligible = isEligible
            change = world.rule.take(name, world.members[name]!, activatesOnPlay: activatesOnPlay)
        }
        let name = world.rule.name
        if world.choice != name { world.choice = nil }
        guard let active = world.active else { return "\(name) is not there" }
        let fits = change.map { $0.from == before.rule.name && $0.to == name && $0.from != name }
        guard fits ?? (before.rule.name == name) else {
            return "\(before.rule.name) became \(name), and the change is \(String(describing: change))"
        }
        guard world.rule.recent.last == name, Set(world.rule.recent).count == world.rule.recent.count,
            world.rule.recent.allSatisfy({ world.members[$0] != nil })
        else { return "recent: \(world.rule.recent)" }
        if active.isEnded { return "\(name) has ended" }
        // The promise: no sound of a session that can be active while the active one is silent, but for a paused choice.
        let isHeard = active.state == .playing && active.canBeActive
        if !isHeard, !world.isSilentChoice, !world.heard.isEmpty { return "\(world.heard) sounds, \(name) is active" }
        guard name != before.rule.name else { return nil }
        // A session loses its role only to one that sounds or was chosen, unless it has ended.
        if !world.heard.contains(name), event != .choose(name), before.active?.isEnded == false,
            world.members[before.rule.name]?.isEnded == false
        {
            return "\(name) took the place of \(before.rule.name) in silence"
        }
        if !activatesOnPlay, isBeginning, world.members[before.rule.name]?.state == .playing,
            world.members[before.rule.name]?.canBeActive == true
        {
            return "\(name) took the place of one that sounds"
        }
        return nil
    }

    /// True if the event lets an eligible session begin beside an active one that holds no choice.
    private func mustActivate(_ event: Event, _ before: World, _ after: World) -> String? {
        let name: String
        switch event {
        case .take(let taken, .playing, isEligible: true) where before.members[taken]?.state != .playing: name = taken
        case .play(let taken) where before.heard.contains(taken): name = taken
        case .open, .close, .choose, .play, .take: return nil
        }
        return before.choice == before.rule.name ? nil : name
    }

    @Test("in no state that can be reached do people hear one session while a silent one is active")
    func reachable() {
        let states: [PlaybackState] = [.stopped, .playing, .paused, .interrupted]
        var seen: Set<World> = [World()]
        var waiting = [World()]
        while let world = waiting.popLast() {
            for event in events(world, states) {
                for activatesOnPlay in [true, false] {
                    var next = world
                    if let fault = apply(event, to: &next, activatesOnPlay: activatesOnPlay) {
                        Issue.record("\(fault); after \(event), \(activatesOnPlay), in \(world)")
                        return
                    }
                    if activatesOnPlay, let name = mustActivate(event, world, next), next.rule.name != name {
                        Issue.record("\(name) is not active; after \(event) in \(world)")
                        return
                    }
                    if seen.insert(next).inserted { waiting.append(next) }
                }
            }
        }
        #expect(seen.count > 1000)
    }

    @Test("long histories of all states keep the promise", arguments: 0..<40)
    func histories(seed: Int) {
        var numbers = SeededRandom(seed: UInt64(seed))
        var world = World()
        for step in 0..<2000 {
            let possible = events(world, PlaybackState.allCases)
            let event = possible[Int.random(in: 0..<possible.count, using: &numbers)]
            // A reload changes the setting seldom.
            let fault = apply(event, to: &world, activatesOnPlay: seed % 3 == 0 ? step / 100 % 2 == 0 : seed % 3 == 1)
            if let fault {
                Issue.record("\(fault); seed \(seed), step \(step), \(event)")
                return
            }
        }
    }

    // MARK: The reasons

    private struct Step {
        var event: Event
        var active: String
        var why: ActiveChange.Reason?
        var resumes = false

        init(_ event: Event, _ active: String, _ why: ActiveChange.Reason? = nil, resumes: Bool = false) {
            (self.event, self.active, self.why, self.resumes) = (event, active, why, resumes)
        }
    }

    private func run(_ steps: [Step], activatesOnPlay: Bool = true, _ place: SourceLocation = #_sourceLocation) {
        var rule = ActiveSession(main: "main")
        for step in steps {
            let change: ActiveChange?
            switch step.event {
            case .open(let name):
                rule.open(name)
                change = nil
            case .close(let name): change = rule.close(name)
            case .choose(let name): change = rule.choose(name).change
            case .play(let name): change = rule.play(name, activatesOnPlay: activatesOnPlay)
            case .take(let name, let state, let isEligible):
                let member = Member(state: state, isExternal: name == "cast", isEligible: isEligible)
                change = rule.take(name, member, activatesOnPlay: activatesOnPlay, resumes: step.resumes)
            }
            #expect(rule.name == step.active, "\(step.event)", sourceLocation: place)
            #expect(change?.why == step.why, "\(step.event)", sourceLocation: place)
        }
    }

    private static func plays(_ name: String) -> Event { .take(name, .playing, isEligible: true) }
    private static func rests(_ name: String, _ state: PlaybackState) -> Event { .take(name, state, isEligible: true) }

    @Test("an external session that stops gives the role back, and says why") func externalStops() {
        run([
            Step(Self.plays("main"), "main"), Step(.open("cast"), "main"),
            Step(Self.plays("cast"), "cast", .played), Step(Self.rests("main", .interrupted), "cast"),
            Step(Self.rests("cast", .stopped), "main", .ended), Step(Self.plays("main"), "main"),
            Step(Self.plays("cast"), "cast", .played), Step(Self.rests("main", .interrupted), "cast"),
            Step(.close("cast"), "main", .ended),
        ])
    }

    @Test("a session that is held takes the role back as it resumes by itself") func resumes() {
        run([
            Step(Self.plays("main"), "main"), Step(.open("night"), "main"),
            Step(Self.plays("night"), "night", .played), Step(Self.rests("main", .interrupted), "night"),
            Step(Self.rests("night", .paused), "night"), Step(Self.plays("night"), "night"),
            Step(Self.rests("night", .stopped), "night"), Step(Self.plays("main"), "main", .resumed, resumes: true),
        ])
    }

    @Test("of two that sound together the one that goes on is active") func together() {
        let begin = [
            Step(Self.plays("main"), "main"), Step(.open("night"), "main"), Step(Self.plays("night"), "night", .played),
        ]
        run(begin + [Step(Self.rests("night", .paused), "main", .silent), Step(Self.plays("night"), "night", .played)])
        run(begin + [Step(Self.rests("night", .stopped), "main", .stopped)])
        run(begin + [Step(.take("night", .playing, isEligible: false), "main", .unavailable)])
        run(begin + [Step(.play("main"), "main", .played), Step(Self.rests("main", .stalled), "night", .silent)])
    }

    @Test("a choice holds while it sounds or is paused, until it stops, is held or can't be active") func choice() {
        let chosen = [
            Step(Self.plays("main"), "main"), Step(.open("night"), "main"), Step(Self.rests("night", .paused), "main"),
            Step(.choose("night"), "night", .chosen), Step(Self.rests("main", .paused), "night"),
            Step(Self.plays("main"), "night"), Step(Self.plays("night"), "night"), Step(.play("main"), "night"),
        ]
        run(chosen + [Step(Self.rests("night", .paused), "night"), Step(Self.rests("night", .stalled), "night")])
        run(chosen + [Step(Self.rests("night", .stopped), "main", .stopped)])
        run(chosen + [Step(Self.rests("night", .interrupted), "main", .silent)])
        run(chosen + [Step(.take("night", .paused, isEligible: false), "main", .unavailable)])
        run(chosen + [Step(.close("night"), "main", .ended)])
        // A silent one can't be chosen over one that sounds, unless it is paused.
        run([
            Step(Self.plays("main"), "main"), Step(.open("night"), "main"), Step(Self.rests("night", .stopped), "main"),
            Step(.choose("night"), "main"), Step(Self.rests("main", .stopped), "main"),
            Step(.choose("night"), "night", .chosen), Step(Self.plays("main"), "main", .played),
        ])
    }

    @Test("with activate-on-play off a beginning takes the role only from one that can't keep it") func off() {
        let begin = [Step(Self.plays("main"), "main"), Step(.open("night"), "main"), Step(Self.plays("night"), "main")]
        run(begin + [Step(.play("night"), "main"), Step(.choose("night"), "night", .chosen)], activatesOnPlay: false)
        run(begin + [Step(Self.rests("main", .interrupted), "night", .silent)], activatesOnPlay: false)
        run(begin + [Step(Self.rests("main", .stopped), "night", .stopped)], activatesOnPlay: false)
        run(begin + [Step(.take("main", .playing, isEligible: false), "night", .unavailable)], activatesOnPlay: false)
    }

    @Test("an emptied queue keeps the role until another session sounds") func emptied() {
        run([
            Step(Self.rests("main", .stopped), "main"), Step(.open("night"), "main"),
            Step(Self.plays("night"), "night", .played), Step(.take("night", .stopped, isEligible: false), "night"),
            Step(Self.plays("main"), "main", .played),
        ])
    }

    @Test("a session of an earlier run is active again, unless another one sounds") func restored() {
        var rule = ActiveSession(main: "main")
        rule.open("night")
        let isEmptyRestored = rule.restore("night")
        _ = rule.take("night", Member(state: .paused, isEligible: true), activatesOnPlay: true)
        let isRestored = rule.restore("night")
        #expect(!isEmptyRestored && isRestored && rule.name == "night")
        let change = rule.take("main", Member(state: .playing, isEligible: true), activatesOnPlay: true)
        let isSilentRestored = rule.restore("night")
        #expect(change?.to == "main" && !isSilentRestored)
    }
}
