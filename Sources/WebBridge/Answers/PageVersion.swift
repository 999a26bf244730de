import Glibc
import LinuxSystem
import NowPlaying

/// A name for the present content of all files of the page. It changes when a file is written or replaced.
@PlayerLoop final class PageVersion {
    private let folder: String
    private var known: (version: String, asked: MonotonicTime)?

    /// Seconds for which a version stays valid: a page requests all of its files at once.
    private static let validSeconds = 1.0
    /// Maximum nesting of folders.
    private static let depth = 4

    /// The version of the files in a folder.
    init(_ folder: String) { self.folder = folder }

    /// The version now: 16 hexadecimal digits.
    var current: String {
        let now = EventLoop.now
        if let known, known.asked.advanced(bySeconds: Self.validSeconds) > now { return known.version }
        var sum = Sum()
        Self.add(folder, Self.depth, &sum)
        let version = sum.text
        known = (version, now)
        return version
    }

    private static func add(_ folder: String, _ depth: Int, _ sum: inout Sum) {
        guard depth > 0, let stream = opendir(folder) else { return }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        for name in names.sorted() {
            var status = stat()
            guard lstat(folder + "/" + name, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR {
                add(folder + "/" + name, depth - 1, &sum)
                continue
            }
            sum.add(name.utf8)
            for number in [
                UInt64(status.st_ino), UInt64(bitPattern: Int64(status.st_size)),
                UInt64(bitPattern: Int64(status.st_mtim.tv_sec)), UInt64(bitPattern: Int64(status.st_mtim.tv_nsec)),
            ] { withUnsafeBytes(of: number) { sum.add($0) } }
        }
    }

    /// FNV-1a with 64 bits, the same in each process.
    private struct Sum {
        private var value: UInt64 = 0xCBF2_9CE4_8422_2325

        mutating func add(_ bytes: some Sequence<UInt8>) {
            for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }

        var text: String {
            let digits = String(value, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
    }
}
