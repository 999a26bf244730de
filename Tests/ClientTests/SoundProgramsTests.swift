import Glibc
import TestSupport
import Testing

@testable import nowplayingctl

/// The advice of `doctor` where no sound server answers, by the programs that are installed.
@Suite struct SoundProgramsTests {
    @Test(
        arguments: [
            ([], true, "sudo apt install pulseaudio; sudo systemctl restart nowplayingd"),
            ([], false, "sudo apt install pulseaudio"),
            (["wireplumber"], false, "sudo apt install pulseaudio"),
            (["pipewire-pulse"], true, "sudo apt install wireplumber; sudo systemctl restart nowplayingd"),
            (["pipewire-pulse"], false, "sudo apt install wireplumber"),
            (
                ["pipewire-pulse", "wireplumber"], true,
                "sudo systemctl restart nowplayingd-sound-pipewire; journalctl -u nowplayingd-sound-pipewire"
            ),
            (["pulseaudio"], true, "sudo systemctl restart nowplayingd-sound; journalctl -u nowplayingd-sound"),
            (
                ["pulseaudio", "pipewire-pulse", "wireplumber"], true,
                "sudo systemctl restart nowplayingd-sound; journalctl -u nowplayingd-sound"
            ),
            (["pulseaudio"], false, "systemctl --user start pipewire-pulse, or pulseaudio --start"),
        ] as [([String], Bool, String)])
    func theActionNamesTheProgramThatIsMissing(programs: [String], isSystems: Bool, action: String) {
        let folder = TemporaryFolder()
        for name in programs {
            _ = folder.write(Array("#!/bin/sh\n".utf8), name)
            chmod(folder.path(name), 0o755)
        }
        let finding = SoundPrograms(in: folder.path).finding("no server answers", isSystems: isSystems)
        #expect(finding.level == .fault && finding.found == "no server answers")
        #expect(finding.action == action)
        let isMissing = action.contains("apt install")
        #expect(finding.meaning?.contains("installed") == isMissing, "\(finding.meaning ?? "")")
    }

    /// As root, the first socket is that of root's own daemon; the one that answers counts.
    @Test(arguments: [
        (["/run/nowplayingd/control.sock"], "sudo systemctl"),
        (["/run/user/0/nowplayingd/control.sock", "/run/nowplayingd/control.sock"], "systemctl --user"),
    ])
    func theManagerIsThatOfTheDaemon(sockets: [String], command: String) {
        #expect(ServiceControl(sockets: sockets).command == command)
        #expect(ServiceControl(socket: sockets[sockets.count - 1]).command == "sudo systemctl")
    }
}
