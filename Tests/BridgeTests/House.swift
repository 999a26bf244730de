import ControlProtocol
import Glibc
import NowPlayingClient
import TestSupport

/// A folder in which a real daemon that plays into nothing and the programs that follow it live.
final class House: Sendable {
    let folder = TemporaryFolder()
    let socket: String

    init() {
        socket = folder.path("control.sock")
        for name in ["hooks.d", "config"] { mkdir(folder.path(name), 0o755) }
    }

    /// A program as it was built with the tests.
    static func program(_ name: String) -> String {
        guard let path = built(name) else { preconditionFailure("\(name) was not built beside the tests") }
        return path
    }

    /// Path of our program beside the tests; nil: it was not built.
    static func built(_ name: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        for candidate in [own] + CommandLine.arguments {
            guard let range = candidate.firstRange(of: "/debug/") ?? candidate.firstRange(of: "/release/") else {
                continue
            }
            let path = String(candidate[..<range.upperBound]) + name
            if access(path, X_OK) == 0 { return path }
        }
        return nil
    }

    private var environment: [String: String] {
        [
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin", "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
            "XDG_CONFIG_HOME": folder.path("config"), "LANG": "C.UTF-8",
        ]
    }

    /// Starts a program of ours; its log goes into the file `log`.
    func start(_ name: String, _ arguments: [String], log: String) async -> TestProcess {
        await start(command: [House.program(name)] + arguments, log: log)
    }

    /// Starts any program; its output goes into the file `log`.
    func start(command: [String], log: String) async -> TestProcess {
        let environment = self.environment
        let words = ["sh", "-c", "exec \"$@\" >>\(folder.path(log)) 2>&1", "sh"] + command
        return await LoopThread.run { TestProcess(words, environment: environment) }
    }

    /// Starts the daemon and waits until it answers.
    func startDaemon(_ arguments: [String] = []) async -> TestProcess {
        let daemon = await start(
            "nowplayingd",
            ["--socket", socket, "--state-directory", folder.path("state"), "--output", "null"] + arguments,
            log: "daemon.log")
        precondition(becomes { (try? Connection(firstOf: [socket])) != nil }, "the daemon did not come up")
        return daemon
    }

    /// Runs a program to its end; status and all that it printed.
    func run(_ command: [String]) async -> (status: Int32, text: String) {
        let environment = self.environment
        let child = await LoopThread.run {
            TestProcess(["sh", "-c", "exec \"$@\" 2>&1", "sh"] + command, environment: environment, output: true)
        }
        let text = child.readAll()
        return (child.wait(), text)
    }

    /// Runs nowplayingctl.
    @discardableResult func tool(_ arguments: String...) async -> (status: Int32, text: String) {
        await run([House.program("nowplayingctl"), "--socket", socket] + arguments)
    }

    /// Writes a file, which is executable where it begins with `#!`.
    @discardableResult func write(_ name: String, _ text: String, mode: mode_t? = nil) -> String {
        let path = folder.path(name)
        let file = fopen(path, "w")!
        fputs(text, file)
        fclose(file)
        chmod(path, mode ?? (text.hasPrefix("#!") ? 0o755 : 0o644))
        return path
    }

    /// A WAV file of silence, 8 kHz, that takes no room on the disk.
    func silence(_ name: String, seconds: Double) -> String {
        let data = UInt32(seconds * 8000) * 2
        let head = AudioMaterial(sampleRate: 8000, channels: 1, bits: 16, samples: []).wave(dataSize: data)
        let path = folder.write(head, name)
        precondition(truncate(path, head.count + Int(data)) == 0)
        return path
    }

    /// The content of a file; empty if there is none.
    func text(_ name: String) -> String { String(decoding: folder.read(name), as: UTF8.self) }

    /// Waits until a file contains a text.
    func comes(_ text: String, in name: String) -> Bool { becomes { self.text(name).contains(text) } }
}

extension TestProcess {
    /// Ends it as a service manager does; its exit status.
    @discardableResult func stop() -> Int32 {
        signal(SIGTERM)
        return wait()
    }

    /// Memory of its own and of others that it has touched and not given back.
    var residentKilobytes: Int {
        let line = TestProcess.run(["grep", "VmRSS", "/proc/\(pid)/status"]).text
        return Int(line.split(whereSeparator: \.isWhitespace).dropFirst().first ?? "") ?? 0
    }

    /// True if it waits, and has waited for a moment.
    var isAsleep: Bool {
        let before = contextSwitches
        usleep(100_000)
        return contextSwitches == before && TestProcess.run(["cat", "/proc/\(pid)/stat"]).text.contains(") S ")
    }
}
