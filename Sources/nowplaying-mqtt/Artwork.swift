import BridgeRuntime
import CLinux
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlayingClient

/// The picture of the present item, asked from the daemon once for each.
@PlayerLoop final class Artwork {
    private let daemon: FollowedDaemon
    private let log: BridgeLog
    private let changed: @PlayerLoop () -> Void
    /// Picture that is known or requested; nil: none yet.
    private var current: String?
    /// Its bytes; empty: the item has no picture; nil: nothing is known yet.
    private(set) var picture: [UInt8]?

    /// Bytes of a picture, at most.
    private static let maximumBytes = 1 << 20

    /// `changed` is called when the picture changes or disappears.
    init(_ daemon: FollowedDaemon, _ log: BridgeLog, _ changed: @escaping @PlayerLoop () -> Void) {
        self.daemon = daemon
        self.log = log
        self.changed = changed
    }

    /// Requests the picture of this state's item, if it differs from the current one.
    func show(_ state: StateView) {
        let pictures = state.item?["artwork"]?.arrayValue ?? []
        let id = pictures.first { $0["kind"]?.stringValue != "animated" }?["id"]?.stringValue ?? ""
        guard id != current else { return }
        current = id
        guard !id.isEmpty else { return set([]) }
        let wanted: JSONValue = ["id": .string(id), "kind": "image", "width": 600, "height": 600, "fit": "inside"]
        daemon.call("artwork.get", wanted) { [weak self] answer in
            guard let self, current == id, let answer else { return }
            guard let path = answer["result"]?["path"]?.stringValue, let bytes = Artwork.read(path) else {
                let why = answer["error"]?["message"]?.stringValue ?? "it is unreadable or has more than 1 MiB"
                log.warning("no picture published: \(why)")
                return set([])
            }
            // The daemon gives a network picture its id with the fetch: this avoids a second fetch.
            current = answer["result"]?["id"]?.stringValue ?? id
            set(bytes)
        }
    }

    private func set(_ bytes: [UInt8]) {
        picture = bytes
        changed()
    }

    private static func read(_ path: String) -> [UInt8]? {
        let file = linux_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= maximumBytes else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var got = 0
        while got < bytes.count {
            let count = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress! + got, $0.count - got) }
            guard count > 0 else { return nil }
            got += count
        }
        return bytes
    }
}
