import AudioCore
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import PulseOutput

@Suite(.serialized, .timeLimit(.minutes(5))) struct ServerAddressTests {
    init() { LoopThread.start() }

    @Test(
        "paths in a list of servers",
        arguments: [
            ("unix:/a/native", ["/a/native"]), ("/a/native", ["/a/native"]), ("tcp:host:4713", []),
            ("{machine}unix:/a/native tcp:host unix:/b", ["/a/native", "/b"]), ("", []), ("{x", []),
        ] as [(String, [String])])
    func serverList(_ list: String, _ expected: [String]) {
        #expect(ServerAddress.paths(inServerList: list) == expected)
    }

    @Test(
        "a line of client.conf",
        arguments: [
            (" default-server = unix:/a ; b", "unix:/a"), ("default-server=", ""), ("; default-server = x", nil),
            ("default-sink = y", nil), ("nonsense", nil),
        ] as [(String, String?)])
    func line(_ line: String, _ expected: String?) {
        #expect(ServerAddress.value(of: "default-server", inLine: line) == expected)
    }

    @Test("our two lines frame the user's files")
    func configuration() {
        let text = PulseEnvironment.clientConfiguration(including: ["/a/client.conf", "/a/b\nc.conf", "/a/d.conf"])
        #expect(
            text == """
                enable-shm = no
                autospawn = no
                .include /a/client.conf
                enable-shm = no
                autospawn = no
                .include /a/d.conf
                enable-shm = no
                autospawn = no

                """)
    }

    @Test("libpulse goes where the user's client.conf says, and shares no memory")
    func userConfiguration() async {
        await #expect(processExitsWith: .success) {
            LoopThread.start()
            let server = await SoundServer.pulseAudio([TestSink("s")])
            for folder in [".config/pulse", ".config/pulse/client.conf.d"] {
                mkdir("\(server.folder)/home/\(folder)", 0o700)
            }
            // A mistake in a part ends the reading; our lines before that part hold.
            let main = fopen("\(server.folder)/home/.config/pulse/client.conf", "w")!
            fputs("default-server = \(server.address)\nenable-shm = yes\n", main)
            fclose(main)
            let part = fopen("\(server.folder)/home/.config/pulse/client.conf.d/part.conf", "w")!
            fputs("nonsense = 1\n", part)
            fclose(part)
            for name in ["PULSE_SERVER", "PULSE_CLIENTCONFIG", "PULSE_CONFIG_PATH"] { unsetenv(name) }
            setenv("PULSE_LATENCY_MSEC", "5", 1)
            setenv("HOME", "\(server.folder)/home", 1)
            #expect(ServerAddress.socketPaths() == [server.socket])
            PulseEnvironment.prepare()
            #expect(getenv("PULSE_LATENCY_MSEC") == nil)
            #expect(ServerAddress.socketPaths() == [server.socket])
            let names = await Visit().deviceNames()
            #expect(names == ["s"])
            var maps = [UInt8](repeating: 0, count: 1 << 20)
            let file = fopen("/proc/self/maps", "r")!
            let text = String(decoding: maps[..<fread(&maps, 1, maps.count, file)], as: UTF8.self)
            fclose(file)
            #expect(!text.contains("memfd:pulseaudio") && !text.contains("/dev/shm/pulse"))
            server.stop()
        }
    }

    /// Connects by the environment alone.
    @PlayerLoop final class Visit {
        func deviceNames() async -> [String] {
            let log = OutputLog()
            let output = PulseOutput(EventLoop.current)
            output.delegate = log
            output.connect()
            await log.next(.connection(nil))
            let names = try? await output.devices().map(\.name)
            output.disconnect()
            return names ?? []
        }
    }

    @Test("a server's socket is awaited through folders that do not exist yet, and reported once each time")
    @PlayerLoop func watch() async {
        let folder = "/tmp/watch-\(getpid())"
        mkdir(folder, 0o700)
        let watch = ServerWatch(EventLoop.current, paths: ["\(folder)/run/pulse/native", "/nonexistent/x/native"])
        var notices = 0
        var waiting: CheckedContinuation<Void, Never>?
        watch.start {
            notices += 1
            waiting?.resume()
            waiting = nil
        }
        mkdir("\(folder)/run", 0o700)
        await LoopThread.turns(3)
        mkdir("\(folder)/run/pulse", 0o700)
        await LoopThread.turns(3)
        #expect(notices == 0)
        close(open("\(folder)/run/pulse/other", O_CREAT | O_WRONLY, 0o600))
        await withCheckedContinuation { continuation in
            waiting = continuation
            close(open("\(folder)/run/pulse/native", O_CREAT | O_WRONLY, 0o600))
        }
        #expect(notices == 1)
        // The whole folder goes and comes back at once.
        unlink("\(folder)/run/pulse/native")
        unlink("\(folder)/run/pulse/other")
        rmdir("\(folder)/run/pulse")
        await LoopThread.turns(3)
        await withCheckedContinuation { continuation in
            waiting = continuation
            mkdir("\(folder)/run/pulse", 0o700)
            close(open("\(folder)/run/pulse/native", O_CREAT | O_WRONLY, 0o600))
        }
        #expect(notices == 2)
        watch.stop()
        unlink("\(folder)/run/pulse/native")
        close(open("\(folder)/run/pulse/native", O_CREAT | O_WRONLY, 0o600))
        await LoopThread.wait(seconds: 0.1)
        #expect(notices == 2)
        _ = TestProcess.run(["rm", "-rf", folder])
    }
}
