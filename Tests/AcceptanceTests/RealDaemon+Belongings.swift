import Glibc
import TestSupport

extension RealDaemon {
    /// What the daemon takes of the system.
    struct Belongings {
        /// Open descriptors.
        var descriptors = 0
        /// Threads.
        var threads = 0
        /// Processes that it started and that are there still.
        var children = 0
        /// Memory that is its alone, KiB.
        var memory = 0
    }

    /// What it takes of the system now.
    var belongings: Belongings {
        Belongings(
            descriptors: entries("fd").count, threads: entries("task").count, children: children.count,
            memory: privateMemory)
    }

    /// The processes that it started and that are there still, by their numbers.
    var children: [Int32] {
        entries("task").flatMap { thread in
            lines("task/\(thread)/children").flatMap { $0.split(separator: " ").compactMap { Int32($0) } }
        }
    }

    private var privateMemory: Int {
        let line = lines("smaps_rollup").first { $0.hasPrefix("Pss_Anon:") }
        return line.flatMap { Int($0.split(whereSeparator: \.isWhitespace)[1]) } ?? 0
    }

    private func entries(_ name: String) -> [String] {
        guard let folder = opendir("/proc/\(process.pid)/\(name)") else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    private func lines(_ name: String) -> [String] {
        guard let file = fopen("/proc/\(process.pid)/\(name)", "r") else { return [] }
        defer { fclose(file) }
        var result: [String] = []
        var line = [CChar](repeating: 0, count: 4096)
        while fgets(&line, 4096, file) != nil {
            result.append(
                String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        }
        return result
    }
}
