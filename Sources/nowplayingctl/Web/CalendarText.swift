import Glibc

/// Days for people.
enum CalendarText {
    /// The day of a Unix time in seconds, in the local time zone, as `2026-11-24`.
    static func day(_ seconds: Double) -> String {
        var time = time_t(Int64(exactly: seconds.rounded(.down)) ?? 0)
        var parts = tm()
        guard localtime_r(&time, &parts) != nil else { return "?" }
        var buffer = [CChar](repeating: 0, count: 32)
        let count = strftime(&buffer, buffer.count, "%Y-%m-%d", &parts)
        return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
