import Foundation
import Testing

/// Every command of the recipes has its documented effect on a real daemon that plays into nothing.
@Suite(.serialized) struct RecipeTests {
    private let home: Scratch

    init() throws { home = try MarkdownBlock.home() }

    private func run(_ command: [String]) throws -> ScriptRun { try BoxScript(home).run(command) }

    /// Runs lines in a shell beside a daemon.
    private func run(_ script: String) throws -> ScriptRun { try BoxScript(home).run(script) }

    private func shell(_ document: String) throws -> String {
        try MarkdownBlock.all(of: document).filter { $0.language == "sh" }.map(\.text).joined(separator: "\n")
    }

    @Test func theRecipes() throws {
        let run = try run(try shell("etc/recipes/README.md") + "\nnowplayingctl --json status\nnowplayingctl queue\n")
        #expect(run.status == 0, "\(run.text)\(run.errors)")
        #expect(run.text.contains("disabled: status 6"))
        #expect(run.text.contains("./next-item"))
        #expect(run.text.contains("\"repeatMode\":\"all\"") && run.text.contains("album"))
    }

    /// The buttons of a child's box, and all other ways to another place or item.
    @Test func theBoxOfChildrenStaysWhereItIs() throws {
        let run = try run(
            """
            kids-box ~/Music/album > /dev/null
            call() {
                nowplayingctl --json call "$@" > ~/answer 2>&1 || true
                if grep -q disabled ~/answer; then echo disabled; else echo "open: $*"; fi
            }
            nowplayingctl play > /dev/null; nowplayingctl queue > ~/before
            item=$(nowplayingctl --json status | jq .item.id)
            call nextTrack; call previousTrack; call skipForward; call skipBackward
            call seekForward '{"phase": "begin"}'; call seekBackward '{"phase": "begin"}'
            call changePlaybackPosition '{"position": 5}'; call changePlaybackRate '{"rate": 1.5}'
            call play '{"position": 5}'; call play '{"index": 1}'; call play '{"index": 0}'
            call play "{\\"itemId\\": $((item + 1))}"; call play "{\\"itemId\\": $item, \\"position\\": 5}"
            nowplayingctl pause > /dev/null; nowplayingctl play > /dev/null
            [ "$item" = "$(nowplayingctl --json status | jq .item.id)" ] && echo "the same item"
            kids-box open > /dev/null
            nowplayingctl play 2 > /dev/null; call play '{"index": 0}'; call play '{"position": 5}'
            """)
        #expect(run.status == 0, "\(run.text)\(run.errors)")
        let lines = run.text.split(separator: "\n").map(String.init)
        #expect(lines.prefix(13).allSatisfy { $0 == "disabled" } && lines.count == 16, "\(lines)")
        #expect(lines.dropFirst(13).first == "the same item")
        #expect(lines.suffix(2).allSatisfy { $0.hasPrefix("open: play") }, "\(lines)")
    }

    /// The user's own ssh, to a server that is a program of the test: it opens no access to a machine.
    @Test func fromAnotherMachine() throws {
        let server = """
            import asyncio, asyncssh

            class Server(asyncssh.SSHServer):
                def begin_auth(self, username):
                    return False

                def unix_connection_requested(self, path):
                    return True

            async def main():
                key = asyncssh.generate_private_key("ssh-ed25519")
                server = await asyncssh.create_server(Server, "127.0.0.1", 0, server_host_keys=[key])
                print(server.sockets[0].getsockname()[1], flush=True)
                await server.wait_closed()

            asyncio.run(main())
            """
        try server.write(toFile: home.path + "/server.py", atomically: true, encoding: .utf8)
        let blocks = try MarkdownBlock.all(of: "etc/recipes/README.md")
        let recipe = try #require(blocks.map(\.text).first { $0.contains("ssh -N") })
        let lines = recipe.replacingOccurrences(of: "/run/nowplayingd/", with: "$XDG_RUNTIME_DIR/nowplayingd/")
            .split(separator: "\n")
        try #require(lines.count == 2 && lines[0].hasSuffix("&"))
        let run = try run(
            """
            tunnel= server=
            trap 'kill $tunnel $server $daemon; wait' EXIT
            /usr/bin/python3 -W ignore "$HOME/server.py" > "$HOME/port" & server=$!
            until [ -s "$HOME/port" ]; do kill -0 $server; done
            mkdir "$HOME/bin"
            printf '#!/bin/sh\nexec /usr/bin/ssh -F "%s/config" "$@"\n' "$HOME" > "$HOME/bin/ssh"
            chmod +x "$HOME/bin/ssh"
            printf '%s\n' 'Host kitchen' 'HostName 127.0.0.1' "Port $(cat "$HOME/port")" 'StrictHostKeyChecking no' \
                'UserKnownHostsFile /dev/null' 'LogLevel ERROR' > "$HOME/config"
            PATH="$HOME/bin:$PATH"
            \(lines[0])
            tunnel=$!
            until [ -S "$XDG_RUNTIME_DIR/kitchen.sock" ]; do kill -0 $tunnel; done
            \(lines[1])
            """)
        #expect(run.status == 0, "\(run.text)\(run.errors)")
        #expect(run.text.contains("the queue is empty"), "\(run.text)")
    }

    @Test func theRampIsTheDaemons() throws {
        let run = try run(
            """
            ALARM_SECONDS=1 ALARM_FROM=10 ALARM_TO=30 alarm ~/Music/single.wav
            until [ "$(nowplayingctl --json status | jq .volume)" = 0.3 ]; do :; done
            nowplayingctl status --format '{{state}} {{title}}'
            """)
        #expect(run.status == 0 && run.text == "playing single\n", "\(run.text)\(run.errors)")
    }

    @Test func presetsAndBackup() throws {
        let run = try run(
            """
            mkdir -p ~/.config/nowplayingd; echo ~/Music/single.wav > ~/.config/nowplayingd/presets
            preset 2 && exit 1 || [ $? = 3 ]
            preset 1; backup restore ~/x.tar && exit 1 || [ $? = 1 ]
            nowplayingctl quit; backup save ~/x.tar; rm -r ~/state; backup restore ~/x.tar; ls ~/state; trap - EXIT
            """)
        #expect(run.status == 0, "\(run.text)\(run.errors)")
        #expect(run.text.contains("queue\n") && run.errors.contains("has no entry 2"))
        #expect(run.errors.contains("the daemon is running"))
    }

    @Test func mpcsWords() throws {
        let table = try String(contentsOfFile: ScriptRun.root + "/etc/recipes/from-mpc.md", encoding: .utf8)
        #expect(table.contains("| `mpc playlist` |"))
        let run = try run(try shell("etc/recipes/from-mpc.md") + "\nnowplayingctl --json status | jq .queue.count\n")
        #expect(run.status == 0, "\(run.text)\(run.errors)")
        // Lines of `playlist`, and items that are left at the end.
        #expect(run.text.contains("     2  single"), "\(run.text)")
        #expect(run.text.hasSuffix("\n0\n"), "\(run.text)")
    }

    @Test func buttons() throws {
        let file = try String(contentsOfFile: ScriptRun.root + "/etc/recipes/buttons.conf", encoding: .utf8)
        let lines = file.split(separator: "\n").filter { $0.hasPrefix("KEY_") }
        #expect(lines.count >= 13)
        let commands = lines.map { $0.split(separator: " ", maxSplits: 2)[2].drop { $0 == " " } }
        let run = try run("nowplayingctl play ~/Music/album\n" + commands.joined(separator: "\n"))
        #expect(run.status == 0, "\(run.text)\(run.errors)")
    }

    @Test func theDoorbellAndSpeech() throws {
        let run = try run(
            """
            nowplayingctl play ~/Music/single.wav
            before=$(nowplayingctl --json status | jq -c '[.seq, .item.title, .queue]')
            head -c 4044 ~/Music/single.wav > ~/bell.wav
            DOORBELL_VOLUME=80 doorbell ~/bell.wav
            printf '#!/bin/sh\ncat ~/bell.wav\n' > ~/speak; chmod +x ~/speak
            SAY=~/speak say the tea is ready
            nowplayingctl --json announce - < ~/bell.wav
            nowplayingctl announce - < /dev/null && exit 1 || [ $? = 3 ]
            [ "$before" = "$(nowplayingctl --json status | jq -c '[.seq, .item.title, .queue]')" ] && echo untouched
            """)
        #expect(run.status == 0, "\(run.text)\(run.errors)")
        #expect(run.text == "{\"status\":\"success\",\"seconds\":0.5}\nuntouched\n", "\(run.text)\(run.errors)")
    }

    @Test func units() throws {
        let name = "bluetooth-keys.service"
        let text = try String(contentsOfFile: ScriptRun.root + "/etc/recipes/" + name, encoding: .utf8)
        try home.write(name, text.replacingOccurrences(of: "/usr/bin/mpris-proxy", with: "/bin/true"))
        let run = try run(["systemd-analyze", "verify", "--man=no", "--user", "./" + name])
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    }
}
