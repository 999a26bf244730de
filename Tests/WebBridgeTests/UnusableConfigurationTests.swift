import Glibc
import TestSupport
import Testing

/// A configuration that cannot work: the unit must not start the program again (RestartPreventExitStatus).
@Suite(.timeLimit(.minutes(1))) struct UnusableConfigurationTests {
    @Test(
        "the page ends with status 78 and says why",
        arguments: [
            ("[access]\ncontrol-group = no-such-group-here\n", "names the group “no-such-group-here” in [access]"),
            ("certificate = FOLDER/none.pem\nkey = FOLDER/none.pem\n", "cannot read “certificate” of [web]: "),
            ("certificate = FOLDER/text.pem\nkey = FOLDER/text.pem\n", "they do not belong together, or are no PEM"),
        ])
    func status(_ settings: String, _ words: String) async throws {
        let folder = TemporaryFolder()
        folder.file("text.pem", "no certificate\n")
        folder.file(
            "house.conf",
            "[web]\nbind = 127.0.0.1:0\n" + settings.replacing("FOLDER", with: folder.path))
        let log = folder.path("web.log")
        let bridge = await LoopThread.run { WebHouse.process(folder, "nowplaying-web", [], log: log) }
        #expect(bridge.wait() == 78)
        #expect(WebHouse.text(log).contains(words), "\(WebHouse.text(log))")
    }
}
