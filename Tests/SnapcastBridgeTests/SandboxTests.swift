import CLinux
import Glibc
import LinuxSystem
import Synchronization
import TestSupport
import Testing

@testable import SnapcastBridge

/// The sandbox of the program, on a thread of its own: the rest of the tests keeps its rights.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: linux_has_landlock() == 1, "this kernel has no Landlock"))
struct SandboxTests {
    private let folder = TemporaryFolder()

    /// Results of calls on another thread.
    private final class Notes: Sendable {
        private let results = Mutex<[String: Int32]>([:])
        private let ending = Mutex(false)

        func note(_ name: String, _ value: Int32) { results.withLock { $0[name] = value } }
        func end() { ending.withLock { $0 = true } }
        var isOver: Bool { ending.withLock { $0 } }
        var all: [String: Int32] { results.withLock { $0 } }
    }

    /// Number of a failed call; 0: it did not fail.
    private static func failure(_ result: Int32) -> Int32 { result < 0 ? errno : 0 }

    private static func read(_ path: String) -> Int32 { failure(open(path, O_RDONLY | O_CLOEXEC)) }

    @Test("it reads its configuration, connects to sockets, and does nothing else") func confined() {
        _ = folder.folder("config")
        let (inside, outside) = (folder.write([], "config/nowplayingd.conf"), folder.write([], "secret"))
        let (socketPath, config, made) = (folder.path("socket"), folder.path("config"), folder.path("config/new"))
        let listener = Result { () throws(SystemError) in try UnixSocket.listen(socketPath) }
        let missing = folder.path("missing")
        let notes = Notes()
        let started = DetachedThread.start("sandbox") {
            notes.note("before", Self.read(outside))
            notes.note("enter", PluginSandbox.enter(configuration: [config, missing]) ? 0 : 1)
            notes.note("inside", Self.read(inside))
            notes.note("connect", (try? UnixSocket.connect(socketPath)) == nil ? 1 : 0)
            notes.note("internet", Self.failure(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)))
            notes.note("watch", Self.failure(inotify_init1(Int32(IN_CLOEXEC))))
            notes.note("outside", Self.read(outside))
            notes.note("passwd", Self.read("/etc/passwd"))
            notes.note("write", Self.failure(open(inside, O_WRONLY | O_CLOEXEC)))
            notes.note("create", Self.failure(linux_open(made, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)))
            notes.note("unlink", Self.failure(unlink(inside)))
            notes.note("run", Self.failure(execv("/bin/true", [nil])))
            notes.note("signal", Self.failure(kill(getppid(), 0)))
            let other = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            notes.note("listen", Self.failure(listen(other, 1)))
            let inner = DetachedThread.start("inner") {
                notes.note("thread", Self.read(outside))
                notes.end()
            }
            if !inner { notes.end() }
        }
        #expect(started && becomes { notes.isOver })
        let found = notes.all
        for name in ["before", "enter", "inside", "connect", "internet", "watch"] {
            #expect(found[name] == 0, "\(name)")
        }
        for name in ["outside", "passwd", "write", "create", "unlink", "thread"] {
            #expect(found[name] == EACCES, "\(name)")
        }
        for name in ["run", "signal", "listen"] { #expect(found[name] == EPERM, "\(name)") }
        // The other threads keep their rights.
        #expect(Self.read(outside) == 0)
        withExtendedLifetime(listener) {}
    }

    @Test("folders of the configuration: that of the command line, or the usual ones") func folders() {
        #expect(PluginSandbox.configuration(["--config", "/a/b.conf"]) == ["/a"])
        #expect(PluginSandbox.configuration(["--config=x.conf"]) == ["."])
        #expect(PluginSandbox.configuration(["--config", "/x.conf"]) == ["/x.conf"])
        #expect(PluginSandbox.configuration([]).first == "/etc")
    }
}
