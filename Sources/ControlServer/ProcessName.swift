import CLinux
import ControlProtocol
import Glibc
import NowPlaying

/// The name of a program that runs.
enum ProcessName {
    /// As `ps` shows it, without control characters; `unknown` when the process has ended.
    static func of(_ pid: Int32) -> String {
        let file = linux_open("/proc/\(pid)/comm", O_RDONLY | O_CLOEXEC, 0)
        guard file >= 0 else { return "unknown" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let got = read(file, &bytes, bytes.count)
        let name = PrintableText.stripped(String(decoding: bytes.prefix(max(0, got)), as: UTF8.self), limit: 64)
        return name.isEmpty ? "unknown" : name
    }
}
