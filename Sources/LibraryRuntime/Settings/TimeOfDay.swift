import Glibc

/// A time of day in local time, to the minute.
package struct TimeOfDay: Equatable, Sendable {
    /// Minutes since midnight, 0 to 1439.
    package let minutes: Int

    /// The time in `text`, such as `04:30`; nil: the text is invalid.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...2).contains(parts[0].utf8.count), parts[1].utf8.count == 2,
            parts.allSatisfy({ $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } }),
            let hours = Int(parts[0]), let minutes = Int(parts[1]), hours < 24, minutes < 60
        else { return nil }
        self.minutes = hours * 60 + minutes
    }

    /// Unix time in seconds of the next such time after `now` in the local time zone. An hour that summer time skips
    /// becomes the hour after it.
    package func next(after now: Int) -> Int {
        for days in 0...2 {
            var base = now
            var local = tm()
            localtime_r(&base, &local)
            local.tm_mday += Int32(days)
            local.tm_hour = Int32(minutes / 60)
            local.tm_min = Int32(minutes % 60)
            local.tm_sec = 0
            local.tm_isdst = -1
            let instant = mktime(&local)
            if instant > now { return instant }
        }
        return now + 86_400
    }
}
