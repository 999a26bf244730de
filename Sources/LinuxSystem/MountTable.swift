import CLinux
import Glibc

/// The mount points of file systems, as this process sees them (proc_pid_mountinfo(5)).
package struct MountTable: Sendable {
    /// Absolute and normalized, in the order of mounting; a mount point may occur several times.
    package let points: [FilePath]

    /// Reads a text of `/proc/self/mountinfo`; skips invalid lines.
    package init(_ text: some Sequence<UInt8>) {
        points = Array(text).split(separator: UInt8(ascii: "\n")).compactMap { line in
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            guard fields.count >= 5 else { return nil }
            return FilePath(Self.unescaped(fields[4]))
        }
    }

    /// The present table. Nil: it can't be read. The read waits for no disk, but may take long: not for the loop.
    package static func read() -> MountTable? {
        let file = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while text.count < limit {
            let count = Glibc.read(file, &piece, piece.count)
            if count < 0 { return nil }
            if count == 0 { break }
            text += piece[..<count]
        }
        return MountTable(text)
    }

    /// Bytes that are read of the table, at most.
    private static let limit = 4 << 20

    /// The deepest mount point above a path, by the text of the path.
    package func point(above path: FilePath) -> FilePath? {
        points.filter { path.below($0) != nil }.max { $0.bytes.count < $1.bytes.count }
    }

    /// Decodes space, tab, line feed and backslash, which the kernel writes as a backslash and three octal digits.
    private static func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            guard byte == UInt8(ascii: "\\"), digits.count == 3, digits.allSatisfy({ (0x30...0x37).contains($0) })
            else {
                result.append(byte)
                continue
            }
            result.append(UInt8(truncatingIfNeeded: digits.reduce(0) { $0 * 8 + Int($1 - 0x30) }))
            rest = rest.dropFirst(3)
        }
        return result
    }
}

/// Watches the mount table while the object lives. It wakes only for changes.
@PlayerLoop package final class MountWatch {
    private let descriptor: Int32
    private var source: EventSource?

    /// Calls `handler` on the loop after each change. Nil: the kernel does not report changes here.
    package init?(_ loop: EventLoop, _ handler: @escaping @PlayerLoop () -> Void) {
        descriptor = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        source = loop.watch(descriptor, EPOLLPRI.rawValue) { _ in handler() }
        if source == nil { return nil }
    }

    isolated deinit {
        source?.release()
        if descriptor >= 0 { close(descriptor) }
    }
}
