import Glibc

/// A reading of the time for which the threads of some processes were ready to run and had no processor.
///
/// The kernel counts it for each thread (the second number of `/proc/PID/task/TID/schedstat`), and it counts the time that
/// the host of a virtual machine takes from all of them (`steal` in `/proc/stat`, see proc(5)). A judge of instants adds the
/// difference of two readings to its bound: on an idle machine the bound is exact, and on a busy one the cause explains
/// each frame that is late.
package struct ProcessorWaits: Sendable {
    /// Nanoseconds of each thread, by its number.
    private let threads: [Int32: Int64]
    /// Seconds that the host took, of all processors together.
    private let stolen: Double

    /// Reads the threads that these processes, and their children if so, have now.
    package init(of processes: [Int32], withChildren: Bool = false) {
        var threads: [Int32: Int64] = [:]
        for process in processes + (withChildren ? processes.flatMap(Self.children(of:)) : []) {
            for thread in Self.threads(of: process) {
                let words = Self.words("/proc/\(process)/task/\(thread)/schedstat")
                if words.count > 1 { threads[thread] = Int64(words[1]) }
            }
        }
        self.threads = threads
        let ticks = Double(Self.words("/proc/stat").dropFirst(8).first ?? "") ?? 0
        stolen = ticks / Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
    }

    /// Seconds for which the threads waited since an earlier reading, all of them added up. A thread that has ended
    /// meanwhile counts as if it had never waited.
    package func seconds(since earlier: ProcessorWaits) -> Double {
        let waited = threads.reduce(0) { $0 + $1.value - (earlier.threads[$1.key] ?? 0) }
        return Double(waited) / 1e9 + stolen - earlier.stolen
    }

    private static func threads(of process: Int32) -> [Int32] {
        guard let folder = opendir("/proc/\(process)/task") else { return [] }
        defer { closedir(folder) }
        var found: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let number = Int32(name) { found.append(number) }
        }
        return found
    }

    private static func children(of process: Int32) -> [Int32] {
        threads(of: process).flatMap { words("/proc/\(process)/task/\($0)/children").compactMap { Int32($0) } }
    }

    /// The words of a file's first line.
    private static func words(_ path: String) -> [Substring] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 512)
        guard fgets(&line, 512, file) != nil else { return [] }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.split(whereSeparator: \.isWhitespace).map { Substring(String($0)) }
    }
}
