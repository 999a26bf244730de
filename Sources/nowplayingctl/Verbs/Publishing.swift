import ControlProtocol
import Glibc
import NowPlaying
import NowPlayingClient

/// `session publish`: shows the playback of another program. States come as lines of JSON on standard input; a program
/// carries out the commands of remotes.
struct Publishing {
    private let run: Invocation
    private let name: String
    private let connection: Connection
    private let program: String?
    /// Names of `--commands`, which the program gets, by the protocol's names.
    private let names: [String: String]

    /// Makes the session. Throws if there is a session of that name.
    init(_ run: Invocation, _ name: String) throws(Failure) {
        self.run = run
        self.name = name
        program = run.value("--run")
        connection = try run.connection()
        var parameters = try Sessions.terms(run, name)
        parameters["external"] = true
        let commands = (run.value("--commands") ?? "").split(separator: ",").map(String.init)
        names = Dictionary(commands.map { (WireName.camel($0), $0) }) { $1 }
        if !commands.isEmpty, program == nil {
            throw .usage("--commands needs --run PROGRAM, which runs them", verb: run.verb.name)
        }
        if let program, !Program.exists(program) {
            let words = "there is no such program; name an executable file with --run"
            throw Failure(.noSuchContent, "cannot run \(TerminalText.safe(program)): \(words)")
        }
        parameters["commands"] = .array(commands.map { .string(WireName.camel($0)) })
        _ = try run.call("session.create", .object(parameters))
    }

    /// Publishes each line until standard input ends.
    func publish() throws(Failure) {
        var input: [UInt8] = []
        var polled = [
            pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
            pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            guard poll(&polled, 2, -1) > 0 else { continue }
            do {
                if polled[1].revents != 0 {
                    guard try connection.read() else { throw Failure(.noDaemon, "the daemon has ended") }
                    try takeLines()
                }
                guard polled[0].revents != 0 else { continue }
                var block = [UInt8](repeating: 0, count: 65536)
                let count = read(STDIN_FILENO, &block, block.count)
                guard count > 0 else { return }
                input += block[..<count]
                while let end = input.firstIndex(of: UInt8(ascii: "\n")) {
                    try publish(Array(input[..<end]))
                    input.removeFirst(end + 1)
                }
                if input.count > 256 << 10 { throw Failure(.usage, "a line of standard input has more than 256 KiB") }
            } catch let error as ClientError {
                throw run.failure(error)
            } catch let error as Failure {
                throw error
            } catch {}
        }
    }

    /// Sends one state, or skips an invalid line with a message.
    private func publish(_ line: [UInt8]) throws {
        if line.allSatisfy({ $0 == UInt8(ascii: " ") }) { return }
        guard let value = try? JSONReader.read(line), case .object(var state) = value else {
            return complain("skipped a line that is not a JSON object")
        }
        state["session"] = .string(name)
        _ = try connection.request("nowPlaying.publish", .object(state))
    }

    /// Carries out the daemon's requests, and reports its refusals.
    private func takeLines() throws {
        while let line = connection.bufferedLine() {
            let message = try Connection.parse(line)
            if let error = message["error"]?["message"]?.stringValue { complain(TerminalText.safe(error)) }
            guard let method = message["method"]?.stringValue, let id = message["id"] else { continue }
            let status = carryOut(method, message["params"]) ? "success" : "commandFailed"
            var writer = JSONWriter()
            writer.value(["jsonrpc": "2.0", "id": id, "result": ["status": .string(status)]])
            writer.newline()
            try connection.send(writer.bytes)
        }
    }

    private func carryOut(_ command: String, _ parameters: JSONValue?) -> Bool {
        guard let program else { return false }
        var words = [program, names[command] ?? command]
        for name in ["position", "interval", "rate", "mode", "rating", "active"] {
            guard let value = parameters?[name] else { continue }
            words.append(value.stringValue ?? JSONWriter.text(value))
        }
        return Program.run(words, isQuiet: true) == 0
    }

    private func complain(_ message: String) {
        var text = "nowplayingctl: \(message)\n"
        _ = text.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
