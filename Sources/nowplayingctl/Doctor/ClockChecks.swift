import ControlProtocol
import Glibc
import NowPlaying
import NowPlayingClient

/// Checks of the clock and of the daemon's wakeups.
enum ClockChecks {
    /// Error of the clients' position in seconds that is worth a warning: ten times the drift that is an event.
    private static let tolerableError = 0.02
    /// Usual error of the clients' position in seconds on a device that loses blocks steadily.
    private static let usualError = 0.01

    /// The host's clock, the evenness of the device, how far its clock is off, and the error of the position that clients
    /// compute. `report`: of `diagnostics.get`.
    static func clock(_ state: StateView, _ report: JSONValue?) -> Finding? {
        let error = report?["error"]?.doubleValue
        guard let anchor = state.anchor else { return nil }
        let skew = "the device runs \(ClockText.number((anchor.skew * 1e7).rounded() / 10, places: 1)) ppm fast"
        if !anchor.wallSynced {
            return Finding(
                "clock", .warning, "the wall clock was never set",
                meaning: "the daemon cannot detect late commands; \(skew)",
                action: "timedatectl set-ntp true")
        }
        if report?["unsteady"]?.boolValue == true { return unsteady(report) }
        guard abs(anchor.skew) < 0.001 else {
            return Finding(
                "clock", .warning, skew,
                meaning: "a sound card is within 200 ppm; the server's reports are wrong",
                action: "is it a network or virtual device? nowplayingctl outputs")
        }
        let milliseconds = error.map { "\(ClockText.number((abs($0) * 1e4).rounded() / 10, places: 1)) ms" }
        if let error, let milliseconds, abs(error) > tolerableError {
            return Finding(
                "clock", .warning, "the position that clients show was off by \(milliseconds)",
                meaning: "the device's reports jump; they were off at the last refill",
                action: "is it a network or virtual device? nowplayingctl outputs")
        }
        let measured = milliseconds.map { "; the position that clients show was off by \($0) at the last refill" } ?? ""
        return Finding(
            "clock", .ok, "set; " + (anchor.skew == 0 ? "the device's skew is not measured yet" : skew) + measured)
    }

    /// A device that loses or inserts blocks.
    private static func unsteady(_ report: JSONValue?) -> Finding {
        let jumps = report?["jumps"]?.integerValue ?? 0
        let loss = report?["loss"]?.doubleValue ?? 0
        let milliseconds = ClockText.number((abs(loss) * 1e4).rounded() / 10, places: 1)
        let average = loss == 0 ? "" : ", \(milliseconds) ms a second on average"
        let error = max(usualError, abs(report?["error"]?.doubleValue ?? 0))
        let off = ClockText.number((error * 1e3).rounded())
        return Finding(
            "clock", .warning, "the sound server loses blocks: \(jumps) readings did not fit\(average)",
            meaning: "the position that clients show may be off by \(off) ms, and the sound may click",
            action: "give the sound server real-time scheduling: systemctl status rtkit-daemon; try another USB port")
    }

    /// Counts the daemon's wakeups in one second without requests.
    static func wakeups(_ process: Int64, _ state: StateView) -> Finding? {
        let seconds = 1
        guard let before = switches(process) else {
            return Finding(
                "wakeups", .note, "cannot inspect process \(process)",
                meaning: "it runs in another container, or /proc is hidden")
        }
        let expected = state.state == .playing ? 10 : 1
        var (last, count) = (before, Int.max)
        // A recent command causes wakeups of its own: the quietest of three seconds counts.
        for _ in 0..<3 where count > expected {
            poll(nil, 0, Int32(seconds * 1000))
            guard let now = switches(process) else { return nil }
            count = min(count, max(0, now - last) / seconds)
            last = now
        }
        if count <= expected { return Finding("wakeups", .ok, "\(count) in a second") }
        return Finding(
            "wakeups", .warning, "\(count) per second while \(state.stateName)",
            meaning: "clients poll instead of subscribing, or the device has a fault",
            action: "ss -xp | grep nowplayingd; nowplayingctl follow shows the events")
    }

    /// Voluntary context switches of all threads so far; nil where the process is not seen.
    private static func switches(_ process: Int64) -> Int? {
        guard let folder = opendir("/proc/\(process)/task") else { return nil }
        defer { closedir(folder) }
        var total = 0
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let file = fopen("/proc/\(process)/task/\(name)/status", "re") else { continue }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 256)
            while fgets(&line, Int32(line.count), file) != nil {
                let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                guard text.hasPrefix("voluntary_ctxt_switches:") else { continue }
                total += Int(text.split { $0 == "\t" || $0 == " " || $0 == "\n" }.last ?? "") ?? 0
            }
        }
        return total
    }
}
