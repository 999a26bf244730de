import Foundation
import Testing

/// The completions, in the shells themselves.
@Suite(.serialized) struct CompletionTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try scratch.write("tune.flac", "")
        for (shell, file) in [
            ("bash", "nowplayingctl.bash"), ("zsh", "_nowplayingctl"), ("fish", "nowplayingctl.fish"),
        ] {
            let run = try ScriptRun([ScriptRun.programs() + "/nowplayingctl", "completion", shell], in: scratch)
            try scratch.write("completions/" + file, run.text)
        }
    }

    private var folder: String { scratch.path + "/completions/" }

    private func lines(_ command: [String]) throws -> Set<String> {
        let path = try ScriptRun.programs() + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
        let run = try ScriptRun(
            command,
            environment: [
                "PATH": path, "HOME": scratch.path, "XDG_RUNTIME_DIR": scratch.path, "XDG_CONFIG_HOME": scratch.path,
                "XDG_DATA_HOME": scratch.path, "TERM": "dumb",
            ], in: scratch)
        #expect(run.status == 0, "\(run.text)\(run.errors)")
        return Set(run.text.split(whereSeparator: \.isNewline).map { String($0.prefix { $0 != "\t" }) })
    }

    private func fish(_ line: String) throws -> Set<String> {
        try lines([
            "fish", "--no-config", "-c", "source $argv[1]; complete --do-complete $argv[2]",
            folder + "nowplayingctl.fish", line,
        ])
    }

    private func bash(_ words: String) throws -> Set<String> {
        try lines([
            "bash", "--norc", "-c",
            """
            source "$1"; compopt() { :; }
            IFS=' ' read -r -a COMP_WORDS <<< "$2"; [[ $2 == *' ' ]] && COMP_WORDS+=('')
            COMP_LINE=$2 COMP_POINT=${#2} COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _nowplayingctl; printf '%s\\n' "${COMPREPLY[@]}"
            """, "bash", folder + "nowplayingctl.bash", words,
        ])
    }

    /// The line that zsh makes of this one, which completes in an interactive shell alone.
    private func zsh(_ line: String) throws -> String {
        // Only when the editor runs is a tab more than a tab.
        try typed(
            line, into: "zsh -f -i",
            [
                "PS1='' PS2=''; fpath=('\(folder)' \\$fpath); autoload -U compinit && compinit -u -D",
                "keep() { print -r -- \\$BUFFER > '\(scratch.path)/line'; print DO''NE }; zle -N keep; bindkey '^T' keep",
                "zle-line-init() { print READ''Y }; zle -N zle-line-init",
            ])
    }

    /// The line that bash makes of this one, as it does itself: it cuts words by rules of its own.
    private func typedBash(_ line: String) throws -> String {
        try typed(
            line, into: "bash --norc --noprofile -i",
            [
                "PS1=''; source '\(folder)nowplayingctl.bash'",
                "keep() { printf '%s\\n' \\\"\\$READLINE_LINE\\\" > '\(scratch.path)/line'; echo DO''NE; }",
                "bind -x '\\\"\\\\C-t\\\": keep'; PS1=READ''Y",
            ])
    }

    /// The line that an interactive shell makes of this one: on a terminal of its own a tab is typed into it, and a key that
    /// writes the line into a file. `setup`: lines that it reads first, within double quotes of zsh.
    private func typed(_ line: String, into shell: String, _ setup: [String]) throws -> String {
        let lines = setup.map { "zpty -w shell \"\($0)\"" }.joined(separator: "\n")
        try scratch.write(
            "zsh.zsh",
            """
            zmodload zsh/zpty
            zpty shell \(shell)
            \(lines)
            zpty -r -m shell ignored $'*READY*'
            zpty -w -n shell '\(line)'$'\\t\\x14'
            zpty -r -m shell ignored $'*DONE*'
            zpty -d shell
            cat '\(scratch.path)/line'
            """)
        return try self.lines(["zsh", "-f", scratch.path + "/zsh.zsh"]).first ?? ""
    }

    @Test func verbs() throws {
        for found in [try fish("nowplayingctl do"), try bash("nowplayingctl do")] { #expect(found == ["doctor"]) }
        #expect(try zsh("nowplayingctl vol") == "nowplayingctl volume ")
        let all = try bash("nowplayingctl ")
        #expect(all.isSuperset(of: ["play", "doctor", "reload", "top", "setup", "follow"]))
        #expect(try fish("nowplayingctl ").isSuperset(of: all))
    }

    @Test func optionsOfOneVerb() throws {
        #expect(try fish("nowplayingctl add --nex").contains("--next"))
        #expect(try bash("nowplayingctl add --nex") == ["--next"])
        #expect(try zsh("nowplayingctl add --nex").hasPrefix("nowplayingctl add --next"))
        // Newer ones also offer options with the letter elsewhere.
        #expect(try !fish("nowplayingctl pause --n").contains("--next"))
        #expect(try bash("nowplayingctl pause --n").isSubset(of: [""]))
    }

    @Test func words() throws {
        #expect(try fish("nowplayingctl repeat ") == ["off", "one", "all"])
        #expect(try bash("nowplayingctl repeat ") == ["off", "one", "all"])
        #expect(try zsh("nowplayingctl repeat on") == "nowplayingctl repeat one ")
    }

    @Test func wordsAfterAWord() throws {
        #expect(try fish("nowplayingctl library loudness ") == ["pause", "resume"])
        #expect(try bash("nowplayingctl library loudness ") == ["pause", "resume"])
        #expect(try zsh("nowplayingctl library loudness pa") == "nowplayingctl library loudness pause ")
        #expect(try zsh("nowplayingctl --json library loudness re") == "nowplayingctl --json library loudness resume ")
        #expect(try bash("nowplayingctl library ") == ["status", "update", "loudness"])
        #expect(try fish("nowplayingctl library status ").isEmpty)
        #expect(try bash("nowplayingctl library status ").isSubset(of: [""]))
    }

    @Test func files() throws {
        #expect(try fish("nowplayingctl play tu") == ["tune.flac"])
        #expect(try bash("nowplayingctl play tu") == ["tune.flac"])
        #expect(try zsh("nowplayingctl play tu") == "nowplayingctl play tune.flac ")
    }

    /// A library beside the daemon's socket with names that a shell would expand.
    private func withLibrary(_ body: () throws -> Void) throws {
        let server = """
            import json, os, signal, socket
            # It ends by itself should the test not live to end it.
            signal.alarm(120)
            rows = {"library.values": [{"value": "Miles Davis"}, {"value": "$(touch pwned) `id`"}, {"value": "It's \\"x\\""}],
                "library.search": [{"name": "Miles Davis"}, {"name": "Smiles"}, {"name": "Miles $(touch pwned)"},
                    {"name": "Mass: in B"}, {"name": "Two\\nlines \\u001b[31m"}],
                "library.browse": [{"kind": "folder", "path": "Music/Jazz"}, {"kind": "folder", "path": "Music/\\u001b"},
                    {"kind": "track", "path": "Music/a"}]}
            os.mkdir("nowplayingd")
            listener = socket.socket(socket.AF_UNIX)
            listener.bind("nowplayingd/library.sock")
            listener.listen()
            print("ready", flush=True)
            while True:
                connection, _ = listener.accept()
                with connection, connection.makefile("rw") as lines:
                    for line in lines:
                        request = json.loads(line)
                        method = request["method"]
                        result = {"rows": rows.get(method, []), "lists": [{"name": "evening mix"}]}
                        lines.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}) + "\\n")
                        lines.flush()
            """
        try scratch.write("library.py", server)
        let library = try Child(
            ["python3", scratch.path + "/library.py"], environment: ["PATH": "/usr/bin:/bin"], in: scratch,
            isLimited: false)
        defer {
            kill(library.pid, SIGKILL)
            _ = library.wait()
        }
        // The client itself waits for the socket.
        let ready = try lines([
            "bash", "-c",
            "until nowplayingctl completion lists 2> /dev/null; do kill -0 \(library.pid) || exit 1; done",
        ])
        #expect(ready == ["evening mix"])
        try body()
        #expect(!FileManager.default.fileExists(atPath: scratch.path + "/pwned"))
    }

    @Test func namesOfTheLibrary() throws {
        try withLibrary {
            let all = try bash("nowplayingctl play --artist ")
            #expect(all == ["Miles\\ Davis", "\\$\\(touch\\ pwned\\)\\ \\`id\\`", "It\\'s\\ \\\"x\\\""])
            #expect(try bash("nowplayingctl play --artist mil") == ["Miles\\ Davis", "Miles\\ \\$\\(touch\\ pwned\\)"])
            // Within double quotes a shell expands: such a name is left out.
            #expect(try bash("nowplayingctl play --artist \"Mil") == ["Miles Davis"])
            #expect(
                try fish("nowplayingctl play --artist Mil").isSuperset(of: ["Miles Davis", "Miles $(touch pwned)"]))
            #expect(try zsh("nowplayingctl lists play eve") == "nowplayingctl lists play evening\\ mix ")
            #expect(try zsh("nowplayingctl search --kind al") == "nowplayingctl search --kind album ")
            #expect(try bash("nowplayingctl browse Music/J") == ["Music/Jazz/"])
            #expect(try bash("nowplayingctl browse Music/") == ["Music/Jazz/"])
            #expect(try fish("nowplayingctl browse Music/").contains("Music/Jazz/"))
            #expect(try zsh("nowplayingctl browse Music/J") == "nowplayingctl browse Music/Jazz/")
            #expect(try bash("nowplayingctl library update Music/J") == ["Music/Jazz/"])
            #expect(try fish("nowplayingctl library update Music/").contains("Music/Jazz/"))
            #expect(try zsh("nowplayingctl library update Music/J") == "nowplayingctl library update Music/Jazz/")
            // Filters compare without controls: such a name leads to its tracks as well.
            #expect(try bash("nowplayingctl play --album two") == ["Two\\ lines\\ \\?\\[31m"])
            #expect(try bash("nowplayingctl lists pl") == ["play"])
        }
    }

    @Test func namesWithColonsInBash() throws {
        try withLibrary {
            let lines = [
                ("play --album Mas", "play --album Mass:\\ in\\ B "),
                ("play --album Mass:", "play --album Mass:\\ in\\ B "),
                ("play --album Mass:\\ i", "play --album Mass:\\ in\\ B "),
                ("play --album mass:\\ i", "play --album mass:\\ in\\ B "),
                ("play --album \"Mass: i", "play --album \"Mass: in B\" "),
                ("play --album=Mass:", "play --album=Mass:\\ in\\ B "),
                // Words before the cursor have colons, too.
                ("--session a:b lists show e", "--session a:b lists show evening\\ mix "),
            ]
            for (line, completed) in lines {
                let found = try typedBash("nowplayingctl " + line)
                #expect(found == "nowplayingctl " + completed, "\(line)")
            }
        }
    }

    /// A daemon that plays to a Snapcast server, and that server.
    private func withRooms(_ body: () throws -> Void) throws {
        let host = "127.79.\(getpid() >> 8 & 255).\(1 + getpid() % 250)"
        let server = """
            import json, os, signal, socket, threading
            signal.alarm(120)
            names = ["Blue room", "Kitchen", "Bath\\n\\u001b[31m", "$(touch pwned)"]
            clients = [{"id": str(place), "config": {"name": name}} for place, name in enumerate(names)]
            results = {"hello": {"version": "1", "role": "admin"},
                "output.list": {"outputs": [{"name": "snapcast", "server": {"host": "\(host)", "port": 4953}}]},
                "Server.GetStatus": {"server": {"groups": [{"id": "g", "clients": clients}]}}}
            def serve(listener):
                while True:
                    connection, _ = listener.accept()
                    with connection, connection.makefile("rw") as lines:
                        for line in lines:
                            request = json.loads(line)
                            answer = {"jsonrpc": "2.0", "id": request["id"], "result": results.get(request["method"], {})}
                            lines.write(json.dumps(answer) + "\\n")
                            lines.flush()
            rooms = socket.create_server(("\(host)", 1705))
            os.mkdir("nowplayingd")
            daemon = socket.socket(socket.AF_UNIX)
            daemon.bind("nowplayingd/control.sock")
            daemon.listen()
            threading.Thread(target=serve, args=(rooms,), daemon=True).start()
            serve(daemon)
            """
        try scratch.write("rooms.py", server)
        let child = try Child(
            ["python3", scratch.path + "/rooms.py"], environment: ["PATH": "/usr/bin:/bin"], in: scratch,
            isLimited: false)
        defer {
            kill(child.pid, SIGKILL)
            _ = child.wait()
        }
        let ready = try lines([
            "bash", "-c",
            "until nowplayingctl completion rooms 2> /dev/null; do kill -0 \(child.pid) || exit 1; done",
        ])
        #expect(ready == ["Blue room", "Kitchen", "Bath \u{FFFD}[31m", "$(touch pwned)"])
        try body()
        #expect(!FileManager.default.fileExists(atPath: scratch.path + "/pwned"))
    }

    @Test func namesOfRooms() throws {
        try withRooms {
            for line in ["nowplayingctl rooms bl", "nowplayingctl rooms Kitchen --join Bl"] {
                let found = try bash(line)
                #expect(found == ["Blue\\ room"])
            }
            #expect(try bash("nowplayingctl rooms $") == ["\\$\\(touch\\ pwned\\)"])
            #expect(try fish("nowplayingctl rooms Bl").contains("Blue room"))
            #expect(try fish("nowplayingctl rooms Kitchen --join Bl").contains("Blue room"))
            #expect(try zsh("nowplayingctl rooms Bl") == "nowplayingctl rooms Blue\\ room ")
        }
    }

    @Test func withoutALibraryThereIsNoErrorText() throws {
        #expect(try bash("nowplayingctl play --artist ").isSubset(of: [""]))
        #expect(try fish("nowplayingctl play --artist ").isEmpty)
    }
}
