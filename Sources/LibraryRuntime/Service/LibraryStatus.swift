import ControlProtocol
import LinuxSystem
import NowPlaying
import TrackDatabase

/// The answer of `library.status`.
struct LibraryStatus: Sendable {
    let view: LibraryView
    let summary: TrackReader.Summary
    let report: ScanReport
    /// The newest faults that the client may see.
    let faults: [TrackFault]
    let faultCount: Int64
    /// The measuring of loudness; nil: the client sees a part of the library.
    let loudness: LoudnessReport?

    /// The answer.
    var answer: JSONValue {
        var object = JSONObject()
        object["version"] = .integer(summary.version)
        object["tracks"] = .integer(summary.tracks)
        object["duration"] = .number(summary.duration)
        object["roots"] = .array(view.roots.filter { view.sight(of: $0) != .nothing }.map(describe))
        object["scan"] = report.progress
        object["lastScan"] = report.lastScan.map(\.json) ?? .null
        object["faultCount"] = .integer(faultCount)
        object["faults"] = .array(faults.map(describe))
        object["loudness"] = loudness?.json(view)
        let reason = report.scan?.phase == .upgrade ? "upgradeFailed" : "scanFailed"
        object["problems"] = .array(
            report.failure.map { [["reason": .string(reason), "message": .string(PrintableText.escaped($0))]] } ?? [])
        return .object(object)
    }

    private func describe(_ root: RootNames.Root) -> JSONValue {
        var object = JSONObject()
        object["name"] = .string(String(decoding: root.name, as: UTF8.self))
        // The path of a partly visible folder is hidden.
        guard view.sight(of: root) == .whole else { return .object(object) }
        object["path"] = .string(root.path.text)
        let mode = report.roots.first { $0.path == root.path }?.mode ?? .unseen
        switch mode {
        case .unseen: object["mode"] = "unseen"
        case .watched: object["mode"] = "watched"
        case .walked(let reason):
            object["mode"] = "walked"
            object["reason"] = .string(reason)
        case .missing(let reason):
            object["mode"] = "missing"
            object["reason"] = .string(reason)
        }
        return .object(object)
    }

    private func describe(_ fault: TrackFault) -> JSONValue {
        var object = JSONObject()
        object["uri"] = view.uri(of: fault.path.bytes).map(JSONValue.string)
        object["reason"] = .string(fault.reason)
        object["at"] = .number(fault.at)
        return .object(object)
    }
}

extension ScanReport {
    /// The running scan for clients; null: none.
    var progress: JSONValue {
        guard let scan else { return .null }
        var object = JSONObject()
        object["phase"] = .string(scan.phase.rawValue)
        object["done"] = .integer(Int64(scan.done))
        object["total"] = scan.total.map { .integer(Int64($0)) }
        object["rate"] = .number((scan.rate * 10).rounded() / 10)
        object["timeLeft"] = scan.timeLeft.map { .number(($0 * 10).rounded() / 10) }
        return .object(object)
    }
}

extension ScanReport.Finished {
    /// The mode for clients.
    fileprivate var json: JSONValue {
        [
            "finished": .number(finished), "seconds": .number(seconds), "files": .integer(Int64(files)),
            "added": .integer(Int64(added)), "changed": .integer(Int64(changed)), "moved": .integer(Int64(moved)),
            "missing": .integer(Int64(missing)), "faults": .integer(Int64(faults)),
        ]
    }
}
