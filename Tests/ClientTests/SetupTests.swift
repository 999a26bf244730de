import ControlProtocol
import Glibc
import TestSupport
import Testing

/// `setup` with a systemctl, a loginctl and a sudo that only record their arguments.
@Suite(.timeLimit(.minutes(8))) struct SetupTests {
    private let folder = TemporaryFolder()
    private static let user = String(cString: getpwuid(getuid()).pointee.pw_name)

    /// `answers`: output of `systemctl …`, by its arguments.
    private func run(
        _ words: [String], _ answers: [String: String], lingers: Bool = false, failing: String = "nothing"
    ) -> (Tool.Outcome, calls: [String]) {
        let calls = folder.path("calls")
        let cases = answers.map { "'\($0.key)') echo \($0.value) ;;" }.joined(separator: "\n")
        let script = """
            #!/bin/sh
            case "$*" in
                --version) exit 0 ;;
                \(cases)
                is-enabled*|is-active*|"--user is-"*) exit 1 ;;
                "show-user"*) echo \(lingers ? "yes" : "no") ;;
                *) echo "${0##*/} $*" >> '\(calls)'; case "$*" in *\(failing)*) exit 5 ;; esac ;;
            esac
            """
        for name in ["systemctl", "loginctl"] {
            chmod(folder.write(Array(script.utf8), name), 0o755)
        }
        chmod(folder.write(Array("#!/bin/sh\n\"$@\"\n".utf8), "sudo"), 0o755)
        unlink(calls)
        let outcome = Tool.run(
            ["setup"] + words, socket: nil,
            environment: ["PATH": folder.path + ":/usr/bin:/bin", "XDG_RUNTIME_DIR": folder.path])
        var lines: [String] = []
        if let file = fopen(calls, "r") {
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 512)
            while fgets(&line, 512, file) != nil {
                lines.append(
                    String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
            }
        }
        return (outcome, lines)
    }

    @Test func showsBeforeItDoes() {
        let (outcome, calls) = run(["user"], ["is-enabled nowplayingd.service": "enabled"])
        #expect(outcome.status == 0 && calls.isEmpty)
        #expect(outcome.output.contains("systemctl disable --now nowplayingd.service nowplayingd.socket\n"))
        #expect(outcome.output.contains("    systemctl --user enable --now nowplayingd.service\n"))
        #expect(outcome.output.contains("loginctl enable-linger \(Self.user)\n"))
        #expect(outcome.output.hasSuffix("Nothing changed.\n"))
    }

    @Test func theUsers() {
        let (outcome, calls) = run(["user", "--yes"], ["is-enabled nowplayingd.service": "enabled"])
        #expect(outcome.status == 0, "\(outcome.complaint)")
        #expect(
            calls == [
                "systemctl disable --now nowplayingd.service nowplayingd.socket",
                "systemctl --user enable --now nowplayingd.service", "loginctl enable-linger \(Self.user)",
            ])
    }

    @Test func theSystems() {
        let (outcome, calls) = run(["system", "--yes"], ["--user is-active nowplayingd.service": "active"])
        #expect(outcome.status == 0)
        #expect(
            calls == [
                "systemctl --user disable --now nowplayingd.service nowplayingd.socket",
                "systemctl enable --now nowplayingd.service",
            ])
    }

    @Test func withoutAWordTheServerDecides() {
        #expect(run(["--yes"], [:]).calls == ["systemctl enable --now nowplayingd.service"])
        mkdir(folder.path("pulse"), 0o755)
        _ = folder.write([], "pulse/native")
        #expect(run(["-y"], [:], lingers: true).calls == ["systemctl --user enable --now nowplayingd.service"])
        let there = [
            "--user is-enabled nowplayingd.service": "enabled", "--user is-active nowplayingd.service": "active",
        ]
        let (outcome, calls) = run(["--yes"], there, lingers: true)
        #expect(calls.isEmpty && outcome.output.hasPrefix("Already set up"))
    }

    @Test func aFailureEndsIt() {
        let (outcome, calls) = run(["user", "--yes"], [:], failing: "enable")
        #expect(outcome.status == 1 && calls.count == 1)
        #expect(outcome.complaint.contains("ended with status 5; the rest did not run"))
        #expect(run(["both"], [:]).0.status == 2)
    }

    @Test func check() throws {
        let answers = ["is-enabled nowplayingd.service": "enabled", "is-active nowplayingd.service": "active"]
        let (outcome, calls) = run(["--check"], answers)
        #expect(calls.isEmpty && outcome.status == 0)
        #expect(outcome.output.contains("the system's unit: enabled, active\n"))
        #expect(outcome.output.contains("the user's unit: not installed"))
        #expect(outcome.output.hasPrefix("in use: "))
        mkdir(folder.path("nowplayingd"), 0o700)
        let socket = folder.path("nowplayingd/control.sock")
        let daemon = FakeDaemon(socket) { _, _ in .result([:]) }
        defer { daemon.stop() }
        #expect(run(["--check"], answers).0.output.hasPrefix("in use: the daemon at \(socket)\n"))
        let json = try JSONReader.read(run(["--check", "--json"], answers).0.output)
        #expect(json["system"]?["active"] == "active" && json["linger"] == false)
    }
}
