import ControlProtocol
import Glibc
import LinuxSystem
import TrackDatabase

/// The answer of `library.status`.
struct LibraryStatus: Sendable {
    let view: LibraryView
    let count: TrackCount

    /// The size of the library as a client sees it. A view of all takes no time, whatever the size.
    static func count(_ view: LibraryView, _ reader: TrackReader) throws(TrackDatabaseError) -> TrackCount {
        if let condition = view.condition { return try reader.count(condition) }
        let summary = try reader.summary()
        return TrackCount(tracks: summary.tracks, duration: summary.duration, version: summary.version)
    }

    /// The answer. It looks at the folders, which may block.
    var answer: JSONValue {
        [
            "version": .integer(count.version), "tracks": .integer(count.tracks), "duration": .number(count.duration),
            "roots": .array(view.roots.filter { view.sight(of: $0.name) != .nothing }.map(describe)),
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
