import Glibc
import LinuxSystem
import Synchronization

/// A null sink of a private sound server.
package struct TestSink: Sendable {
    package var name: String
    /// `s16le`, `s24le`, `s24-32le`, `s32le` or `float32le`.
    package var format: String
    /// Frames a second.
    package var rate: Int
    /// As in `channel_map=`, `front-left,front-right`.
    package var channelMap: String
    package var rewinds: Bool

    /// A sink; stereo at 44.1 kHz by default. One that rewinds can't show exact pauses.
    package init(
        _ name: String, format: String = "s16le", rate: Int = 44100, channelMap: String = "front-left,front-right",
        rewinds: Bool = false
    ) {
        self.name = name
        self.format = format
        self.rate = rate
        self.channelMap = channelMap
        self.rewinds = rewinds
    }

    /// Number of channels.
    package var channels: Int { channelMap.split(separator: ",").count }

    var module: [String] {
        [
            "module-null-sink", "sink_name=\(name)", "format=\(format)", "rate=\(rate)", "channels=\(channels)",
            "channel_map=\(channelMap)",
        ] + (rewinds ? [] : ["norewinds=1"])
    }
}

/// A private PulseAudio, or PipeWire with its PulseAudio server, on null sinks; ends with the test process.
package final class SoundServer: Sendable {
    /// Address for libpulse: `unix:/…`.
    package let address: String
    /// Path of its socket.
    package let socket: String
    /// Another socket, on which it listens after `listen`: a recorder may be there before the players.
    package var lateSocket: String { "\(folder)/run/pulse/late" }
    /// Folder of its own, removed at the end.
    package let folder: String
    /// Milliseconds that a recorder of its sinks asks for, at least. A recorder that asks PipeWire for less forces its graph
    /// to quanta of 128 frames, of which a virtual machine misses some.
    package let recorderLatency: Int
    /// Processes, the server itself last.
    private let processes = Mutex<[TestProcess]>([])

    /// Folders of servers that were not stopped; the end of the test process removes them.
    private static let folders = Mutex<[String]>([])
    private static let removesFoldersAtExit: Void = {
        atexit {
            let left = SoundServer.folders.withLock { $0 }
            if !left.isEmpty { _ = TestProcess.run(["rm", "-rf"] + left) }
        }
    }()

    private init(_ kind: String) {
        _ = Self.removesFoldersAtExit
        recorderLatency = kind == "pipewire" ? 50 : 5
        folder = "/tmp/\(kind)-\(getpid())-\(Self.count.wrappingAdd(1, ordering: .relaxed).newValue)"
        socket = "\(folder)/run/pulse/native"
        address = "unix:\(socket)"
        for part in ["", "/run", "/run/pulse", "/home", "/home/.config", "/home/.config/pipewire"] {
            mkdir(folder + part, 0o700)
        }
        let folder = folder
        Self.folders.withLock { $0.append(folder) }
    }
    private static let count = Atomic<Int>(0)

    private var environment: [String: String] {
        [
            "PATH": String(cString: getenv("PATH")), "HOME": "\(folder)/home", "XDG_RUNTIME_DIR": "\(folder)/run",
            "XDG_CONFIG_HOME": "\(folder)/home/.config", "XDG_STATE_HOME": "\(folder)/home",
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(folder)/run/bus", "PIPEWIRE_RUNTIME_DIR": "\(folder)/run",
        ]
    }

    /// A PulseAudio with these sinks; the first one is the default.
    package static func pulseAudio(_ sinks: [TestSink]) async -> SoundServer {
        let server = SoundServer("pulse")
        await server.startPulseAudio(sinks)
        return server
    }

    /// Starts PulseAudio (again) at the same address.
    package func startPulseAudio(_ sinks: [TestSink]) async {
        unlink(socket)
        // A sound card waits for no processor: where the machine permits, the threads of the sinks do not, either.
        var arguments = [
            "pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--realtime=yes",
            "--high-priority=yes", "--disallow-module-loading=no",
            // It aborts (16.1, its issue 824) when a client goes of whose memory a recorder has a part. The daemon shares none.
            "--disable-shm=yes",
        ]
        for sink in sinks { arguments += ["-L", sink.module.joined(separator: " ")] }
        arguments += ["-L", "module-native-protocol-unix socket=\(socket) auth-anonymous=1"]
        await start(arguments)
        precondition(isAnswering(), "the private PulseAudio did not come up")
    }

    /// Listens at the late socket, too.
    package func listen() {
        unlink(lateSocket)
        control("load-module", "module-native-protocol-unix", "socket=\(lateSocket)", "auth-anonymous=1")
    }

    /// A PipeWire with one stereo null sink called `sink`, served by pipewire-pulse.
    package static func pipeWire(sink: String) async -> SoundServer {
        let server = SoundServer("pipewire")
        let configuration = """
            context.objects = [ { factory = adapter args = { factory.name = support.null-audio-sink
                node.name = "\(sink)" media.class = Audio/Sink object.linger = true audio.position = [ FL FR ] } } ]
            """
        mkdir("\(server.folder)/home/.config/pipewire/pipewire.conf.d", 0o700)
        writeFile("\(server.folder)/home/.config/pipewire/pipewire.conf.d/null.conf", configuration)
        await server.startPipeWire(sink: sink)
        return server
    }

    /// Starts all of PipeWire (again), and returns when its sink is there.
    package func startPipeWire(sink: String) async {
        let bus = "\(folder)/run/bus"
        for left in [bus, "\(folder)/run/pipewire-0", "\(folder)/run/pipewire-0.lock", socket] { unlink(left) }
        await start(["dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=unix:path=\(bus)"])
        precondition(becomes { access(bus, F_OK) == 0 })
        await start(["pipewire"])
        precondition(becomes { access("\(folder)/run/pipewire-0", F_OK) == 0 })
        await start(["wireplumber"])
        await startPipeWirePulse()
        precondition(becomes { control("list", "short", "sinks").contains(sink) }, "no null sink on PipeWire")
        precondition(becomes { control("get-default-sink").contains(sink) })
    }

    /// Starts PipeWire's server of PulseAudio's protocol (again).
    package func startPipeWirePulse() async {
        await start(["pipewire-pulse"])
        precondition(isAnswering(), "the private PipeWire did not come up")
    }

    private func start(_ arguments: [String]) async {
        let environment = environment
        let child = await LoopThread.run { TestProcess(arguments, environment: environment) }
        processes.withLock { $0.append(child) }
    }

    private func isAnswering() -> Bool { becomes { self.tryControl("info").status == 0 } }

    /// The server's readings of the time that its threads wait for a processor, with those of other processes.
    package func waits(and others: [Int32] = []) -> ProcessorWaits {
        ProcessorWaits(of: processes.withLock { $0.map(\.pid) } + others)
    }

    /// Process of the server itself.
    package var process: TestProcess { processes.withLock { $0[$0.count - 1] } }

    private func tryControl(_ arguments: String...) -> (status: Int32, text: String) {
        TestProcess.run(["pactl", "-s", address] + arguments, environment: environment)
    }

    /// Runs `pactl` and returns its output.
    @discardableResult package func control(_ arguments: String...) -> String {
        TestProcess.run(["pactl", "-s", address] + arguments, environment: environment).text
    }

    /// Loads a sink; returns the number of its module, to be unloaded by.
    package func load(_ sink: TestSink) -> String { load(module: sink.module) }

    /// Loads a module by its words; returns its number.
    package func load(module: [String]) -> String {
        let all = ["pactl", "-s", address, "load-module"] + module
        return String(TestProcess.run(all, environment: environment).text.prefix { $0.isNumber })
    }

    /// Ends the server and its other processes as by a crash, in the order of their dependence.
    package func killAll() {
        let all = processes.withLock { list in
            defer { list = [] }
            return list
        }
        for process in all { process.end() }
    }

    /// Ends all its processes and removes its folder.
    package func stop() {
        let all = processes.withLock { list in
            defer { list = [] }
            return list
        }
        for process in all.reversed() { process.end() }
        _ = TestProcess.run(["rm", "-rf", folder])
        let folder = folder
        Self.folders.withLock { $0.removeAll { $0 == folder } }
    }

    /// Ends the server itself as a crash would.
    package func kill() {
        let process = processes.withLock { $0.removeLast() }
        process.end()
    }
}

/// Writes a small file.
private func writeFile(_ path: String, _ text: String) {
    guard let file = fopen(path, "w") else { return }
    fputs(text, file)
    fclose(file)
}
