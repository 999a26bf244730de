import ControlProtocol
import NowPlaying
import NowPlayingClient

/// The state of the library in words.
enum LibraryText {
    /// Lines of `library`, without those of a scan in progress.
    static func lines(_ status: JSONValue, _ output: Output, now: Double) -> [String] {
        let tracks = status["tracks"]?.integerValue ?? 0
        let time = status["duration"]?.doubleValue.map { ", \(long($0))" } ?? ""
        var lines = [output.styled(count(tracks, "track") + (tracks > 0 ? time : ""), .bold)]
        let roots = status["roots"]?.arrayValue ?? []
        if roots.isEmpty { lines.append("no folders: set folders in [library] of nowplayingd.conf") }
        for root in roots { lines += self.root(LibraryRow(root), output) }
        if !roots.isEmpty, roots.allSatisfy({ $0["mode"] == "missing" }) {
            lines.append("for music elsewhere, set folders in [library] of nowplayingd.conf")
        }
        if let last = status["lastScan"], last != .null { lines.append(output.styled(scanned(last, now: now), .dim)) }
        if let loudness = status["loudness"], loudness.objectValue != nil {
            let isAvailable = loudness["state"] != "unavailable"
            lines.append(output.styled(LoudnessText.line(loudness), isAvailable ? .dim : .yellow))
        }
        lines += faults(status, output)
        return lines
    }

    /// Lines after the end of a shown scan.
    static func end(_ status: JSONValue, _ output: Output, now: Double) -> [String] {
        var lines = [count(status["tracks"]?.integerValue ?? 0, "track")]
        if let last = status["lastScan"], last != .null { lines.append(scanned(last, now: now)) }
        return lines + faults(status, output)
    }

    /// `Music  /srv/music  watched: changes are found at once`.
    private static func root(_ root: LibraryRow, _ output: Output) -> [String] {
        let mode = root.text("mode") ?? "?"
        let state =
            switch mode {
            case "unseen": output.styled("not scanned since the library started", .dim)
            case "watched": output.styled("watched: changes are found at once", .dim)
            case "walked": output.styled("walked: changes are found by scans", .yellow)
            case "missing": output.styled("missing: its disk is not mounted, or it was renamed", .red)
            default: mode
            }
        var lines = [StatusText.joined([root.text("name"), root.text("path"), state])]
        if let reason = root.text("reason") { lines.append("    " + reason) }
        return lines
    }

    /// `last scan: 5 minutes ago, 1200 files in 3 s; 12 added, 1 moved`.
    private static func scanned(_ scan: JSONValue, now: Double) -> String {
        var text = "last scan"
        if let finished = scan["finished"]?.doubleValue { text += ": \(ago(now - finished)), " } else { text += ": " }
        text += count(scan["files"]?.integerValue ?? 0, "file")
        if let seconds = scan["seconds"]?.doubleValue { text += " in \(ClockText.number(seconds, places: 1)) s" }
        let changes = ["added", "changed", "moved", "missing", "faults"].compactMap { name -> String? in
            guard let number = scan[name]?.integerValue, number > 0 else { return nil }
            return "\(number) " + (name == "faults" ? "unreadable" : name)
        }
        return changes.isEmpty ? text : text + "; " + changes.joined(separator: ", ")
    }

    private static let shownFaults = 10

    private static func faults(_ status: JSONValue, _ output: Output) -> [String] {
        let faults = status["faults"]?.arrayValue ?? []
        let number = status["faultCount"]?.integerValue ?? Int64(faults.count)
        guard number > 0 else { return [] }
        var lines = [output.styled("\(count(number, "file")) could not be read:", .yellow)]
        for fault in faults.prefix(shownFaults).map(LibraryRow.init) {
            let name = fault.json["uri"]?.stringValue.map(StateView.name) ?? "?"
            lines.append("  \(name): \(fault.text("reason") ?? "unknown reason")")
        }
        if number > shownFaults { lines.append("  and more: nowplayingctl library --json lists the last 100") }
        return lines
    }

    // MARK: A scan

    /// A whole sentence about a scan in progress.
    static func inProgress(_ scan: JSONValue) -> String {
        (scan["phase"] == "upgrade" ? "" : "a scan is in progress: ") + self.scan(scan)
    }

    /// `reading 120 of 1200 files, 10 %, 6000 a second, 0:12 left`.
    static func scan(_ scan: JSONValue) -> String {
        let parts = parts(scan)
        return parts.phase + " " + ([parts.count] + parts.rest).filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// The same with a bar, for one line of a terminal.
    static func moving(_ scan: JSONValue, columns: Int, isUnicode: Bool) -> String {
        let parts = parts(scan)
        var text = parts.count.isEmpty ? parts.phase : "\(parts.phase) \(parts.count)"
        let rest = fitting(parts.rest, columns: columns - text.count)
        if let fraction = parts.fraction {
            let width = min(40, columns - text.count - rest.count - 4)
            if width >= 8 { text += "  " + MovingLine.bar(fraction, width: width, isUnicode: isUnicode) }
        }
        return isUnicode ? TerminalText.fitted(text + rest, columns: columns) : String((text + rest).prefix(columns))
    }

    /// The parts that have room, each after two spaces. Without room, the rate is dropped first, then the last part.
    private static func fitting(_ parts: [String], columns: Int) -> String {
        let text = parts.map { "  " + $0 }.joined()
        guard text.count > columns, !parts.isEmpty else { return text }
        var fewer = parts
        fewer.remove(at: parts.lastIndex { $0.hasSuffix(perSecond) } ?? parts.count - 1)
        return fitting(fewer, columns: columns)
    }

    private static let perSecond = " a second"

    private static func parts(
        _ scan: JSONValue
    ) -> (phase: String, count: String, rest: [String], fraction: Double?) {
        let phase =
            switch scan["phase"]?.stringValue {
            case "upgrade": "updating the database:"
            case "walk": "looking for files:"
            case "read": "reading tags:"
            case "identify": "reading contents:"
            case let other: TerminalText.safe(other ?? "scanning:")
            }
        let done = scan["done"]?.integerValue ?? 0
        var rest: [String] = []
        var fraction: Double?
        var number = count(done, "file")
        if let total = scan["total"]?.integerValue, total > 0 {
            number = "\(done) of \(count(total, "file"))"
            fraction = min(1, Double(done) / Double(total))
            rest.append("\(Int(clamping: (fraction ?? 0) * 100)) %")
        }
        if let rate = scan["rate"]?.doubleValue, rate >= 1 {
            rest.append(ClockText.number(rate, places: 0) + perSecond)
        }
        if let left = scan["timeLeft"]?.doubleValue { rest.append(ClockText.clock(left) + " left") }
        // The number of upgraded rows means nothing to people.
        if scan["phase"] == "upgrade" { (number, rest) = ("", rest.filter { !$0.hasSuffix(perSecond) }) }
        return (phase, number, rest, fraction)
    }

    // MARK: Numbers

    /// `1 track`, `2 tracks`.
    static func count(_ number: Int64, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }

    /// A long time in its two largest units: `34 days 5 hours`.
    static func long(_ seconds: Double) -> String {
        guard seconds.isFinite, (0..<1e12).contains(seconds) else { return "an unknown time" }
        let minutes = Int64(clamping: seconds / 60)
        let (days, hours) = (minutes / 1440, minutes / 60 % 24)
        if days > 0 { return count(days, "day") + (hours > 0 ? " " + count(hours, "hour") : "") }
        if hours > 0 { return count(hours, "hour") + (minutes % 60 > 0 ? " " + count(minutes % 60, "minute") : "") }
        return minutes > 0 ? count(minutes, "minute") : count(Int64(clamping: seconds), "second")
    }

    private static func ago(_ seconds: Double) -> String { seconds < 1 ? "now" : long(seconds) + " ago" }
}
