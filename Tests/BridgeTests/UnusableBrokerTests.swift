import Glibc
import TestSupport
import Testing

/// An account at a broker that cannot work: the unit must not start the program again (RestartPreventExitStatus).
@Suite(.timeLimit(.minutes(1))) struct UnusableBrokerTests {
    @Test(
        "nowplaying-mqtt ends with status 78",
        arguments: ["password-file = FOLDER/none\n", "tls = yes\nca-file = FOLDER/none\n"])
    func status(_ settings: String) async {
        let folder = TemporaryFolder()
        let text = "[mqtt]\nhost = 127.0.0.1\n" + settings.replacing("FOLDER", with: folder.path)
        let file = folder.write(Array(text.utf8), "house.conf")
        let bridge = await LoopThread.run {
            TestProcess([
                BuiltProgram.path("nowplaying-mqtt"), "--config", file, "--socket", folder.path("control.sock"),
            ])
        }
        #expect(bridge.wait() == 78)
    }
}
