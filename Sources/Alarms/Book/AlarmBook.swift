/// All alarms of the daemon, and the one that rings. A pure value: the daemon saves and publishes it after a change,
/// and carries out the effects that each function returns, in order. Instants are seconds since 1970, UTC.
package struct AlarmBook<Content: Equatable & Sendable>: Equatable, Sendable {
    /// The rules of an alarm's zone; nil: those of the host's zone.
    package typealias Zones = (ZoneName?) -> ZoneRules

    /// An alarm with its switch and its record.
    package struct Entry: Equatable, Sendable {
        package let alarm: Alarm<Content>
        /// False if somebody switched it off.
        package let isEnabled: Bool
        package fileprivate(set) var record: AlarmRecord

        /// An entry of an earlier run.
        package init(_ alarm: Alarm<Content>, isEnabled: Bool, _ record: AlarmRecord) {
            self.alarm = alarm
            self.isEnabled = isEnabled
            self.record = record
        }

        /// True if it rings at its next moment. An alarm with one date is off after it rang or was missed.
        package var isOn: Bool { isEnabled && !record.isOver(alarm.schedule) }

        /// Its next moment after the instant `now`; nil: it is off.
        package func next(after now: Int64, _ zones: Zones) -> AlarmMoment? {
            guard isOn else { return nil }
            return alarm.schedule.next(after: now, in: zones(alarm.zone), without: record.rung)
        }
    }

    /// In the order in which they were set.
    package private(set) var entries: [Entry] = []
    package private(set) var life = AlarmLife.idle

    /// Maximum number of alarms.
    package static var limit: Int { 64 }
    /// Maximum number of alarms of one user.
    package static var userLimit: Int { 16 }

    /// No alarms.
    package init() {}

    /// The alarms of an earlier run, in any condition: what exceeds the limits is left out. `resume` begins its work.
    package init(_ saved: [Entry], _ life: AlarmLife) {
        for entry in saved where index(of: entry.alarm.name) == nil && entries.count < Self.limit {
            entries.append(entry)
        }
        if let name = life.name, index(of: name) != nil { self.life = life }
    }

    /// The entry with this name; nil: there is none.
    package subscript(name: String) -> Entry? { index(of: name).map { entries[$0] } }

    private func index(of name: String) -> Int? { entries.firstIndex { $0.alarm.name == name } }

    // MARK: The clock

    /// The alarm that is next after the instant `now`, and its moment; the one that was set first if there are several.
    /// Nil: all are off.
    package func next(after now: Int64, _ zones: Zones) -> (entry: Entry, moment: AlarmMoment)? {
        entries.compactMap { entry in entry.next(after: now, zones).map { (entry, $0) } }
            .min { $0.1.instant < $1.1.instant }
    }

    /// The instant after `now` at which `take` is to be called; nil: nothing is pending.
    package func wake(after now: Int64, _ zones: Zones) -> Int64? {
        [next(after: now, zones)?.moment.instant, life.snoozedUntil].compactMap { $0 }.min()
    }

    /// Begins the work of a daemon that starts at the instant `now`: what rang rings again, and what is due rings.
    package mutating func resume(now: Int64, _ zones: Zones) -> [AlarmEffect] {
        noting(life.resume(now: now)) + take(now: now, zones)
    }

    /// Looks at the clock, which stands at the instant `now`: at the instant of `wake`, and after each step of the
    /// clock and each change of the zone. Of several alarms that are due the latest one rings. Not for a clock that was
    /// never set: its first reading would settle dates that it does not know.
    package mutating func take(now: Int64, _ zones: Zones) -> [AlarmEffect] {
        var effects: [AlarmEffect] = []
        var due: (name: String, moment: AlarmMoment)?
        for index in entries.indices where entries[index].isEnabled {
            let alarm = entries[index].alarm
            switch entries[index].record.take(alarm.schedule, now: now, in: zones(alarm.zone)) {
            case .nothing: break
            case .missed(let moment): effects.append(.missed(alarm.name, moment.date))
            case .due(let moment):
                if due.map({ $0.moment.instant < moment.instant }) ?? true { due = (alarm.name, moment) }
            }
        }
        guard let due else { return effects + noting(life.take(now: now)) }
        return effects + life.begin(due.name, due.moment.date, now: now)
    }

    /// Keeps what the life of an alarm reports as missed.
    private mutating func noting(_ effects: [AlarmEffect]) -> [AlarmEffect] {
        for case .missed(let name, let date) in effects {
            if let index = index(of: name) { entries[index].record.miss(date) }
        }
        return effects
    }

    // MARK: The alarm that rings

    /// Silences the alarm that rings for `seconds`. Throws `nothingRings`.
    package mutating func snooze(
        _ seconds: Int64 = AlarmLife.usualSnooze, now: Int64
    ) throws(AlarmRefusal) -> [AlarmEffect] {
        try life.snooze(seconds, now: now)
    }

    /// Ends the alarm that rings or snoozes, and forgets all that were missed. Throws `nothingRings` if there is neither.
    package mutating func dismiss() throws(AlarmRefusal) -> [AlarmEffect] {
        guard life != .idle || entries.contains(where: { $0.record.missed != nil }) else { throw .nothingRings }
        for index in entries.indices { entries[index].record.acknowledge() }
        return life.end(.dismissed)
    }

    /// The seconds of the effect `ring` have passed.
    package mutating func timeIsUp() -> [AlarmEffect] { life.timeIsUp() }

    // MARK: Changes

    /// Sets an alarm at the instant `now`, in the place of the one with its name, if there is one. Throws `full` or
    /// `userIsFull`.
    package mutating func set(
        _ alarm: Alarm<Content>, isEnabled: Bool = true, now: Int64, _ zones: Zones
    ) throws(AlarmRefusal) -> [AlarmEffect] {
        let place = index(of: alarm.name)
        let others = entries.indices.filter { $0 != place }
        guard others.count < Self.limit else { throw .full(limit: Self.limit) }
        guard others.count(where: { entries[$0].alarm.user == alarm.user }) < Self.userLimit else {
            throw .userIsFull(limit: Self.userLimit)
        }
        let record = AlarmRecord(alarm.schedule, now: now, in: zones(alarm.zone))
        let entry = Entry(alarm, isEnabled: isEnabled, record)
        if let place { entries[place] = entry } else { entries.append(entry) }
        return end(alarm.name)
    }

    /// Switches an alarm on or off at the instant `now`. Throws `noSuchAlarm`, and `isOver` for an alarm whose only
    /// date has passed.
    package mutating func enable(
        _ name: String, _ isOn: Bool, now: Int64, _ zones: Zones
    ) throws(AlarmRefusal) -> [AlarmEffect] {
        guard let index = index(of: name) else { throw .noSuchAlarm(name) }
        let entry = entries[index]
        guard isOn else {
            entries[index] = Entry(entry.alarm, isEnabled: false, entry.record)
            return end(name)
        }
        guard !entry.isOn else { return [] }
        let zone = zones(entry.alarm.zone)
        let schedule = try entry.alarm.schedule.renewed(now: now, in: zone)
        entries[index] = Entry(
            entry.alarm.with(schedule), isEnabled: true, AlarmRecord(schedule, now: now, in: zone))
        return end(name)
    }

    /// Deletes an alarm. Throws `noSuchAlarm`.
    package mutating func delete(_ name: String) throws(AlarmRefusal) -> [AlarmEffect] {
        guard let index = index(of: name) else { throw .noSuchAlarm(name) }
        entries.remove(at: index)
        return end(name)
    }

    private mutating func end(_ name: String) -> [AlarmEffect] { life.name == name ? life.end(.changed) : [] }
}
