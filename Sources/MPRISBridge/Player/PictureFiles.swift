import BridgeRuntime
import ControlProtocol
import LinuxSystem
import NowPlayingClient

/// Files of pictures that the daemon has put into its cache, by their ids; each is asked for once.
@PlayerLoop final class PictureFiles {
    private let daemon: FollowedDaemon
    private var paths: [(id: String, path: String)] = []
    private var asked: String?

    /// Pictures that are remembered: an album has one for all its tracks.
    private static let remembered = 16

    /// Asks this daemon for pictures; none is known yet.
    init(_ daemon: FollowedDaemon) { self.daemon = daemon }

    private func id(of item: JSONValue?) -> String? {
        item?["artwork"]?.arrayValue?.first { $0["kind"] == "image" }?["id"]?.stringValue
    }

    /// The path of an item's picture; nil: it has none, or it is not known yet.
    func path(of item: JSONValue?) -> String? {
        id(of: item).flatMap { id in paths.last { $0.id == id }?.path }
    }

    /// Asks for an item's picture if it has one that is not known; `done` when it is.
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
