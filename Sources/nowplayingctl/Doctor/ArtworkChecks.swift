import ControlProtocol
import NowPlayingClient

/// The picture of the present item, and why there is none.
enum ArtworkChecks {
    /// Findings of the part `artwork` of `diagnostics.get`; none without it.
    static func artwork(_ artwork: JSONValue?) -> [Finding] {
        guard let artwork else { return [] }
        var findings: [Finding] = []
        let sources = texts(artwork["sources"])
        let from = sources.first.map { ": \($0)" } ?? ""
        switch artwork["state"]?.stringValue {
        case "found": findings.append(Finding("artwork", .ok, "the item has a picture\(from)"))
        case "placeholder":
            findings.append(
                Finding(
                    "artwork", .note, "the item has no picture of its own; the placeholder is shown",
                    action: "put a picture into the file, or beside it as cover.jpg"))
        case "unfetched":
            findings.append(
                Finding(
                    "artwork", .ok, "the item has a picture; no client has requested it yet\(from)",
                    action: "nowplayingctl artwork"))
        case "searching": findings.append(Finding("artwork", .note, "the daemon is looking for the item's picture"))
        case "missing" where texts(artwork["failures"]).isEmpty:
            findings.append(
                Finding(
                    "artwork", .note, "the item has no picture in its file, beside it or at its address",
                    action: "put a picture into the file, or beside it as cover.jpg"))
        default: break
        }
        for failure in texts(artwork["failures"]) {
            findings.append(Finding("artwork", .warning, failure, action: remedy(failure)))
        }
        for advice in texts(artwork["advice"]) {
            findings.append(Finding("artwork", .note, advice, action: "shorten it: ffmpeg -i FILE -t 15 -r 30 -an NEW"))
        }
        if artwork["cache"] == .null {
            findings.append(
                Finding(
                    "artwork", .warning, "the daemon has no cache folder for pictures",
                    meaning: "clients see that there are pictures, but cannot get them",
                    action: "set cache-directory in nowplayingd.conf and restart the daemon"))
        }
        return findings
    }

    private static func texts(_ value: JSONValue?) -> [String] {
        (value?.arrayValue ?? []).compactMap(\.stringValue).map { TerminalText.safe($0) }
    }

    /// Remedy for a picture that fails.
    private static func remedy(_ failure: String) -> String {
        if failure.contains("link that leads elsewhere") {
            return "copy the picture there instead of a link, or name a folder above both in media-roots"
        }
        if failure.contains("outside of the media roots") { return "put it below a folder in media-roots" }
        if failure.contains("MiB") { return "make it smaller: nothing is resized" }
        if failure.contains("which is not") { return "cut it to 1:1 or 3:4" }
        return "replace it, and play the item again"
    }
}
