import Foundation

/// Runs commands as the owner of a box would, with a home folder of its own.
struct BoxScript {
    private let home: Scratch

    init(_ home: Scratch) { self.home = home }

    /// Runs a command with our programs and recipes in its path.
    func run(_ command: [String]) throws -> ScriptRun {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let environment = [
            "PATH": try ScriptRun.programs() + ":" + ScriptRun.root + "/etc/recipes:" + path, "HOME": home.path,
            "XDG_RUNTIME_DIR": home.path, "XDG_CONFIG_HOME": home.path + "/.config",
            "STATE_DIRECTORY": home.path + "/state",
        ]
        return try ScriptRun(
            ["env", "-u", "NOWPLAYING_SOCKET"] + environment.map { "\($0.key)=\($0.value)" } + command, in: home)
    }

    /// Runs lines in a shell beside a daemon, `$daemon`, which plays into nothing.
    func run(_ script: String) throws -> ScriptRun {
        try run([
            "bash", "-euc",
            """
            nowplayingd --output null --state-directory "$HOME/state" --config /dev/null 2> "$HOME/log" & daemon=$!
            trap 'kill $daemon; wait $daemon' EXIT
            until nowplayingctl call hello > /dev/null 2>&1; do kill -0 $daemon; done
            \(script)
            """,
        ])
    }
}
