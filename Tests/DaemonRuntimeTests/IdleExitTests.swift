import ControlProtocol
import DaemonRuntime
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

/// The end of an unused daemon, and its next start by a client.
@Suite(.timeLimit(.minutes(8))) struct IdleExitTests {
    /// Answers of a daemon, and the number of its ends.
    @PlayerLoop fileprivate final class Situation {
        var isNeeded = false
        var wouldLose = false
        /// Remaining number of answers that it is still settling.
        var settles = 0
        private(set) var asked = 0
        private(set) var ends = 0
        private(set) var idleExit: IdleExit?

        func begin() {
            let questions = IdleExit.Questions(
                isNeeded: { [unowned self] in isNeeded },
                isSettling: { [unowned self] in
                    settles -= 1
                    return settles >= 0
                },
                wouldLose: { [unowned self] in
                    asked += 1
                    return wouldLose
                })
            idleExit = IdleExit(EventLoop.current, questions) { [unowned self] in ends += 1 }
            idleExit?.setLimit(0.01)
        }
    }

    /// None goes while its timer may come, on a thread that is not the loop's.
    @PlayerLoop private static var situations: [Situation] = []

    /// A situation in which a condition comes true.
    private func situation(
        _ prepare: @escaping @PlayerLoop @Sendable (Situation) -> Void,
        until condition: @escaping @PlayerLoop @Sendable (Situation) -> Bool
    ) async -> (situation: Situation, came: Bool) {
        let situation = await LoopThread.run {
            let situation = Situation()
            prepare(situation)
            situation.begin()
            Self.situations.append(situation)
            return situation
        }
        let end = EventLoop.now.advanced(bySeconds: 30)
        while EventLoop.now < end {
            if await LoopThread.run({ condition(situation) }) { return (situation, true) }
            await Task.yield()
        }
        return (situation, false)
    }

    @Test func endsOnceNobodyNeedsIt() async {
        #expect(
            await situation { _ in
            } until: {
                $0.ends == 1
            }.came)
        #expect(
            await situation {
                $0.settles = 3
            } until: {
                $0.ends == 1 && $0.asked == 4
            }.came)
    }

    @Test func staysForWhoNeedsItAndForWhatWouldBeLost() async {
        // The daemon stays after the first check, and checks again when a client has gone.
        let (losing, came) = await situation {
            $0.wouldLose = true
        } until: {
            $0.asked == 1
        }
        #expect(came)
        await LoopThread.run {
            #expect(losing.ends == 0)
            losing.wouldLose = false
            losing.idleExit?.consider()
        }
        let other = await situation {
            $0.isNeeded = true
        } until: { _ in
            true
        }.situation
        #expect(
            await situation { _ in
            } until: { _ in
                losing.ends == 1
            }.came)
        await LoopThread.run {
            #expect(other.ends == 0 && other.asked == 0)
            other.isNeeded = false
            other.idleExit?.consider()
        }
        #expect(
            await situation { _ in
            } until: { _ in
                other.ends == 1
            }.came)
    }

    /// A stand-in for systemd with a socket unit: it keeps the socket, and starts the daemon for the first client.
    private static let manager = """
        import os, select, socket, sys
        path, *words = sys.argv[1:]
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(path)
        listener.listen(16)
        while True:
            print("listening", flush=True)
            select.select([listener], [], [])
            def hand():
                os.dup2(listener.fileno(), 3)
                os.set_inheritable(3, True)
                os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
                os.execvp(words[0], words)
            child = os.fork()
            if child == 0: hand()
            print("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        """

    /// Reads a process's output until it has printed this; false: it ended, or 30 s went by.
    private static func read(_ process: TestProcess, until text: String, _ log: inout String) -> Bool {
        while log.firstRange(of: text) == nil {
            var wait = pollfd(fd: process.output, events: Int16(POLLIN), revents: 0)
            guard poll(&wait, 1, 30_000) == 1 else { return false }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = Glibc.read(process.output, &bytes, bytes.count)
            guard count > 0 else { return false }
            log += String(decoding: bytes.prefix(count), as: UTF8.self)
        }
        log = String(log[(log.firstRange(of: text)?.upperBound ?? log.endIndex)...])
        return true
    }

    @Test func theNextClientStartsItAgainWhereItWas() async throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/control.sock"
        let tune = folder.write(AudioMaterial.noise(frames: 480_000, sampleRate: 8000, channels: 1).wave(), "tune.wav")
        let configuration = folder.file("daemon.conf", "[daemon]\nidle-exit = 1\nlog-level = debug\n")
        let words = [
            "sh", "-c", "exec python3 -c \"$@\" 2>&1", "sh", Self.manager, path, DaemonProcessTests.program,
            "--state-directory", folder.path + "/state", "--output", "null", "--config", configuration,
        ]
        let process = await LoopThread.run { TestProcess(words, output: true) }
        var log = ""
        try #require(Self.read(process, until: "listening", &log), "\(log)")
        do {
            let client = try RawClient(path)
            #expect(try client.call("play", ["uri": .string(tune)])["result"]?["status"] == "success")
            _ = try client.call("pause")
            _ = try client.call("changePlaybackPosition", ["position": 30])
            _ = try client.call("volume.set", ["volume": 0.5])
        }
        #expect(Self.read(process, until: "(idle-exit)", &log), "\(log)")
        #expect(Self.read(process, until: "ended 0", &log) && Self.read(process, until: "listening", &log), "\(log)")
        do {
            let client = try RawClient(path)
            let state = try client.call("nowPlaying.get")["result"]
            #expect(state?["state"] == "paused" && state?["anchor"]?["elapsed"] == 30, "\(String(describing: state))")
            #expect(state?["volume"] == 0.5 && state?["queue"]?["count"] == 1, "\(String(describing: state))")
            // It has nothing to lose, and ends again when this client goes.
        }
        #expect(Self.read(process, until: "ended 0", &log) && Self.read(process, until: "listening", &log), "\(log)")
        process.signal(SIGTERM)
        process.wait()
    }

    /// The library follows the daemon without needing it: its socket is there with the daemon alone.
    @Test func aClientInTheBackgroundNeitherStartsNorKeepsIt() async throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/control.sock"
        let background = BackgroundSocket.path(beside: path)
        let configuration = folder.file("daemon.conf", "[daemon]\nidle-exit = 1\nlog-level = debug\n")
        let words = [
            "sh", "-c", "exec python3 -c \"$@\" 2>&1", "sh", Self.manager, path, DaemonProcessTests.program,
            "--state-directory", folder.path + "/state", "--output", "null", "--config", configuration,
        ]
        let process = await LoopThread.run { TestProcess(words, output: true) }
        var log = ""
        try #require(Self.read(process, until: "listening", &log), "\(log)")
        #expect(throws: SystemError.self) { try RawClient(background) }
        let follower: RawClient
        do {
            let client = try RawClient(path)
            #expect(try client.call("nowPlaying.get")["result"] != nil)
            follower = try RawClient(background)
            #expect(try follower.call("hello", ["client": "library"])["result"]?["role"] == "admin")
            var status = stat()
            #expect(stat(background, &status) == 0 && status.st_mode & 0o777 == 0o600)
        }
        #expect(Self.read(process, until: "ended 0", &log) && Self.read(process, until: "listening", &log), "\(log)")
        #expect(try follower.isClosedByServer())
        #expect(access(background, F_OK) != 0)
        #expect(throws: SystemError.self) { try RawClient(background) }
        // A daemon that was killed leaves its socket, and the next one replaces it.
        do {
            let client = try RawClient(path)
            #expect(try client.call("hello")["result"] != nil)
            let pid = Self.child(of: process.pid)
            kill(try #require(pid), SIGKILL)
            #expect(try client.isClosedByServer())
        }
        #expect(Self.read(process, until: "listening", &log), "\(log)")
        #expect(access(background, F_OK) == 0)
        #expect(throws: SystemError.self) { try RawClient(background) }
        let client = try RawClient(path)
        #expect(try client.call("hello")["result"] != nil)
        #expect(try RawClient(background).call("hello")["result"] != nil)
        process.signal(SIGTERM)
        process.wait()
    }

    /// The only child of a process.
    private static func child(of pid: Int32) -> Int32? {
        guard let file = fopen("/proc/\(pid)/task/\(pid)/children", "re") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: " ").first.flatMap { Int32($0) }
    }

    /// A client's open file lives as long as the daemon: the daemon keeps running.
    @Test func staysForAnOpenFile() async throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/control.sock"
        let tune = folder.write(AudioMaterial.noise(frames: 8000, sampleRate: 8000, channels: 1).wave(), "tune.wav")
        let configuration = folder.file("daemon.conf", "[daemon]\nidle-exit = 1\nlog-level = debug\n")
        let words = [
            "sh", "-c", "exec python3 -c \"$@\" 2>&1", "sh", Self.manager, path, DaemonProcessTests.program,
            "--state-directory", folder.path + "/state", "--output", "null", "--config", configuration,
        ]
        let process = await LoopThread.run { TestProcess(words, output: true) }
        var log = ""
        try #require(Self.read(process, until: "listening", &log), "\(log)")
        let file = open(tune, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        do {
            let client = try RawClient(path)
            let line =
                #"{"jsonrpc":"2.0","id":1,"method":"queue.add","params":{"items":[{"descriptor":0,"uri":"mine"}]}}"#
            let sent = Array((line + "\n").utf8).withUnsafeBytes { UnixSocket.send(client.descriptor, $0, with: file) }
            #expect(sent == line.utf8.count + 1)
            #expect(try client.read()["result"]?["ids"] != nil)
        }
        #expect(Self.read(process, until: "would lose state", &log), "\(log)")
        #expect(try RawClient(path).call("queue.clear")["result"] != nil)
        #expect(Self.read(process, until: "ended 0", &log), "\(log)")
        process.signal(SIGTERM)
        process.wait()
    }

    /// Without socket activation the daemon keeps running, and logs that.
    @Test func withoutAServiceManagerItStays() async throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/run/control.sock"
        let configuration = folder.file("daemon.conf", "[daemon]\nidle-exit = 1\n")
        let words = [
            "sh", "-c", "exec \"$@\" 2>&1", "sh", DaemonProcessTests.program, "--socket", path, "--state-directory",
            folder.path + "/state", "--output", "null", "--config", configuration,
        ]
        let process = await LoopThread.run { TestProcess(words, output: true) }
        var log = ""
        #expect(Self.read(process, until: "idle-exit has no effect", &log), "\(log)")
        process.signal(SIGTERM)
        #expect(process.wait() == 0)
    }
}
