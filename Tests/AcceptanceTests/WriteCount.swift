import Glibc

/// Counts how often files of a folder are written and closed.
final class WriteCount {
    private let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    private var counts: [String: Int] = [:]

    init(_ folder: String) {
        precondition(inotify_add_watch(descriptor, folder, UInt32(IN_CLOSE_WRITE)) >= 0)
    }

    deinit { close(descriptor) }

    /// Number of writes to a file of this name since the beginning.
    func times(_ name: String) -> Int {
        withUnsafeTemporaryAllocation(byteCount: 65536, alignment: 8) { buffer in
            let header = MemoryLayout<inotify_event>.size
            while case let count = read(descriptor, buffer.baseAddress, buffer.count), count > 0 {
                var offset = 0
                while offset + header <= count {
                    let length = Int(buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self).len)
                    let text = buffer[(offset + header)..<(offset + header + length)].prefix { $0 != 0 }
                    counts[String(decoding: text, as: UTF8.self), default: 0] += 1
                    offset += header + length
                }
            }
        }
        return counts[name] ?? 0
    }
}
