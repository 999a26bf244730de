import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// A configuration file that the daemon's user may not read.
    @Suite(.timeLimit(.minutes(5)), .enabled(if: geteuid() == 0, "needs root, to run the daemon as another user"))
    struct UnreadableSettingsTests {
        init() { LoopThread.start() }

        @Test("a configuration file that the daemon cannot read is ignored and logged")
        func warned() async {
            let folder = TemporaryFolder()
            let file = folder.path("nowplayingd.conf")
            folder.file("nowplayingd.conf", "[daemon]\nno such line\n")
            chmod(file, 0o600)
            chown(folder.path, 65534, 65534)
            // Its log is the user's, too.
            folder.file("log", "")
            chown(folder.path("log"), 65534, 65534)
            let daemon = await RealDaemon.start(
                nil, output: "null", in: folder, isLogged: true,
                before: ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
            let words = "ignored \(file): permission denied"
            #expect(becomes { String(decoding: folder.read("log"), as: UTF8.self).contains(words) })
            #expect(daemon.connect().call("nowPlaying.get")?.playing == "stopped")
            #expect(daemon.stop() == 0)
        }
    }
}
