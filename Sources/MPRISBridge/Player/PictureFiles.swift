import BridgeRuntime
import ControlProtocol
import LinuxSystem
import NowPlayingClient

/// Paths of pictures in the daemon's cache, by their ids. It remembers each path, and repeats a request that failed.
@PlayerLoop final class PictureFiles {
    private let daemon: FollowedDaemon
    private var paths: [(id: String, path: String)] = []
    private var asked: String?

    /// Maximum number of remembered pictures: an album has one for all its tracks.
    private static let remembered = 16

    /// Requests pictures from this daemon; none is known yet.
    init(_ daemon: FollowedDaemon) { self.daemon = daemon }

    private func id(of item: JSONValue?) -> String? {
        item?["artwork"]?.arrayValue?.first { $0["kind"] == "image" }?["id"]?.stringValue
    }

    /// The path of an item's picture; nil: the item has none, or the path is not known yet.
    func path(of item: JSONValue?) -> String? {
        id(of: item).flatMap { id in paths.last { $0.id == id }?.path }
    }

    /// Requests the path of an item's picture if the item has one whose path is unknown. Calls `done` if the daemon gives it.
    func look(for item: JSONValue?, _ done: @escaping @PlayerLoop () -> Void) {
        guard let id = id(of: item), id != asked, !paths.contains(where: { $0.id == id }) else { return }
        asked = id
        daemon.call("artwork.get", ["id": .string(id)]) { [weak self] answer in
            guard let self, asked == id else { return }
            asked = nil
            guard let path = answer?["result"]?["path"]?.stringValue else { return }
            paths.append((id, path))
            if paths.count > Self.remembered { paths.removeFirst() }
            done()
        }
    }
}
