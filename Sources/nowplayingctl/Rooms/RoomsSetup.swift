import ControlProtocol
import Glibc
import NowPlaying
import NowPlayingClient
import SnapcastControl

/// `setup rooms`: the lines for a Snapcast server, and the rights of its control script.
struct RoomsSetup {
    private let run: Invocation
    private let output: Output
    private let address: SnapcastServer.Address
    /// True if the server runs on this machine.
    private let isHere: Bool

    /// The user of Debian's server.
    private static let user = "_snapserver"

    /// Finds the server, shows the missing steps, and asks before it runs a command.
    static func setUp(_ run: Invocation) throws(Failure) {
        let address = try find(run)
        let setup = RoomsSetup(
            run: run, output: run.output, address: address,
            isHere: ["localhost", "127.0.0.1", "::1", machine].contains(address.host) || address.host.hasPrefix("127."))
        if !run.has("--check") { try setup.show() }
        let findings = setup.check()
        Doctor.show(findings, run)
        // Without the option, faults are usual: the lines take effect later.
        if run.has("--check") { try Doctor.refuseFaults(findings) }
    }

    // MARK: The server

    private static func find(_ run: Invocation) throws(Failure) -> SnapcastServer.Address {
        if run.has("--server") || Rooms.sinkHost(run) != nil { return try Rooms.address(run) }
        // A server on this machine comes first: the clock is exact only there.
        if let here = SnapcastServer.Address("localhost"), (try? SnapcastServer(here, seconds: 1)) != nil {
            return here
        }
        if let found = announced() { return found }
        throw Failure(
            .general,
            "no Snapcast server found on this machine, nor in the network by Avahi (avahi-browse)\n"
                + "Install one: apt install snapserver; or name it: nowplayingctl setup rooms --server HOST")
    }

    /// The first server that Avahi finds in the network; nil: none, or no avahi-browse.
    private static func announced() -> SnapcastServer.Address? {
        for service in services {
            if let found = announced(service) { return found }
        }
        return nil
    }

    /// Services of the control protocol: that of newer servers, and that of 0.26.
    private static let services = ["_snapcast-ctrl._tcp", "_snapcast-jsonrpc._tcp"]

    private static func announced(_ service: String) -> SnapcastServer.Address? {
        let words = ["timeout", "5", "avahi-browse", "--terminate", "--resolve", "--parsable", service]
        for line in Program.lines(of: words) {
            if let address = SnapcastServer.Address(announcement: line[...]) { return address }
        }
        return nil
    }

    private static var machine: String {
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    // MARK: Lines and commands

    private func show() throws(Failure) {
        let host = TerminalText.safe(address.host.contains(":") ? "[\(address.host)]" : address.host)
        let rights = isHere ? RoomsRights(of: Self.user) : nil
        output.line("Server: \(TerminalText.safe(address.text))")
        output.line("In /etc/snapserver.conf of that machine, in [stream], as the first source, which new rooms play:")
        output.line("    source = tcp://\(isHere ? "127.0.0.1" : host):4953/?name=music&mode=server&codec=pcm" + script)
        output.line("In nowplayingd.conf of this machine:")
        output.line("    [output]")
        output.line("    output = snapcast:\(isHere ? "localhost" : host)")
        if rights?.hasGroup == false {
            output.line("    [access]")
            output.line("    remote-group = \(RoomsRights.group)")
        }
        output.line("A restart of the server, and then of the daemon, makes them take effect.")
        guard isHere else {
            return output.line("Apps of Snapcast show titles only if the server runs on this machine.")
        }
        guard let rights else {
            return output.line(
                "There is no user \(Self.user): put the server's user into the group “remote-group” of [access].")
        }
        try grant(rights)
    }

    private var script: String { isHere ? "&controlscript=" + Self.program : "" }

    /// nowplaying-snapcast beside this program.
    private static var program: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return String(own[..<(own.lastIndex(of: "/") ?? own.startIndex)]) + "/nowplaying-snapcast"
    }

    private func grant(_ rights: RoomsRights) throws(Failure) {
        output.line(
            "The server's ports have no password: with commands, everybody in the LAN can pause, skip and set the volume."
        )
        let file = TerminalText.safe(rights.file)
        if rights.allowsCommands == true { output.line("They are allowed: commands = yes in \(file).") }
        let allows = rights.allowsCommands != true && asks("Allow that? [y/N] ", "--allow-commands")
        let commands = rights.commands(allows: allows)
        guard !commands.isEmpty else {
            return output.line("\(rights.user) has the right to reach the daemon. Nothing changed.")
        }
        output.line("Commands for the right of \(rights.user) to reach the daemon:")
        for command in commands {
            output.line("    " + command.map { $0.contains(" ") ? Completion.quoted($0) : $0 }.joined(separator: " "))
        }
        output.flush()
        guard asks("Do it? [y/N] ", "--yes") else { return output.line("Nothing changed.") }
        for command in commands {
            let status = Program.run(command)
            guard status == 0 else {
                throw Failure(
                    .general, "\(command.joined(separator: " ")) ended with status \(status); the rest did not run")
            }
        }
    }

    /// Asks on a terminal; elsewhere only the option counts.
    private func asks(_ question: String, _ option: String) -> Bool {
        if run.has(option) { return true }
        guard isatty(STDIN_FILENO) == 1, output.isTerminal else { return false }
        output.raw(question)
        output.flush()
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        return count > 0 && (bytes[0] == UInt8(ascii: "y") || bytes[0] == UInt8(ascii: "Y"))
    }

    // MARK: Checks

    /// Findings about the path to the rooms.
    private func check() -> [Finding] {
        let state = try? run.state()
        let diagnosis = (try? run.call("diagnostics.get"))?["output"]
        let check = RoomsCheck(
            host: address.host, controlPort: address.port, port: nil, format: diagnosis?["format"]?.stringValue,
            buffer: diagnosis?["buffer"]?.doubleValue, isPlaying: state?.state == .playing, silence: .fault)
        return check.findings()
    }
}
