import ControlProtocol
import Glibc
import TCPClient
import TestSupport
import Testing

@testable import nowplayingctl

/// `setup rooms` with programs that only record their arguments, and names of rooms for completions.
@Suite(.timeLimit(.minutes(5))) struct RoomsSetupTests {
    private let folder = TemporaryFolder()
    private static let hasUser = getpwnam("_snapserver") != nil
    /// True if no server of this machine comes before those of the network.
    private static let isAlone = (try? TCPConnection(host: "localhost", port: 1705, seconds: 1)) == nil

    /// `found`: lines that avahi-browse prints for this service. `format`: that of the daemon's output; nil: no daemon runs.
    private func run(
        _ words: [String], found: String = "", service: String = "_snapcast-ctrl._tcp", format: String? = nil,
        status: Int = 0
    ) -> (
        Tool.Outcome, calls: [String]
    ) {
        let calls = folder.path("calls")
        let record = "#!/bin/dash\nprintf '%s\\n' \"${0##*/} $*\" >> '\(calls)'; exit \(status)\n"
        for name in ["groupadd", "usermod", "runuser", "systemctl", "sh", "sed"] { write(name, record) }
        write("sudo", "#!/bin/dash\n\"$@\"\n")
        write("avahi-browse", "#!/bin/dash\n[ \"$4\" = '\(service)' ] || exit 0\ncat << 'END'\n\(found)\nEND\n")
        unlink(calls)
        let socket = folder.path("daemon.sock")
        let daemon = format.map { format in
            FakeDaemon(socket) { method, _ in
                switch method {
                case "hello": .result(["version": "1", "role": "admin"])
                case "nowPlaying.get": .result(Sample.state())
                case "diagnostics.get": .result(["output": ["kind": "snapcast", "format": .string(format)]])
                default: .error(-32601, "there is no method", [:])
                }
            }
        }
        defer { daemon?.stop() }
        let outcome = Tool.run(
            ["setup", "rooms"] + words, socket: socket, environment: ["PATH": folder.path + ":/usr/bin:/bin"])
        return (outcome, Self.text(calls).split(separator: "\n").map(String.init))
    }

    private func write(_ name: String, _ script: String) {
        chmod(folder.write(Array(script.utf8), name), 0o755)
    }

    private static func text(_ path: String) -> String {
        guard let file = fopen(path, "re") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65536)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }

    /// A server with a source of 48000:16:2.
    private static func server() -> FakeSnapserver {
        FakeSnapserver(FakeSnapserver.source(JSONObject([.init("codec", "pcm")])))
    }

    @Test("an address: the lines for both configurations, and nothing is changed without a yes") func address() {
        let server = Self.server()
        defer { server.stop() }
        let (outcome, calls) = run(["--server", server.host])
        #expect(outcome.status == 0 && calls.isEmpty, "\(outcome.complaint)")
        let text = outcome.output
        #expect(text.hasPrefix("Server: \(server.host)\n"), "\(text)")
        #expect(
            text.contains("source = tcp://127.0.0.1:4953/?name=music&mode=server&codec=pcm&controlscript=/"), "\(text)")
        #expect(text.contains("/nowplaying-snapcast\n") && text.contains("output = snapcast:localhost\n"), "\(text)")
        #expect(text.contains("the Snapcast server at \(server.host) answers"), "\(text)")
        guard Self.hasUser else { return #expect(text.contains("There is no user _snapserver")) }
        #expect(text.contains("everybody in the LAN can pause") && text.contains("Nothing changed."), "\(text)")
        // Nobody has allowed commands.
        #expect(!text.contains("a commands = yes"), "\(text)")
    }

    @Test("a yes runs the commands; those of apps need another one", .enabled(if: hasUser, "there is no _snapserver"))
    func yes() throws {
        let server = Self.server()
        defer { server.stop() }
        let rights = try #require(RoomsRights(of: "_snapserver"))
        for allows in [false, true] {
            let (outcome, calls) = run(["--server", server.host, "--yes"] + (allows ? ["--allow-commands"] : []))
            #expect(outcome.status == 0, "\(outcome.complaint)")
            let wanted = rights.commands(allows: allows).map { $0.filter { $0 != "sudo" }.joined(separator: " ") }
            #expect(calls == wanted, "\(calls)")
            #expect(outcome.output.contains("Nothing changed.") == wanted.isEmpty, "\(outcome.output)")
        }
        let (allowed, calls) = run(["--server", server.host, "--allow-commands"])
        #expect(allowed.status == 0 && calls.isEmpty && allowed.output.contains("commands = yes"))
        let (failed, first) = run(["--server", server.host, "--yes", "--allow-commands"], status: 6)
        guard !rights.commands(allows: true).isEmpty else { return }
        #expect(failed.status == 1 && first.count == 1, "\(first)")
        #expect(failed.complaint.contains("ended with status 6; the rest did not run"), "\(failed.complaint)")
    }

    @Test(
        "a server that Avahi finds; one of another machine gets no control script",
        .enabled(if: isAlone, "a Snapcast server runs on this machine"))
    func found() {
        let server = Self.server()
        defer { server.stop() }
        let found = """
            +;eth0;IPv4;Snapcast;_snapcast-ctrl._tcp;local
            =;eth0;IPv6;Snapcast;_snapcast-ctrl._tcp;local;box.local;fe80::1;1705;
            =;eth0;IPv4;a;b;c;d;not an address;1705;
            =;eth0;IPv4;Snapcast;_snapcast-ctrl._tcp;local;box.local;\(server.host);1705;
            """
        // The second is that of 0.26.
        for service in ["_snapcast-ctrl._tcp", "_snapcast-jsonrpc._tcp"] {
            let (outcome, _) = run([], found: found, service: service)
            #expect(outcome.output.hasPrefix("Server: \(server.host)\n"), "\(outcome.output)\(outcome.complaint)")
        }
        // An address for documentation (RFC 5737), which no machine has.
        let (other, calls) = run(["--server", "192.0.2.7"])
        #expect(other.output.contains("source = tcp://192.0.2.7:4953/?name=music&mode=server&codec=pcm\n"))
        #expect(other.output.contains("output = snapcast:192.0.2.7\n") && calls.isEmpty)
        #expect(other.output.contains("only if the server runs on this machine"), "\(other.output)")
    }

    @Test("no server", .enabled(if: isAlone, "a Snapcast server runs on this machine")) func none() {
        let (none, calls) = run([])
        #expect(none.status == 1 && none.complaint.contains("no Snapcast server found") && calls.isEmpty)
        #expect(none.complaint.contains("apt install snapserver"), "\(none.complaint)")
    }

    @Test("a wrong address, and a server of another format") func faults() {
        #expect(run(["--server", "b\u{1B}x"]).0.status == 2)
        let server = Self.server()
        defer { server.stop() }
        let (check, nothing) = run(["--check", "--server", server.host], format: "44100:16:2")
        #expect(!check.output.contains("source = ") && nothing.isEmpty, "\(check.output)")
        #expect(check.output.contains("the daemon sends 44100:16:2, and the source “music” takes 48000:16:2"))
        #expect(check.status == 1 && check.complaint.contains("faults: rooms"), "\(check.complaint)")
        let (well, _) = run(["--check", "--json", "--server", server.host], format: "48000:16:2")
        let json = try? JSONReader.read(well.output)
        let findings = json?["findings"]?.arrayValue ?? []
        #expect(findings.count == 5 && !findings.contains { $0["level"] == "fault" }, "\(findings)")
        #expect(well.status == 0 && json?["level"] == "note", "\(well)")
    }

    @Test("a check exits with 1 at each fault, and the steps without it do not", arguments: [[], ["--json"]])
    func status(words: [String]) {
        let unset = FakeSnapserver(nil)
        let closed = FakeSnapserver(FakeSnapserver.source(JSONObject([.init("codec", "pcm")])), stream: nil)
        let gone = FakeSnapserver(nil)
        gone.stop()
        defer {
            unset.stop()
            closed.stop()
        }
        for server in [unset, closed, gone] {
            let (check, calls) = run(["--check", "--server", server.host] + words)
            #expect(check.status == 1 && calls.isEmpty && check.complaint.contains("faults: rooms"), "\(check)")
            let findings = words.isEmpty ? nil : (try? JSONReader.read(check.output))?["level"]
            #expect(words.isEmpty ? check.output.contains("fault ") : findings == "fault", "\(check.output)")
            #expect(run(["--server", server.host] + words).0.status == 0)
        }
    }

    @Test("a server whose control protocol has another port is checked there") func otherPort() {
        let server = FakeSnapserver(FakeSnapserver.source(JSONObject([.init("codec", "pcm")])), port: 1805)
        defer { server.stop() }
        let (outcome, _) = run(["--check", "--server", server.host + ":1805"], format: "48000:16:2")
        #expect(outcome.output.contains("the Snapcast server at \(server.host) answers"), "\(outcome.output)")
    }

    @Test("names for completions are those of the server, harmless and one a line") func names() {
        let server = FakeSnapserver(
            nil, [.init(name: "Blue room"), .init(name: "a\nb\u{1B}[31m"), .init(name: "$(reboot)'\"")])
        defer { server.stop() }
        let daemon = FakeDaemon(folder.path("daemon.sock")) { method, _ in
            switch method {
            case "hello": .result(["version": "1", "role": "admin"])
            case "output.list":
                .result([
                    "outputs": [
                        [
                            "name": "snapcast", "description": "Snapcast at a place",
                            "server": ["host": .string(server.host), "port": 4953],
                        ]
                    ]
                ])
            default: .error(-32601, "there is no method", [:])
            }
        }
        defer { daemon.stop() }
        let outcome = Tool.run(["completion", "rooms"], socket: folder.path("daemon.sock"))
        #expect(outcome.status == 0 && outcome.output == "Blue room\na b\u{FFFD}[31m\n$(reboot)'\"\n", "\(outcome)")
    }
}
