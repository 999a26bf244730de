import TestSupport

@testable import Alarms

/// Instants by Python's zoneinfo of the times of these tests, on each date of two years.
struct AlarmTable {
    static let minutes = [0, 135, 150, 390, 1430]
    static let days = CivilDate(2026, 1, 1).number..<CivilDate(2028, 6, 1).number
    private let instants: [[Int64]]

    /// The table of a zone.
    init(_ zone: String) throws { instants = try ZoneOracle.instants(zone, Self.days, Self.minutes) }

    subscript(day: Int64, time: Int) -> Int64 { instants[Int(day - Self.days.lowerBound)][time] }
}

/// The rule of alarms in its plainest form: it looks at each date, and forgets nothing.
struct PlainAlarm {
    let name: String
    /// Index in `AlarmTable.minutes`.
    let time: Int
    /// Days of the week, or nil for one date.
    let weekly: Weekdays?
    let date: Int64
    let zone: String?
    var isOn = true
    /// Dates whose time has come, up to this one.
    var passed: Int64 = .min
    var rang: Set<Int64> = []

    private func dates(_ now: Int64) -> [Int64] {
        guard let weekly else { return [date] }
        let today = now / 86_400
        return (today - 10...today + 80).filter { weekly.contains(CivilDate(number: $0)) }
    }

    /// The latest date whose time has come.
    func last(_ now: Int64, _ table: AlarmTable) -> Int64? { dates(now).last { table[$0, time] <= now } }

    /// The next instant at which it rings.
    func next(_ now: Int64, _ table: AlarmTable) -> Int64? {
        guard isOn else { return nil }
        return dates(now).lazy.filter { !rang.contains($0) }.map { table[$0, time] }.first { $0 > now }
    }
}

/// A daemon with alarms, on a clock that anybody sets, and the plain rule beside it.
struct AlarmWorld {
    private(set) var complaints: [String] = []
    /// Numbers of events so far.
    private(set) var counts: [Event: Int] = [:]

    enum Event: CaseIterable {
        /// An alarm rang at its time, was missed, was silenced for a while, rang again after a restart.
        case rung, missed, snoozed, resumed
    }

    private var random: SeededRandom
    private var book = AlarmBook<Int>()
    private var plain: [PlainAlarm] = []
    private let tables: [String: AlarmTable]
    private let rules: [String: ZoneRules]
    private let zones: [String]
    private var hostZone: String
    /// The clock that anybody sets, its difference from the true time, and the clock that nobody sets; in seconds.
    private var wall: Int64
    private var error: Int64 = 0
    private var steady: Int64 = 0
    /// The alarm that sounds, and the reading of the steady clock at its end.
    private var sound: (name: String, end: Int64)?
    private var snooze: (name: String, until: Int64, seconds: Int64)?

    init(seed: UInt64, _ tables: [String: AlarmTable], _ rules: [String: ZoneRules]) {
        random = SeededRandom(seed: seed)
        self.tables = tables
        self.rules = rules
        zones = tables.keys.sorted()
        hostZone = zones[0]
        // Before a change of the clocks in spring or in autumn.
        wall = CivilDate(2026, seed % 2 == 0 ? 2 : 9, 20).number * 86_400 + Int64(seed) * 3600
    }

    // MARK: Deeds

    /// One thing that happens.
    mutating func act() {
        switch Int.random(in: 0..<15, using: &random) {
        case 0..<5: run(Int64.random(in: 1...(Bool.random(using: &random) ? 50_000 : 1500), using: &random))
        case 5: setClock(Int64.random(in: -200_000...200_000, using: &random))
        case 6: setClock(Int64.random(in: -4000...4000, using: &random))
        case 7: restart(after: Int64.random(in: 0...900, using: &random))
        case 12: restart(after: Int64.random(in: 0...200_000, using: &random))
        case 8:
            hostZone = zones.randomElement(using: &random) ?? hostZone
            take { $0.take(now: $1, $2) }
        case 9: if Bool.random(using: &random) { pause() } else { dismiss() }
        case 10: pause()
        case 11: toggle()
        case _: set()
        }
        if book.wake(after: wall, rulesOf) != plainWake { complain("wakes at another instant") }
        if book.life.name != (sound?.name ?? snooze?.name) { complain("has another life") }
    }

    private mutating func run(_ seconds: Int64) {
        let end = steady + seconds
        while true {
            let wake = book.wake(after: wall, rulesOf).map { steady + $0 - wall } ?? .max
            let next = min(wake, sound?.end ?? .max)
            guard next <= end else { return pass(max(0, end - steady)) }
            // A timer may be late.
            pass(next - steady + Int64.random(in: 0...2, using: &random))
            if let sound, sound.end <= steady {
                if book.timeIsUp() != [.silence(sound.name, .timeIsUp)] { complain("does not stop") }
                self.sound = nil
            }
            if wake <= steady { take { $0.take(now: $1, $2) } }
        }
    }

    private mutating func pass(_ seconds: Int64) {
        steady += seconds
        wall += seconds
    }

    private mutating func setClock(_ step: Int64) {
        let step = max(-259_200 - error, min(259_200 - error, step))
        error += step
        wall += step
        take { $0.take(now: $1, $2) }
    }

    private mutating func restart(after seconds: Int64) {
        pass(seconds)
        book = AlarmBook(book.entries, book.life)
        guard case .ringing(let ringing) = book.life else { return take { $0.resume(now: $1, $2) } }
        sound = nil
        let left = 3600 - max(0, wall - ringing.began)
        counts[.resumed, default: 0] += left > 0 ? 1 : 0
        let before: AlarmEffect = left > 0 ? .ring(ringing.name, seconds: left) : .missed(ringing.name, ringing.date)
        if left > 0 { sound = (ringing.name, steady + left) }
        take(before) { $0.resume(now: $1, $2) }
    }

    private mutating func pause() {
        let seconds = Int64.random(in: 60...1200, using: &random)
        let effects = try? book.snooze(seconds, now: wall)
        guard let name = sound?.name ?? snooze?.name else { return effects == nil ? () : complain("snoozes nothing") }
        if effects != (sound == nil ? [] : [.silence(name, .snoozed)]) { complain("does not snooze") }
        counts[.snoozed, default: 0] += 1
        (sound, snooze) = (nil, (name, wall + seconds, seconds))
    }

    private mutating func dismiss() {
        let effects = (try? book.dismiss()) ?? []
        if effects != (sound.map { [.silence($0.name, .dismissed)] } ?? []) { complain("is not dismissed") }
        (sound, snooze) = (nil, nil)
        if book.entries.contains(where: { $0.record.missed != nil }) { complain("keeps what was missed") }
    }

    private mutating func toggle() {
        guard let index = plain.indices.randomElement(using: &random) else { return }
        let isOn = book[plain[index].name]?.isEnabled != true
        let effects = try? book.enable(plain[index].name, isOn, now: wall, rulesOf)
        if isOn, effects == nil { return }
        expectEnd(of: plain[index].name, effects ?? [])
        plain[index].isOn = isOn
        if isOn { begin(index) }
    }

    private mutating func set() {
        let name = ["a", "b", "c", "d"][Int.random(in: 0..<4, using: &random)]
        let time = Int.random(in: 0..<AlarmTable.minutes.count, using: &random)
        let weekly: Weekdays? =
            [.daily, .daily, .weekdays, nil, Weekdays(rawValue: 1 << UInt8.random(in: 0..<7, using: &random))]
            .randomElement(using: &random) ?? nil
        let date = wall / 86_400 + Int64.random(in: 0...5, using: &random)
        let zone = Bool.random(using: &random) ? zones.randomElement(using: &random) : nil
        guard let zoneName = zone.map({ try? ZoneName($0) }) ?? .some(nil), let alarmName = try? AlarmName(name),
            let schedule = try? AlarmSchedule(
                TimeOfDay(minutes: AlarmTable.minutes[time]),
                weekly.map { .weekly($0) } ?? .date(CivilDate(number: date)),
                now: wall, in: rulesOf(zoneName))
        else { return }
        let alarm = Alarm(name: alarmName, user: 0, schedule, zone: zoneName, 0)
        expectEnd(of: name, (try? book.set(alarm, now: wall, rulesOf)) ?? [])
        let index = plain.firstIndex { $0.name == name } ?? plain.count
        let new = PlainAlarm(name: name, time: time, weekly: weekly, date: date, zone: zone)
        if index == plain.count { plain.append(new) } else { plain[index] = new }
        begin(index)
    }

    private mutating func begin(_ index: Int) {
        plain[index].rang = []
        plain[index].passed = plain[index].last(wall, table(plain[index])) ?? .min
    }

    private mutating func expectEnd(of name: String, _ effects: [AlarmEffect]) {
        if effects != (sound?.name == name ? [.silence(name, .changed)] : []) { complain("does not end") }
        if sound?.name == name { sound = nil }
        if snooze?.name == name { snooze = nil }
    }

    // MARK: The plain rule

    private func table(_ alarm: PlainAlarm) -> AlarmTable { tables[alarm.zone ?? hostZone]! }

    private var rulesOf: AlarmBook<Int>.Zones { { [rules, hostZone] name in rules[name?.text ?? hostZone]! } }

    private var plainWake: Int64? {
        (plain.map { $0.next(wall, table($0)) } + [snooze?.until]).compactMap { $0 }.min()
    }

    /// Looks at the clock, and compares the effects with those that the plain rule has.
    private mutating func take(
        _ first: AlarmEffect? = nil, _ look: (inout AlarmBook<Int>, Int64, AlarmBook<Int>.Zones) -> [AlarmEffect]
    ) {
        var expected = first.map { [$0] } ?? []
        var due: (name: String, instant: Int64)?
        for index in plain.indices where plain[index].isOn {
            let alarm = plain[index]
            let last = alarm.last(wall, table(alarm))
            plain[index].passed = last ?? .min
            guard let last, last > alarm.passed, !alarm.rang.contains(last) else { continue }
            let instant = table(alarm)[last, alarm.time]
            guard wall - instant <= 600 else {
                counts[.missed, default: 0] += 1
                expected.append(.missed(alarm.name, CivilDate(number: last)))
                continue
            }
            plain[index].rang.insert(last)
            counts[.rung, default: 0] += 1
            if due.map({ $0.instant < instant }) ?? true { due = (alarm.name, instant) }
        }
        if let due {
            if let sound { expected.append(.silence(sound.name, .replaced)) }
            ring(due.name, &expected)
        } else if let snooze {
            self.snooze?.until = min(snooze.until, wall + snooze.seconds)
            if wall - snooze.until > 600 {
                guard case .snoozing(let snoozing) = book.life else { return complain("has forgotten its snooze") }
                expected.append(.missed(snooze.name, snoozing.date))
                self.snooze = nil
            } else if wall >= snooze.until {
                ring(snooze.name, &expected)
            }
        }
        let effects = look(&book, wall, rulesOf)
        if effects != expected { complain("\(effects), and the plain rule \(expected)") }
    }

    private mutating func ring(_ name: String, _ expected: inout [AlarmEffect]) {
        expected.append(.ring(name, seconds: 3600))
        (sound, snooze) = ((name, steady + 3600), nil)
    }

    private mutating func complain(_ text: String) { complaints.append("\(LocalTime(seconds: wall).text): \(text)") }
}
