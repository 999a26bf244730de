import ControlProtocol
import DaemonRuntime
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// The real program: how it starts, refuses to, and ends.
@Suite(.timeLimit(.minutes(8))) struct DaemonProcessTests {
    /// nowplayingd as it was built with the tests.
    static let program: String = {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        for candidate in [own] + CommandLine.arguments {
            let range = candidate.firstRange(of: "/debug/") ?? candidate.firstRange(of: "/release/")
            guard let range else { continue }
            let path = candidate[..<range.upperBound] + "nowplayingd"
            if access(String(path), X_OK) == 0 { return String(path) }
        }
        preconditionFailure("nowplayingd was not built beside the tests")
    }()

    private static func words(_ folder: TemporaryFolder, _ more: [String] = []) -> [String] {
        [
            "sh", "-c", "exec \"$@\" 2>&1", "sh", program, "--socket", folder.path + "/run/control.sock",
            "--state-directory", folder.path + "/state", "--output", "null", "--config", "/dev/null",
        ] + more
    }

    /// Starts a daemon and returns when it answers.
    private static func start(_ folder: TemporaryFolder, _ more: [String] = []) async throws -> TestProcess {
        let process = await LoopThread.run { TestProcess(words(folder, more), output: true) }
        let path = folder.path + "/run/control.sock"
        try #require(becomes { (try? RawClient(path).call("hello")) != nil })
        return process
    }

    /// Runs the program to its end. Returns its exit status and its output.
    private static func run(_ words: [String]) async -> (status: Int32, text: String) {
        let process = await LoopThread.run { TestProcess(words, output: true) }
        let text = process.readAll()
        return (process.wait(), text)
    }

    private static func run(options: [String]) async -> (status: Int32, text: String) {
        await run(["sh", "-c", "exec \"$@\" 2>&1", "sh", program] + options)
    }

    @Test(arguments: [SIGTERM, SIGINT, 0])
    func endsCleanly(_ signal: Int32) async throws {
        let folder = TemporaryFolder()
        let process = try await Self.start(folder)
        let path = folder.path + "/run/control.sock"
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o7777 == 0o660)
        #expect(stat(folder.path + "/run", &status) == 0 && status.st_mode & 0o7777 == 0o750)
        #expect(stat(folder.path + "/state", &status) == 0 && status.st_mode & 0o7777 == 0o700)
        let client = try RawClient(path)
        if signal == 0 {
            #expect(try client.call("daemon.quit")["result"] == [:])
        } else {
            process.signal(signal)
        }
        #expect(try client.isClosedByServer())
        #expect(process.wait() == 0)
        #expect(access(path, F_OK) != 0)
    }

    @Test func aSecondOneIsKeptOut() async throws {
        let folder = TemporaryFolder()
        let process = try await Self.start(folder)
        let other = TemporaryFolder()
        for (socket, state) in [(folder, other), (other, folder)] {
            let second = await Self.run(
                Self.words(
                    other, ["--socket", socket.path + "/run/control.sock", "--state-directory", state.path + "/state"]))
            #expect(second.status == 1)
            #expect(second.text.contains("another nowplayingd (pid \(process.pid)) is already running"))
        }
        #expect(try RawClient(folder.path + "/run/control.sock").call("hello")["result"] != nil)
        process.signal(SIGTERM)
        #expect(process.wait() == 0)
    }

    @Test func aSocketThatNobodyServesIsReplaced() async throws {
        let folder = TemporaryFolder()
        let first = try await Self.start(folder)
        first.signal(SIGKILL)
        first.wait()
        #expect(access(folder.path + "/run/control.sock", F_OK) == 0)
        let second = try await Self.start(folder)
        second.signal(SIGTERM)
        #expect(second.wait() == 0)
    }

    @Test func whatIsInTheWayStays() async throws {
        let folder = TemporaryFolder()
        let path = folder.file("run/control.sock", "precious")
        var result = await Self.run(Self.words(folder))
        #expect(result.status == 1)
        #expect(result.text.contains("is not a socket"))
        #expect(access(path, F_OK) == 0)
        unlink(path)
        let listener = try UnixSocket.listen(path)
        result = await Self.run(Self.words(folder))
        #expect(result.status == 1)
        #expect(result.text.contains("another program answers there"))
        close(listener)
        result = await Self.run(
            Self.words(folder, ["--socket", folder.path + "/" + String(repeating: "x", count: 120)]))
        #expect(result.status == 1)
        #expect(result.text.contains("too long"))
    }

    @Test func outOfDescriptorsOthersWait() async throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/run/control.sock"
        let file = folder.file("a.flac")
        let limited = ["sh", "-c", "ulimit -n 128; exec \"$@\"", "sh"] + Self.words(folder)
        let process = await LoopThread.run { TestProcess(limited, output: true) }
        try #require(becomes { (try? RawClient(path).call("hello")) != nil })
        var clients: [RawClient] = []
        for id in 0..<100 {
            let client = try RawClient(path)
            try client.request(id, "hello")
            clients.append(client)
        }
        // The daemon serves the first ones, and can still open its own files.
        #expect(try clients[0].read()["result"] != nil)
        #expect(try clients[0].call("queue.add", ["items": [.string(file)]])["result"] != nil)
        var waiting = pollfd(fd: clients[99].descriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&waiting, 1, 0) == 0)
        // The others are when these go.
        let last = clients.removeLast()
        clients = []
        #expect(try last.read()["id"] == 99)
        process.signal(SIGTERM)
        #expect(process.wait() == 0)
    }

    @Test func theCommandLine() async {
        #expect(await Self.run(options: ["--version"]) == (0, "nowplayingd \(Daemon.version)\n"))
        #expect(await Self.run(options: ["--help"]) == (0, DaemonOptions.help))
        for wrong in [["--sockt", "x"], ["file.flac"], ["--output=alsa"], ["--socket"], ["--\u{1b}[31m"]] {
            let result = await Self.run(options: wrong)
            #expect(result.status == 2)
            #expect(result.text.contains("nowplayingd --help"))
            #expect(!result.text.contains("\u{1b}"))
        }
        #expect(await Self.run(options: ["--sockt", "x"]).text.contains("did you mean “--socket”?"))
    }

    @Test func configurationFiles() async {
        let folder = TemporaryFolder()
        let good = folder.file("good.conf", "[daemon]\nlog-level = debug\n")
        let bad = folder.file("bad.conf", "[daemon]\nlog-level = x\nfoo = 1\n")
        let checked = await Self.run(options: ["--config", good, "--check-config"])
        #expect(checked == (0, "The configuration is valid.\n"))
        for options in [["--config", bad, "--check-config"], ["--config", bad]] {
            let result = await Self.run(options: options)
            #expect(result.status == ExitStatus.configuration)
            #expect(result.text.hasPrefix("\(bad):2: invalid value “"))
            #expect(result.text.contains("\(bad):3: unknown setting “foo” in [daemon]"))
        }
        let missing = await Self.run(options: ["--config", folder.path + "/none", "--check-config"])
        #expect(missing.status == ExitStatus.configuration)
        #expect(missing.text.contains(folder.path + "/none"))
    }

    @Test func tenThousandConnectionsLeaveNothingBehind() async throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/run/control.sock"
        let process = try await Self.start(folder)
        func resident() -> Int {
            guard let file = fopen("/proc/\(process.pid)/statm", "r") else { return 0 }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 128)
            fgets(&line, 128, file)
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            return (Int(text.split(separator: " ")[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE))
        }
        let half = [UInt8](repeating: UInt8(ascii: "x"), count: 200_000)
        var before = 0
        for turn in 0..<10_000 {
            let client = try RawClient(path)
            switch turn % 5 {
            case 0: try client.send("{\"half")
            case 1: try client.send("garbage\n\n[]\n")
            case 2: _ = try client.call("nowPlaying.subscribe")
            case 3 where turn % 100 == 3: try client.send(half)
            default: _ = try client.call("hello", ["client": .string("\(turn)")])
            }
            if turn == 2000 { before = resident() }
        }
        #expect(before > 0)
        // Of 8,000 connections, not even a quarter of a kilobyte of each may have stayed.
        #expect(resident() - before < 2_000_000)
        process.signal(SIGTERM)
        #expect(process.wait() == 0)
    }

    @Test func theConfigurationIsReadAgain() async throws {
        let folder = TemporaryFolder()
        let path = folder.file("c.conf", "[daemon]\nlog-level = info\n")
        let process = try await Self.start(folder, ["--config", path])
        folder.file("c.conf", "[daemon]\nlog-level = loud\n")
        process.signal(SIGHUP)
        #expect(Self.output(of: process, contains: "configuration not reloaded: \(path):2: invalid value"))
        folder.file("c.conf", "[daemon]\nlog-level = debug\n")
        process.signal(SIGHUP)
        #expect(Self.output(of: process, contains: "configuration reloaded"))
        _ = try RawClient(folder.path + "/run/control.sock").call("hello")
        #expect(Self.output(of: process, contains: "role admin"))
        process.signal(SIGTERM)
        #expect(process.wait() == 0)
    }

    /// True if these words come before the output ends.
    private static func output(of process: TestProcess, contains words: String) -> Bool {
        var text = ""
        var bytes = [UInt8](repeating: 0, count: 4096)
        while !text.contains(words) {
            let got = read(process.output, &bytes, bytes.count)
            guard got > 0 else { return false }
            text += String(decoding: bytes.prefix(got), as: UTF8.self)
        }
        return true
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become other users"))
    func configuredGroupsReachTheSocket() async throws {
        let folder = TemporaryFolder()
        chmod(folder.path, 0o755)
        let configuration = folder.file("c.conf", "[access]\ncontrol-group = 61001\nread-group = 61002\n")
        let process = try await Self.start(folder, ["--config", configuration])
        func pause(_ group: Int) async -> String {
            let line = #"{"jsonrpc":"2.0","id":1,"method":"stop"}"#
            return await Self.run([
                "setpriv", "--reuid", "65534", "--regid", "65534", "--groups", "\(group)", "sh", "-c",
                "echo '\(line)' | nc -U -N -w 10 \(folder.path)/run/control.sock 2>&1",
            ]).text
        }
        #expect(await pause(61_001).contains(#""status":"success""#))
        #expect(await pause(61_002).contains(#""code":403"#))
        #expect(await pause(61_003).contains("ermission denied"))
        process.signal(SIGTERM)
        #expect(process.wait() == 0)
    }
}
