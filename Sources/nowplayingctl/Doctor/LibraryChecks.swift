import ControlProtocol
import Glibc
import NowPlayingClient

/// Checks of the library.
enum LibraryChecks {
    /// Seconds that the library gets to answer.
    private static let libraryPatience = 3.0
    /// Unreadable files in the report, at most.
    private static let maximumFaults = 5

    /// The state of the library beside the daemon that answers at one of `sockets`, or beside those that do not; `control`
    /// would start it.
    static func library(beside sockets: [String], _ control: ServiceControl) -> [Finding] {
        let answer: JSONValue
        do throws(ClientError) {
            let connection = try Connection(firstOf: SocketLocation.library(beside: sockets))
            answer = try connection.call("library.status", [:], within: libraryPatience)
        } catch {
            return [unreachable(error, control.command)]
        }
        return library(answer, control.command)
    }

    private static func unreachable(_ error: ClientError, _ control: String) -> Finding {
        switch error {
        case .noDaemon(let attempts) where attempts.allSatisfy { $0.isAbsent }:
            return Finding(
                "library", .ok, "no library runs; search, saved lists and browsing need it",
                action: "\(control) enable --now nowplaying-library")
        case .noDaemon(let attempts):
            let reasons = attempts.filter { !$0.isAbsent }.map {
                "\(TerminalText.safe($0.path)): \($0.explanation(of: "library"))"
            }
            return Finding(
                "library", .fault, "the library does not accept connections", meaning: reasons.joined(separator: "; "),
                action: "\(control) restart nowplaying-library")
        case .timedOut, .connectionLost, .notUnderstood, .system:
            return Finding(
                "library", .fault, "the library runs, but does not answer",
                meaning: "it hangs, or is shutting down", action: "\(control) restart nowplaying-library")
        case .refused(let failure):
            return Finding(
                "library", .warning, TerminalText.safe(failure.message), meaning: "the library rejects this user",
                action: "join the control-group of nowplayingd.conf, and log in again")
        }
    }

    /// Findings of an answer of `library.status`.
    private static func library(_ status: JSONValue, _ control: String) -> [Finding] {
        var findings: [Finding] = []
        for problem in status["problems"]?.arrayValue ?? [] { findings.append(self.problem(LibraryRow(problem))) }
        for root in status["roots"]?.arrayValue ?? [] {
            if let finding = self.root(LibraryRow(root)) { findings.append(finding) }
        }
        let faults = status["faults"]?.arrayValue ?? []
        for fault in faults.prefix(maximumFaults).map(LibraryRow.init) {
            findings.append(self.fault(fault))
        }
        let count = status["faultCount"]?.integerValue ?? 0
        if count > maximumFaults {
            findings.append(
                Finding(
                    "library", .warning, "\(count) files could not be read",
                    action: "nowplayingctl library --json lists the last 100"))
        }
        if (status["roots"]?.arrayValue ?? []).isEmpty {
            findings.append(
                Finding(
                    "library", .warning, "the library has no folders", meaning: "nothing is found",
                    action: "set folders in [library] of nowplayingd.conf, then restart nowplaying-library"))
        }
        if let loudness = status["loudness"], loudness["state"] == "unavailable" {
            findings.append(self.loudness(LibraryRow(loudness), control))
        }
        if let scan = status["scan"], scan.objectValue != nil {
            findings.append(
                Finding(
                    "library", .note, LibraryText.inProgress(scan),
                    meaning: scan["phase"] == "upgrade"
                        ? "it answers questions afterwards" : "new files appear as it proceeds",
                    action: "nowplayingctl library"))
        }
        let tracks = LibraryText.count(status["tracks"]?.integerValue ?? 0, "track")
        guard findings.isEmpty else { return findings }
        return [Finding("library", .ok, tracks)]
    }

    private static func root(_ root: LibraryRow) -> Finding? {
        let path = root.text("path") ?? root.text("name") ?? "?"
        let reason = root.text("reason")
        switch root.text("mode") {
        case "missing":
            return Finding(
                "library", .warning, "the folder \(path) of the library is missing" + (reason.map { ": " + $0 } ?? ""),
                meaning: "its disk is not mounted, or it was renamed; its tracks return with it",
                action: "findmnt \(Finding.word(path)); mount \(Finding.word(path))")
        case "walked" where reason?.contains("max_user_watches") == true:
            return Finding(
                "library", .warning, "the kernel has too few watches for \(path)",
                meaning: "changes are found by scans only, not at once",
                action: "echo fs.inotify.max_user_watches=1048576 | sudo tee /etc/sysctl.d/60-nowplaying.conf; "
                    + "sudo sysctl --system; restart nowplaying-library")
        case "walked":
            return Finding(
                "library", .note, "\(path) is compared by scans" + (reason.map { ": " + $0 } ?? ""),
                meaning: "changes appear at the next scan", action: "nowplayingctl library update")
        default: return nil
        }
    }

    /// A file that could not be read, or a link that leads out of the library.
    private static func fault(_ fault: LibraryRow) -> Finding {
        let name = fault.json["uri"]?.stringValue.map(StateView.name) ?? "?"
        let reason = fault.text("reason") ?? "unknown reason"
        guard !reason.hasPrefix("the link leads out") else {
            return Finding(
                "library", .note, "\(name): \(reason)", meaning: "the library follows no links",
                action: "set folders in [library] of nowplayingd.conf, or remove the link")
        }
        return Finding(
            "library", .warning, "cannot read \(name): \(reason)",
            meaning: "the library has no tags of it, and tries again when it changes",
            action: "nowplayingctl doctor FILE examines it")
    }

    /// Loudness that the library cannot measure.
    private static func loudness(_ loudness: LibraryRow, _ control: String) -> Finding {
        Finding(
            "library", .warning, "\(DecoderChecks.noLoudness): \(loudness.text("problem") ?? "unknown problem")",
            meaning: "such files play as loud as they are",
            action: "\(DecoderChecks.repair); \(control) restart nowplaying-library")
    }

    /// A fault of the library itself.
    private static func problem(_ problem: LibraryRow) -> Finding {
        Finding(
            "library", .fault, problem.text("message") ?? "unknown problem",
            meaning: "the library answers, but its contents may be old or incomplete",
            action: "df; journalctl -u nowplaying-library, with --user where it is the user's")
    }
}

extension ConnectionAttempt {
    /// True if there is no socket at all.
    fileprivate var isAbsent: Bool { code == ENOENT || code == ENOTDIR }
}
