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
            "roots": .array(view.roots.map(describe)),
            "scan": .null,
        ]
    }

    private func describe(_ root: RootNames.Root) -> JSONValue {
        let isThere = root.path.withCString { access($0, R_OK | X_OK) == 0 }
        return [
            "name": .string(String(decoding: root.name, as: UTF8.self)), "path": .string(root.path.text),
            "mode": .string(isThere ? "walked" : "missing"),
        ]
    }
}
