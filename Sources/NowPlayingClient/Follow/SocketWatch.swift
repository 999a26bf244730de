import Glibc

/// Watches by inotify for the appearance of a socket: in its folder, or in the nearest existing folder above. Wakes for
/// no other reason.
package final class SocketWatch {
    /// Readable after an event; for `poll(2)`.
    package let descriptor: Int32

    private let paths: [String]
    /// Awaited names in each watched folder.
    private var names: [Int32: Set<String>] = [:]

    private static let events = UInt32(
        IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

    /// Watches for the sockets at `paths`.
    package init(_ paths: [String]) throws(ClientError) {
        self.paths = paths
        descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard descriptor >= 0 else { throw .system("inotify_init", errno) }
        arm()
    }

    deinit { close(descriptor) }

    /// Takes the events. True: one of the sockets, or a folder of its path, may exist now.
    package func takeEvents() -> Bool {
        var matters = false
        var buffer = [UInt8](repeating: 0, count: 8192)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            var offset = 0
            while offset + MemoryLayout<inotify_event>.size <= count {
                let event = buffer.withUnsafeBytes {
                    $0.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                }
                offset += MemoryLayout<inotify_event>.size
                let name = buffer[offset..<(offset + Int(event.len))].prefix { $0 != 0 }
                offset += Int(event.len)
                // An event without a name is about the folder itself: removed, moved, other rights.
                if name.isEmpty || names[event.wd]?.contains(String(decoding: name, as: UTF8.self)) == true {
                    matters = true
                }
            }
        }
        if matters { arm() }
        return matters
    }

    /// Watches the deepest existing folder of each path that can be watched. Repeated calls are harmless.
    private func arm() {
        names = [:]
        for path in paths {
            var folder = path
            while let slash = folder.lastIndex(of: "/") {
                let name = String(folder[folder.index(after: slash)...])
                folder = String(folder[..<slash])
                let watch = inotify_add_watch(descriptor, folder.isEmpty ? "/" : folder, SocketWatch.events)
                if watch >= 0 {
                    names[watch, default: []].insert(name)
                    break
                }
            }
            if !path.contains("/") {
                let watch = inotify_add_watch(descriptor, ".", SocketWatch.events)
                if watch >= 0 { names[watch, default: []].insert(path) }
            }
        }
    }
}
