import Glibc
import LinuxSystem
import NowPlaying

/// Time that programs take for an answer, as it would be on a machine with a free processor.
///
/// A program's loop, its first thread, is at each instant in one of three states: it runs, it waits for a processor, or it waits
/// for something else (`/proc/PID/task/TID/schedstat`). Between a request and its answer, only the second is no fault of the
/// program: the time that remains is the work of the loop for all clients, and its waits for disks, locks and other threads. It
/// is never less than the processor time of a loop, so that no wait of another thread hides work of the loop.
package enum AnswerTime {
    /// Seconds of an answer. `loops`: processes whose first threads pass the request on, one after the other. `workers`:
    /// processes of which one further thread does the work. `ask` returns with the answer, on this thread.
    package static func of(_ loops: [Int32], workers: [Int32] = [], _ ask: () throws -> Void) rethrows -> Double {
        let before = loops.map(times)
        let own = own
        let helpers = helpers(of: workers)
        let begin = EventLoop.now
        try ask()
        let passed = EventLoop.now.seconds(since: begin)
        let after = loops.map(times)
        let worked = zip(after, before).map { $0.ran - $1.ran }.max() ?? 0
        let waited = zip(after, before).reduce(Self.own.waited - own.waited) { $0 + $1.0.waited - $1.1.waited }
        let helped = Self.helpers(of: workers).map { $0.value.waited - (helpers[$0.key]?.waited ?? $0.value.waited) }
        return Double(max(worked, Int64(passed * 1e9) - waited - max(0, helped.max() ?? 0))) / 1e9
    }

    /// Nanoseconds for which a thread ran, and for which it was ready to run and had no processor.
    private typealias Times = (ran: Int64, waited: Int64)

    private static var own: Times { read("/proc/thread-self/schedstat") }

    private static func times(_ process: Int32) -> Times { read("/proc/\(process)/task/\(process)/schedstat") }

    /// Those of the further threads of processes.
    private static func helpers(of processes: [Int32]) -> [Int32: Times] {
        var found: [Int32: Times] = [:]
        for process in processes {
            guard let folder = opendir("/proc/\(process)/task") else { continue }
            defer { closedir(folder) }
            while let entry = readdir(folder) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                guard let number = Int32(name), number != process else { continue }
                found[number] = read("/proc/\(process)/task/\(number)/schedstat")
            }
        }
        return found
    }

    private static func read(_ path: String) -> Times {
        guard let file = fopen(path, "re") else { return (0, 0) }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, 128, file) != nil else { return (0, 0) }
        let words = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self).split(
            separator: " ")
        guard words.count > 1, let ran = Int64(words[0]), let waited = Int64(words[1]) else { return (0, 0) }
        return (ran, waited)
    }
}
