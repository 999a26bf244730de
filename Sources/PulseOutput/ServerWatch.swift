import CLinux
import Glibc
package import LinuxSystem
import NowPlaying

/// Watches for the start of a sound server: the appearance of its socket at a possible path.
///
/// It watches only folders (inotify); for a missing folder it watches the nearest existing parent. It causes no wakeup
/// while nothing is created there, and has no cost while stopped.
@PlayerLoop package final class ServerWatch {
    private let loop: EventLoop
    private let paths: [String]
    private var inotify: Int32 = -1
    private var source: EventSource?
    /// Awaited names in each watched folder.
    private var awaited: [Int32: Set<String>] = [:]
    private var handler: (@PlayerLoop () -> Void)?
    private var announcement: EventSource?
    /// Seconds that a server gets between creating its socket and listening on it.
    private static let grace = 0.05

    /// A watch on the paths at which the server may listen, not started. `server`: address as for the output.
    package convenience init(_ loop: EventLoop, server: String? = nil) {
        self.init(loop, paths: server.map(ServerAddress.paths(inServerList:)) ?? ServerAddress.socketPaths())
    }

    /// A watch on these sockets.
    init(_ loop: EventLoop, paths: [String]) {
        self.loop = loop
        self.paths = paths
    }

    isolated deinit { stop() }

    /// Calls `handler` after each creation of a server's socket from now on, until `stop`. It does not report existing
    /// sockets: try to connect first, then watch.
    package func start(_ handler: @escaping @PlayerLoop () -> Void) {
        self.handler = handler
        guard inotify < 0 else { return }
        inotify = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard inotify >= 0 else { return }
        source = loop.watch(inotify, EPOLLIN.rawValue) { [unowned self] _ in readEvents() }
        for path in paths { follow(path, announce: false) }
    }

    /// Ends the watch.
    package func stop() {
        handler = nil
        announcement?.release()
        announcement = nil
        source?.release()
        source = nil
        awaited = [:]
        if inotify >= 0 { close(inotify) }
        inotify = -1
    }

    /// Watches the deepest existing folder of `path` for the next part of the path. `announce`: a part has just
    /// appeared, so an existing socket is reported.
    private func follow(_ path: String, announce: Bool, again: Bool = true) {
        let parts = path.split(separator: "/").map(String.init)
        for depth in stride(from: parts.count - 1, through: 0, by: -1) {
            let folder = "/" + parts[..<depth].joined(separator: "/")
            let mask = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
            let watch = inotify_add_watch(inotify, folder, mask | UInt32(IN_ONLYDIR))
            guard watch >= 0 else { continue }
            awaited[watch, default: []].insert(path)
            // A second look finds files that appeared before the watch.
            let isThere = access("/" + parts[...depth].joined(separator: "/"), F_OK) == 0
            if isThere, depth < parts.count - 1, again {
                awaited[watch]?.remove(path)
                follow(path, announce: announce, again: false)
            } else if isThere, announce, depth == parts.count - 1 {
                appeared()
            }
            return
        }
    }

    private func readEvents() {
        var buffer = [UInt64](repeating: 0, count: 512)
        var touched: [(watch: Int32, name: String, mask: UInt32)] = []
        buffer.withUnsafeMutableBytes { bytes in
            let size = MemoryLayout<inotify_event>.size
            while case let count = read(inotify, bytes.baseAddress, bytes.count), count > 0 {
                var offset = 0
                while offset + size <= count {
                    let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    let name = bytes[(offset + size)..<(offset + size + Int(event.len))].prefix { $0 != 0 }
                    touched.append((event.wd, String(decoding: name, as: UTF8.self), event.mask))
                    offset += size + Int(event.len)
                }
            }
        }
        for (watch, name, mask) in touched { happened(watch, name, mask) }
    }

    private func happened(_ watch: Int32, _ name: String, _ mask: UInt32) {
        guard let paths = awaited[watch] else { return }
        if mask & (UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)) != 0 {
            // The folder is gone: watch its parent until it is back.
            awaited[watch] = nil
            inotify_rm_watch(inotify, watch)
            for path in paths { follow(path, announce: true) }
        } else {
            for path in paths where path.split(separator: "/").contains(Substring(name)) {
                let isSocket = path.hasSuffix("/\(name)")
                if isSocket { appeared() } else { follow(path, announce: true) }
            }
        }
    }

    /// Reports a new socket, once for simultaneous events.
    private func appeared() {
        guard announcement == nil, handler != nil else { return }
        announcement = loop.deadline(EventLoop.now.advanced(bySeconds: Self.grace)) { [unowned self] in
            announcement = nil
            handler?()
        }
    }
}
