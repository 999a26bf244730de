import Foundation
import Testing

/// The units of systemd, as they are installed: systemd itself reads them.
@Suite(.serialized) struct UnitTests {
    private static let folder = ScriptRun.root + "/etc/systemd/"
    private static let units = ["system", "user"].flatMap { kind in
        ((try? FileManager.default.contentsOfDirectory(atPath: folder + kind)) ?? []).map { kind + "/" + $0 }
    }.sorted()

    /// False where systemd-analyze may not start: newer ones need this folder, which systemd makes at the boot.
    private static let canAnalyze: Bool = {
        if geteuid() == 0 || access("/run/systemd", F_OK) == 0 { return true }
        print("NOT TESTED: units, as systemd has not booted this machine")
        return false
    }()

    /// All units in one folder for each kind, with the programs of this build.
    private func installed() throws -> Scratch {
        let scratch = try Scratch()
        let programs = try ScriptRun.programs()
        for unit in Self.units {
            let text = try String(contentsOfFile: Self.folder + unit, encoding: .utf8)
                .replacingOccurrences(of: "@bindir@", with: programs)
                .replacingOccurrences(of: "@datadir@/nowplayingd", with: ScriptRun.root + "/etc/sound")
                .replacingOccurrences(of: "@datadir@", with: "/usr/share")
            #expect(!text.contains("dir@"), "\(unit) has a place that nothing fills")
            try scratch.write(unit, text)
        }
        return scratch
    }

    @Test func systemdUnderstandsAll() throws {
        guard Self.canAnalyze else { return }
        #expect(Self.units.count >= 9)
        let scratch = try installed()
        for unit in Self.units {
            let isUser = unit.hasPrefix("user/")
            let run = try ScriptRun(
                ["systemd-analyze", "verify", "--man=no", isUser ? "--user" : "--system", "./" + unit],
                environment: ["XDG_RUNTIME_DIR": scratch.path, "HOME": scratch.path], in: scratch)
            #expect(run.status == 0 && run.errors.isEmpty && run.text.isEmpty, "\(unit): \(run.text)\(run.errors)")
        }
    }

    @Test func theDropInOfTheAmplifierFits() throws {
        guard Self.canAnalyze else { return }
        let scratch = try installed()
        let unit = "system/nowplaying-hooks.service"
        let text = try String(contentsOfFile: ScriptRun.root + "/etc/hooks/amplifier.conf", encoding: .utf8)
        for (name, drop) in [("right", text), ("wrong", text + "DeviceAlow=/dev/null\n")] {
            try scratch.write(unit + ".d/amplifier.conf", drop)
            let words = ["systemd-analyze", "verify", "--man=no", "--system", "./" + unit]
            let run = try ScriptRun(words, environment: ["HOME": scratch.path], in: scratch)
            #expect(run.errors.contains("Unknown key 'DeviceAlow'") == (name == "wrong"), "\(run.errors)")
            if name == "right" { #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)") }
        }
    }

    @Test func aWrongUnitIsTold() throws {
        guard Self.canAnalyze else { return }
        let scratch = try Scratch()
        try scratch.write("wrong.service", "[Service]\nExecStart=/nonexistent/nowplayingd\n")
        let run = try ScriptRun(["systemd-analyze", "verify", "--man=no", "./wrong.service"], in: scratch)
        #expect(run.status != 0)
    }

    /// `systemd-analyze security`: 0 is nothing allowed, 10 everything.
    @Test(arguments: [
        "nowplayingd.service", "nowplayingd-sound.service", "nowplayingd-sound-pipewire.service",
        "nowplaying-mqtt.service", "nowplaying-mpris.service", "nowplaying-hooks.service",
        "nowplaying-library.service", "nowplaying-mpd.service", "nowplaying-web.service",
    ])
    func theSystemsUnitsAreHardened(unit: String) throws {
        guard Self.canAnalyze else { return }
        let run = try ScriptRun(
            ["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", "./system/" + unit],
            in: try installed())
        #expect(run.text.contains("Overall exposure level for \(unit)"), "\(run.errors)")
        #expect(run.status == 0, "\(run.text.suffix(200))")
    }

    /// The library shares the folder of sockets with the daemon: the end of one must not remove the other's socket.
    @Test func theLibraryLeavesTheDaemonsSocket() throws {
        for unit in ["nowplayingd.service", "nowplaying-library.service"] {
            let text = try String(contentsOfFile: Self.folder + "system/" + unit, encoding: .utf8)
            for line in ["RuntimeDirectory=nowplayingd", "RuntimeDirectoryPreserve=yes", "StateDirectory=nowplayingd"] {
                #expect(text.contains("\n\(line)\n"), "\(unit): \(line)")
            }
        }
        let text = try String(contentsOfFile: Self.folder + "user/nowplaying-library.service", encoding: .utf8)
        for line in ["RuntimeDirectory=nowplayingd", "RuntimeDirectoryPreserve=yes"] {
            #expect(text.contains("\n\(line)\n"), "\(line)")
        }
    }

    /// A setting of a unit; nil: it has none.
    private static func setting(_ name: String, of unit: String) throws -> String? {
        try String(contentsOfFile: folder + unit, encoding: .utf8).split(separator: "\n")
            .last { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
    }

    /// docs/security.md says which memory and tasks each program may have; the units of the system and of users say the same.
    @Test func theLimitsAreThoseOfTheDocument() throws {
        let document = try String(contentsOfFile: ScriptRun.root + "/docs/security.md", encoding: .utf8)
        var rows: [String: [String]] = [:]
        for line in document.split(separator: "\n") where line.hasPrefix("| nowplaying") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            if cells.count == 3, cells[0].hasSuffix(".service") { rows[cells[0]] = Array(cells.dropFirst()) }
        }
        let limited = Self.units.filter { $0.hasSuffix(".service") && !$0.contains("sound") }
        #expect(Set(rows.keys) == Set(limited.map { String($0.drop { $0 != "/" }.dropFirst()) }))
        for unit in limited {
            let row = rows[String(unit.drop { $0 != "/" }.dropFirst())]
            let limits = [try Self.setting("MemoryMax", of: unit), try Self.setting("TasksMax", of: unit)]
            #expect(limits == row?.map { $0 }, "\(unit): \(limits), and \(row ?? []) in docs/security.md")
        }
    }

    /// A configuration that cannot work does not work five seconds later, either.
    @Test func nothingIsStartedAgainForNothing() throws {
        for unit in Self.units where unit.hasSuffix(".service") && !unit.contains("sound") {
            #expect(try Self.setting("RestartPreventExitStatus", of: unit) == "2 78", "\(unit)")
        }
    }

    /// The folder of the socket belongs to the daemon, which could put a link in the place of a socket that root made.
    @Test func rootChangesNothingInTheFolderOfTheSocket() throws {
        let unit = "system/nowplayingd.socket"
        for name in ["SocketUser", "SocketGroup", "Symlinks", "ExecStartPost"] {
            #expect(try Self.setting(name, of: unit) == nil, "\(name)")
        }
        #expect(try Self.setting("SocketMode", of: unit) == "0666")
    }

    /// Functions that hardening must keep: the credentials of clients, people's music, and radio.
    @Test func theProductStillWorks() throws {
        let text = try String(contentsOfFile: Self.folder + "system/nowplayingd.service", encoding: .utf8)
        for line in ["PrivateUsers=yes", "PrivateNetwork=yes", "ProtectHome=yes", "RemoveIPC=yes", "ProcSubset=pid"] {
            #expect(!text.contains("\n" + line))
        }
    }

    /// The programs that open paths which no link leaves: RestrictSUIDSGID refuses openat2(2) with ENOSYS.
    @Test(arguments: ["nowplayingd", "nowplaying-library", "nowplaying-web"])
    func foldersOpen(_ program: String) throws {
        for kind in ["system", "user"] {
            let text = try String(contentsOfFile: Self.folder + "\(kind)/\(program).service", encoding: .utf8)
            #expect(!text.contains("\nRestrictSUIDSGID=yes"), "\(kind)")
        }
    }
}
