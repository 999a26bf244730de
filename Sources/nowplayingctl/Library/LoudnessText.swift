import ControlProtocol
import NowPlaying
import NowPlayingClient

/// The measuring of loudness in words.
enum LoudnessText {
    /// `loudness: measuring, 1204 of 5310 files, 22 %, 3 failed`.
    static func line(_ loudness: JSONValue) -> String {
        let row = LibraryRow(loudness)
        let total = row.count("total") ?? 0
        switch row.text("state") {
        case "unavailable": return "loudness: not measured: \(row.text("problem") ?? "unknown problem")"
        case "complete" where total == 0: return "loudness: in the tags of all files"
        case "complete": return "loudness: measured" + counts(row)
        case let state: return "loudness: \(state ?? "?")" + counts(row)
        }
    }

    /// The same, and what is read now or what helps.
    static func lines(_ loudness: JSONValue) -> [String] {
        let detail: String? =
            switch loudness["state"]?.stringValue {
            case "measuring": loudness["uri"]?.stringValue.map { "reading " + StateView.name(ofURI: $0) }
            case "waiting":
                "the rest follows after the next scan or play of its folder: nowplayingctl library update"
            case "paused": "continue: nowplayingctl library loudness resume"
            case "unavailable": "see what helps: nowplayingctl doctor"
            default: nil
            }
        return [line(loudness)] + (detail.map { ["    " + $0] } ?? [])
    }

    /// `, 1204 of 5310 files, 22 %, 3 failed`; empty without files.
    private static func counts(_ row: LibraryRow) -> String {
        let (done, total, failed) = (row.count("done") ?? 0, row.count("total") ?? 0, row.count("failed") ?? 0)
        guard total > 0 else { return "" }
        var text = ", " + LibraryText.count(total, "file")
        if done != total {
            let fraction = min(1, max(0, Double(done) / Double(total)))
            text = ", \(done) of \(LibraryText.count(total, "file")), \(Int(clamping: fraction * 100)) %"
        }
        return failed > 0 ? text + ", \(failed) failed" : text
    }
}
