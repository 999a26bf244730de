import BridgeRuntime
import ConfigurationFiles
import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import MPRISBridge

/// Buses and access.
@Suite struct SettingsTests {
    @Test(arguments: [
        ("session", ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/x", "XDG_RUNTIME_DIR": "/r"], "unix:path=/x"),
        ("session", ["XDG_RUNTIME_DIR": "/run/my user"], "unix:path=/run/my%20user/bus"),
        ("session", [:], "unix:path=/run/user/1000/bus"),
        ("system", [:], "unix:path=/run/dbus/system_bus_socket"),
        ("system", ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/y"], "unix:path=/y"),
        ("unix:abstract=/z", ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/x"], "unix:abstract=/z"),
    ])
    func addresses(setting: String, environment: [String: String], address: String) {
        #expect(BusAddress(setting)?.text(environment: { environment[$0] }, user: 1000) == address)
    }

    @Test func whatIsNoBus() {
        for text in ["", "Session", "the bus", "unix:path=/a b"] { #expect(BusAddress(text) == nil) }
    }

    @Test func aSection() throws {
        var settings = MPRISSettings()
        try settings.take(Array("[mpris]\nbus = system\ncontrol-group = audio\n[mqtt]\nx = 1\n".utf8), named: "x")
        #expect(settings.bus == .system)
        #expect(settings.controlGroup == "audio")
        #expect(settings.readGroup == nil)
        #expect(throws: (any Error).self) { try settings.take(Array("[mpris]\nbus = 5\n".utf8), named: "x") }
    }

    @Test func theDaemonLeavesTheSectionToTheBridge() {
        #expect(INIFile.bridgeSections.contains(MPRISSettings.section))
    }

    @Test func rights() async {
        let answers = await LoopThread.run {
            let judge = SenderJudge(controlGroup: 29, readGroup: 100)
            let users: [(UInt32, Set<UInt32>)] = [
                (geteuid(), []), (0, []), (61_000, [100, 29]), (61_000, [100]), (61_000, [5]),
            ]
            return users.map { judge.rights(user: $0.0, groups: $0.1) }
        }
        #expect(answers.map(\.role) == [.admin, .admin, .control, .read, nil])
        #expect(answers.map(\.isForeign) == [false, false, true, true, true])
    }
}
