import ControlProtocol
import Glibc
import LinuxSystem
import TrackDatabase

/// The answer of `library.status`.
struct LibraryStatus: Sendable {
    let view: LibraryView
    let summary: TrackReader.Summary

    /// The answer. It looks at the folders, which may block.
    var answer: JSONValue {
        [
            "version": .integer(summary.version), "tracks": .integer(summary.tracks),
            "duration": .number(summary.duration),
            "roots": .array(view.roots.filter { view.sight(of: $0) != .nothing }.map(describe)),
            "scan": .null,
        ]
    }

    private func describe(_ root: RootNames.Root) -> JSONValue {
        let name = JSONValue.string(String(decoding: root.name, as: UTF8.self))
        // The place of a folder that is visible in part is not for all.
        guard view.sight(of: root) == .whole else { return ["name": name] }
        let isThere = root.path.withCString { access($0, R_OK | X_OK) == 0 }
        return [
            "name": name, "path": .string(root.path.text),
            "mode": .string(isThere ? "walked" : "missing"),
        ]
    }
}
