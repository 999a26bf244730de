import CLinux
import Glibc

/// Numbers for items of the queue that are never used twice, also over restarts: each run of the daemon takes a block of
/// them, noted in the state directory before the first is used.
package enum ItemNumbers {
    /// Numbers that one run takes. 2⁵³ of them (what JavaScript counts exactly) last for nine million starts.
    package static let block: Int64 = 1_000_000_000
    private static let fileName = "next-item"

    /// The first number of a new block. Any thread; a few small file operations. A state directory that can't be read or
    /// written gives a block by the wall clock, which no earlier run can have had unless the clock was set back.
    package static func reserve(stateDirectory: String) -> Int64 {
        let path = stateDirectory + "/" + fileName
        let first = read(path) ?? (access(path, F_OK) == 0 ? byWallClock() : 1)
        return write(path, first + block) ? first : byWallClock()
    }

    private static func read(_ path: String) -> Int64? {
        let file = linux_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var text = [UInt8](repeating: 0, count: 32)
        let count = Glibc.read(file, &text, text.count)
        guard count > 0 else { return nil }
        let digits = text[..<count].prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        guard let number = Int64(String(decoding: digits, as: UTF8.self)), number > 0, number < 1 << 53 else {
            return nil
        }
        return number
    }

    /// Replaces the file as a whole, for good: after a power cut no number may come again.
    private static func write(_ path: String, _ number: Int64) -> Bool {
        let temporary = path + ".new"
        let file = linux_open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        let text = Array("\(number)\n".utf8)
        let isWritten = Glibc.write(file, text, text.count) == text.count && fdatasync(file) == 0
        close(file)
        guard isWritten, rename(temporary, path) == 0 else { return false }
        guard let slash = path.lastIndex(of: "/") else { return true }
        let folder = linux_open(String(path[..<slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard folder >= 0 else { return false }
        defer { close(folder) }
        return fsync(folder) == 0
    }

    private static func byWallClock() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return max(1, Int64(now.tv_sec)) * 1_000_000
    }
}
