import ControlProtocol
import Glibc
import NowPlayingClient

/// `setup`: chooses between the user's daemon and the system's, and shows each command before it runs.
struct Setup {
    /// The owner of the daemon.
    enum Kind: String {
        case user, system
    }

    /// State of the units in systemd.
    struct Found {
        var user: String
        var system: String
        var userState: String
        var systemState: String
        var lingers: Bool
    }

    private static let unit = "nowplayingd.service"
    private static let units = ["nowplayingd.service", "nowplayingd.socket"]

    /// `setup [user | system]`, `--check`.
    static func setUp(_ run: Invocation) throws(Failure) {
        if run.words.first?.text == "rooms" { return try RoomsSetup.setUp(run) }
        let use = run.words.isEmpty ? "setup without rooms" : "setup \(run.words[0].shown)"
        try run.restrict(use, to: ["--check", "--yes"])
        let name = getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(getuid())"
        guard Program.run(["systemctl", "--version"], isQuiet: true) == 0 else {
            throw Failure(
                .general,
                "systemd is not running; start the daemon with your own init system (nowplayingd runs in the foreground)"
            )
        }
        let found = find(name)
        if run.has("--check") { return report(found, name, run) }
        let kind: Kind
        if let word = run.words.first?.text {
            guard let named = Kind(rawValue: word) else { throw run.wrong("setup", word, "user, system or rooms") }
            kind = named
        } else {
            kind = hasUsersServer ? .user : .system
        }
        let commands = commands(kind, found, name)
        guard !commands.isEmpty else { return run.output.line("Already set up: \(words(kind, name)).") }
        run.output.line("Commands to set up \(words(kind, name)):")
        for command in commands { run.output.line("    " + command.joined(separator: " ")) }
        run.output.flush()
        guard try isWanted(run) else { return run.output.line("Nothing changed.") }
        for command in commands {
            let status = Program.run(command)
            guard status == 0 else {
                throw Failure(
                    .general, "\(command.joined(separator: " ")) ended with status \(status); the rest did not run")
            }
        }
        run.output.line("Done. See: nowplayingctl doctor")
    }

    /// Commands to run, with `sudo` if they need root.
    private static func commands(_ kind: Kind, _ found: Found, _ name: String) -> [[String]] {
        let root = geteuid() == 0 ? [] : ["sudo"]
        var result: [[String]] = []
        switch kind {
        case .user:
            if found.system == "enabled" || found.systemState == "active" {
                result.append(root + ["systemctl", "disable", "--now"] + units)
            }
            if found.user != "enabled" || found.userState != "active" {
                result.append(["systemctl", "--user", "enable", "--now", unit])
            }
            if !found.lingers { result.append(root + ["loginctl", "enable-linger", name]) }
        case .system:
            if found.user == "enabled" || found.userState == "active" {
                result.append(["systemctl", "--user", "disable", "--now"] + units)
            }
            if found.system != "enabled" || found.systemState != "active" {
                result.append(root + ["systemctl", "enable", "--now", unit])
            }
        }
        return result
    }

    private static func find(_ name: String) -> Found {
        Found(
            user: Program.output(of: ["systemctl", "--user", "is-enabled", unit]),
            system: Program.output(of: ["systemctl", "is-enabled", unit]),
            userState: Program.output(of: ["systemctl", "--user", "is-active", unit]),
            systemState: Program.output(of: ["systemctl", "is-active", unit]),
            lingers: Program.output(of: ["loginctl", "show-user", name, "--property=Linger", "--value"]) == "yes")
    }

    private static func report(_ found: Found, _ name: String, _ run: Invocation) {
        let socket = (try? run.connection())?.path
        if run.wantsJSON {
            return run.printJSON([
                "user": ["enabled": .string(found.user), "active": .string(found.userState)],
                "system": ["enabled": .string(found.system), "active": .string(found.systemState)],
                "linger": .bool(found.lingers), "usersServer": .bool(hasUsersServer),
                "socket": socket.map { .string($0) } ?? .null,
            ])
        }
        func line(_ what: String, _ enabled: String, _ state: String) -> String {
            "\(what): \(enabled.isEmpty ? "not installed" : TerminalText.safe(enabled)), "
                + (state.isEmpty ? "not known" : TerminalText.safe(state))
        }
        let used = socket.map { "the daemon at \(TerminalText.safe($0))" } ?? "none (no daemon answers)"
        run.output.line("in use: \(used)")
        run.output.line(line("the user's unit", found.user, found.userState))
        run.output.line(line("the system's unit", found.system, found.systemState))
        run.output.line("\(name) " + (found.lingers ? "lingers: its units run without a login" : "does not linger"))
        run.output.line(hasUsersServer ? "the user has a sound server" : "the user has no sound server")
    }

    private static func words(_ kind: Kind, _ name: String) -> String {
        kind == .user ? "a daemon of \(name), also without a login" : "a daemon of the system"
    }

    /// True if the user's session has a sound server. That server then holds the devices.
    private static var hasUsersServer: Bool {
        guard let folder = SocketLocation.variable("XDG_RUNTIME_DIR") else { return false }
        return access(folder + "/pulse/native", F_OK) == 0
    }

    /// Asks on a terminal; elsewhere only `--yes` counts.
    private static func isWanted(_ run: Invocation) throws(Failure) -> Bool {
        if run.has("--yes") { return true }
        guard isatty(STDIN_FILENO) == 1, run.output.isTerminal else { return false }
        run.output.raw("Do it? [y/N] ")
        run.output.flush()
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        return count > 0 && (bytes[0] == UInt8(ascii: "y") || bytes[0] == UInt8(ascii: "Y"))
    }
}
