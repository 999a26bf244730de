import ControlProtocol
import DaemonRuntime
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

/// The daemon under a service manager: its notifications, and the socket from the manager.
@Suite(.timeLimit(.minutes(8))) struct ServiceTests {
    /// The notification socket of systemd (sd_notify(3)).
    private final class Manager {
        let descriptor: Int32

        init(_ path: String) throws {
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let result = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(result == 0)
            var patience = timeval(tv_sec: 20, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        }

        /// The next message; empty: none came within 20 s.
        func next() -> String {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let got = recv(descriptor, &bytes, bytes.count, 0)
            return String(decoding: bytes.prefix(max(0, got)), as: UTF8.self)
        }

        /// Reads until this notification; false: it did not come.
        func receives(_ text: String) -> Bool {
            while true {
                let message = next()
                if message.isEmpty || message == text { return message == text }
            }
        }

        deinit { close(descriptor) }
    }

    private static func words(_ folder: TemporaryFolder) -> [String] {
        [
            DaemonProcessTests.program, "--state-directory", folder.path + "/state", "--output", "null", "--config",
            "/dev/null",
        ]
    }

    @Test func tellsThatItIsReadyAndWhatItPlays() async throws {
        let folder = TemporaryFolder()
        let manager = try Manager(folder.path + "/notify")
        var environment = currentEnvironment()
        environment["NOTIFY_SOCKET"] = folder.path + "/notify"
        let words = Self.words(folder) + ["--socket", folder.path + "/control.sock"]
        let process = await LoopThread.run { [environment] in TestProcess(words, environment: environment) }
        #expect(manager.receives("READY=1"))
        let client = try RawClient(folder.path + "/control.sock")
        _ = try client.call("queue.add", ["items": [["uri": "http://127.0.0.1:9/x", "title": "A\nREADY=1"]]])
        #expect(manager.receives("STATUS=stopped, 1 in the queue"))
        _ = try client.call("queue.clear")
        #expect(manager.receives("STATUS=stopped, the queue is empty"))
        process.signal(SIGTERM)
        #expect(manager.receives("STOPPING=1"))
        #expect(process.wait() == 0)
    }

    @Test func aTitleIsOneHarmlessLine() {
        var state = NowPlayingState(anchor: PlaybackAnchor(elapsed: 0, rate: 1, monotonic: EventLoop.now))
        state.state = .playing
        var metadata = MediaMetadata()
        metadata.title = "So\nREADY=1\u{1b}[31m"
        metadata.artist = "Miles"
        state.item = NowPlayingItem(id: ItemID(4), play: 1, uri: "file:///a", metadata: metadata, duration: nil)
        state.queueIndex = 2
        state.queueCount = 12
        #expect(ServiceStatus.words(state) == "playing Miles – So\\u{a}READY=1\\u{1b}[31m (3 of 12)")
        state.state = .stalled
        state.stall = .noServer
        #expect(ServiceStatus.words(state).hasPrefix("stalled (noServer) Miles"))
    }

    /// systemd's own tool listens, and starts the daemon when a client connects.
    @Test func takesTheSocketThatItIsHanded() async throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/control.sock"
        let words = ["systemd-socket-activate", "--listen=" + path] + Self.words(folder)
        let process = await LoopThread.run { TestProcess(words) }
        try #require(becomes { access(path, F_OK) == 0 })
        let client = try RawClient(path)
        #expect(try client.call("hello")["result"] != nil)
        process.signal(SIGTERM)
        #expect(process.wait() == 0)
        // It is not the daemon's to remove.
        #expect(access(path, F_OK) == 0)
    }
}
