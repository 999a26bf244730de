import NowPlaying

/// An alarm that somebody set. `Content`: its sound and its effects, which belong to the daemon.
package struct Alarm<Content: Equatable & Sendable>: Equatable, Sendable {
    package let name: String
    /// User that set it.
    package let user: UInt32
    package let schedule: AlarmSchedule
    /// Its zone; nil: the one of the host.
    package let zone: ZoneName?
    package let content: Content

    /// An alarm, by its parts. `name`: one that `AlarmName` permits.
    package init(name: AlarmName, user: UInt32, _ schedule: AlarmSchedule, zone: ZoneName?, _ content: Content) {
        self.name = name.text
        self.user = user
        self.schedule = schedule
        self.zone = zone
        self.content = content
    }

    /// The same alarm with another schedule.
    func with(_ schedule: AlarmSchedule) -> Alarm { Alarm(self, schedule) }

    private init(_ other: Alarm, _ schedule: AlarmSchedule) {
        name = other.name
        user = other.user
        self.schedule = schedule
        zone = other.zone
        content = other.content
    }
}

/// Name of an alarm.
package struct AlarmName: Hashable, Sendable {
    package let text: String

    /// Maximum characters of a name.
    private static let longest = 40

    /// Reads a name: up to 40 characters on one line, not blank. Throws for any other text.
    package init(_ text: String) throws(TextMistake) {
        guard !text.isEmpty, text.unicodeScalars.count <= Self.longest, text.first != " ", text.last != " ",
            text.first != "-", text.unicodeScalars.allSatisfy(PrintableText.isHarmless)
        else { throw TextMistake("name", text, "up to \(Self.longest) characters, such as work") }
        self.text = text
    }

    /// The lowest number that is not among `names`, for an alarm without a name.
    package init(besides names: some Sequence<String>) {
        let taken = Set(names)
        var number = 1
        while taken.contains(String(number)) { number += 1 }
        text = String(number)
    }
}
