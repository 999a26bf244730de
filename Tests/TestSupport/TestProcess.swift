import CLinux
import Glibc
import Synchronization

/// A process that a test starts. It ends with the test process, even if that crashes.
package final class TestProcess: Sendable {
    /// Its process id.
    package let pid: Int32
    /// Read end of its standard output; -1 if that was not asked for.
    package let output: Int32
    private let ended = Mutex(false)

    /// Starts `arguments`, found in PATH, in this environment (nil: ours). Call it on a thread that lives as long as the
    /// process, such as the loop's: a child ends when the thread that started it does (PR_SET_PDEATHSIG).
    package init(_ arguments: [String], environment: [String: String]? = nil, output wanted: Bool = false) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        var ends: [Int32] = [-1, -1]
        if wanted {
            precondition(linux_pipe(&ends) == 0)
            posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        } else {
            posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        }
        if getenv("TEST_CHILD_ERRORS") == nil {
            posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        }
        let words = ["setpriv", "--pdeathsig", "KILL", "--"] + arguments
        var argv: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        argv.append(nil)
        defer { for word in argv { free(word) } }
        // The path for a sanitizer's findings.
        let sanitizers = currentEnvironment().filter { $0.key.hasSuffix("SAN_OPTIONS") }
        var variables: [UnsafeMutablePointer<CChar>?] =
            (environment ?? [:]).merging(sanitizers) { own, _ in own }.map { strdup("\($0.key)=\($0.value)") }
        variables.append(nil)
        defer { for word in variables { free(word) } }
        var started: pid_t = 0
        let result = variables.withUnsafeMutableBufferPointer { own in
            withSpawnAttributes {
                posix_spawnp(&started, "setpriv", &actions, $0, argv, environment == nil ? environ : own.baseAddress)
            }
        }
        if wanted { close(ends[1]) }
        precondition(result == 0, "\(arguments[0]) can't be started: \(String(cString: strerror(result)))")
        pid = started
        output = ends[0]
    }

    /// Sends it a signal.
    package func signal(_ number: Int32) { ended.withLock { if !$0 { kill(pid, number) } } }

    /// Waits for its end and returns its exit status, or 128 + the signal that ended it.
    @discardableResult package func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        ended.withLock { $0 = true }
        return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
    }

    /// Ends it at once.
    package func end() {
        signal(SIGCONT)
        signal(SIGKILL)
        wait()
    }

    /// Everything that it writes to its standard output, until it closes it.
    package func readAll() -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = read(output, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
        close(output)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The next line of its standard output that is wanted, without its end; nil: it closed its output before.
    package func line(_ isWanted: (String) -> Bool) -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1 {
            guard byte == UInt8(ascii: "\n") else {
                bytes.append(byte)
                continue
            }
            let line = String(decoding: bytes, as: UTF8.self)
            if isWanted(line) { return line }
            bytes = []
        }
        return nil
    }

    /// Voluntary context switches of all its threads so far.
    package var contextSwitches: Int {
        var total = 0
        guard let folder = opendir("/proc/\(pid)/task") else { return 0 }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            // Behind `..` is the first thread once more.
            guard !name.hasPrefix("."), let file = fopen("/proc/\(pid)/task/\(name)/status", "r") else { continue }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 256)
            while fgets(&line, 256, file) != nil {
                let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                if text.hasPrefix("voluntary_ctxt_switches:") {
                    total += Int(text.split(whereSeparator: \.isWhitespace).last ?? "") ?? 0
                }
            }
        }
        return total
    }

    /// Bytes of memory that it alone has (Private_Dirty of smaps_rollup, proc(5)).
    package var memory: Int {
        guard let file = fopen("/proc/\(pid)/smaps_rollup", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix("Private_Dirty:") else { continue }
            return (text.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) << 10
        }
        return 0
    }

    /// Kilobytes of the file whose path ends with `name` that are in its memory: of parts with these rights, by default code
    /// and constants.
    package func residentKilobytes(of name: String, rights: String = "r-") -> Int {
        guard let file = fopen("/proc/\(pid)/smaps", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 8192)
        var isMeant = false
        var result = 0
        while fgets(&line, Int32(line.count), file) != nil {
            let words = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                .split(whereSeparator: \.isWhitespace)
            guard let first = words.first else { continue }
            if !first.hasSuffix(":") {
                isMeant = words.last?.hasSuffix(name) == true && words[1].hasPrefix(rights)
            } else if isMeant, first == "Rss:" {
                result += Int(words[1]) ?? 0
            }
        }
        return result
    }

    /// True if a second comes in which it does not wake, once it has settled: a rhythm would show.
    package var sleepsForASecond: Bool { standsStill { contextSwitches } }

    /// Runs a program to its end and returns its output; stops the test process if it fails.
    package static func run(_ arguments: [String], environment: [String: String]? = nil) -> (
        status: Int32, text: String
    ) {
        let child = TestProcess(arguments, environment: environment, output: true)
        let text = child.readAll()
        return (child.wait(), text)
    }
}

/// The environment of this process.
package func currentEnvironment() -> [String: String] {
    var variables: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
        let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
        entry += 1
    }
    return variables
}

/// Waits until `value` is the same for some seconds, at most 20 times; false if it never was. For a process that comes to
/// rest without a report.
package func standsStill<Value: Equatable>(seconds: UInt32 = 1, _ value: () -> Value) -> Bool {
    (0..<20).contains { _ in
        let before = value()
        usleep(1_000_000 * seconds)
        return value() == before
    }
}

/// True if `value` does not change in one of three turns of ten seconds: a rhythm changes it in each turn. An event from
/// outside, such as a mount of a file system, changes it in one.
package func hasNoRhythm<Value: Equatable>(_ value: () -> Value) -> Bool {
    (0..<3).contains { _ in
        let before = value()
        usleep(10_000_000)
        return value() == before
    }
}

/// Waits until `condition` holds, at most a minute, with a look every 5 ms; false if it never did. For conditions without an
/// event.
package func becomes(_ condition: () -> Bool) -> Bool {
    for _ in 0..<12000 {
        if condition() { return true }
        usleep(5000)
    }
    return false
}
