import Glibc

/// The wall clock of this machine, which tests may set for a moment.
enum HostClock {
    /// True if the clock can be set here: by root, with CAP_SYS_TIME.
    static let maySet: Bool = {
        guard let file = fopen("/proc/self/status", "r") else { return false }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix("CapEff:"), let word = text.split(whereSeparator: \.isWhitespace).last else {
                continue
            }
            return UInt64(word, radix: 16).map { $0 & 1 << 25 != 0 } ?? false
        }
        return false
    }()

    /// Unix time.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Sets the clock forward by these seconds (back, if negative). 0 sets it to its present time.
    static func step(by seconds: Int) {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        time.tv_sec += seconds
        clock_settime(CLOCK_REALTIME, &time)
    }
}
