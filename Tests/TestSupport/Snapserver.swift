package import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
package import TCPClient

/// A real Snapcast server on a loopback address of its own, with one source of 48 kHz, 16 bit, stereo. Nobody else's server is
/// disturbed, nor disturbs it: all its ports are the usual ones.
package final class Snapserver: Sendable {
    /// The address, the same for all servers of this test process.
    package static let host = "127.77.\((getpid() >> 8) & 255).\(1 + getpid() % 250)"
    /// Its own address.
    package let host: String
    /// The process.
    package let process: TestProcess

    /// Starts it and returns when it listens. `buffer`: milliseconds. `format`: that of the source. `folder`: keeps its files.
    /// `script`: the program of the source's control script; `variables`: additions to the environment of both. `away`: the
    /// host on which it runs. `address`: one of this host; by default that of all servers.
    package static func start(
        in folder: TemporaryFolder, buffer: Int = 1000, format: String = "48000:16:2", script: String? = nil,
        variables: [String: String] = [:], away: NetworkNamespace? = nil, at address: String = Snapserver.host
    ) async -> Snapserver {
        await LoopThread.run { Snapserver(folder, buffer, format, script, variables, away, address) }
    }

    private init(
        _ folder: TemporaryFolder, _ buffer: Int, _ format: String, _ script: String?, _ variables: [String: String],
        _ away: NetworkNamespace?, _ address: String
    ) {
        let host = away?.address ?? address
        self.host = host
        let data = folder.path("snapserver")
        mkdir(data, 0o700)
        // Without the slash a server of 0.26 takes that of the script for the beginning of the path.
        let source =
            "tcp://\(host):4953/?name=music&mode=server&codec=pcm&sampleformat=\(format)"
            + (script.map { "&controlscript=" + $0 } ?? "")
        // The script of an earlier server has its listening sockets, and ends a moment after it.
        precondition(
            becomes { ![1704, 1705, 4953].contains { listens($0, host) } }, "an earlier snapserver still listens")
        // A busy machine makes it read late, and then it changes its times by itself: where we may, it comes first.
        process = TestProcess(
            (away?.words ?? []) + Precedence.words + [
                "snapserver", "--config", folder.write([], "snapserver.conf"),
                "--server.datadir", data, "--http.enabled",
                "0",
                "--tcp.bind_to_address", host, "--stream.bind_to_address", host, "--stream.buffer",
                "\(buffer)",
                "--stream.source", source, "--logging.sink", "null",
            ], environment: currentEnvironment().merging(["HOME": folder.path]) { $1 }.merging(variables) { $1 })
        precondition(becomes { listens(1704, host) && listens(1705, host) }, "snapserver does not listen")
    }

    deinit { process.end() }

    /// Ends it at once.
    package func end() { process.end() }

    /// Answer of its control protocol to a request, as text. `parameters`: JSON.
    package func call(_ method: String, _ parameters: String = "{}") throws(TCPConnection.Problem) -> String {
        let end = MonotonicTime.now.advanced(bySeconds: 5)
        let connection = try TCPConnection(host: host, port: 1705, seconds: 5)
        try connection.write(
            Array("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"\(method)\", \"params\": \(parameters)}\r\n".utf8),
            until: end)
        var answer: [UInt8] = []
        while true {
            let more = try connection.read(65536, until: end)
            if more.isEmpty { return "" }
            answer += more
            // Notifications come on lines of their own.
            while let newline = answer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: answer[..<newline], as: UTF8.self)
                answer.removeSubrange(...newline)
                if line.contains("\"id\":1,") { return line }
            }
        }
    }

    /// The answer as JSON; null for one that is none.
    package func ask(_ method: String, _ parameters: String = "{}") -> JSONValue {
        (try? JSONReader.read(call(method, parameters))) ?? .null
    }

    /// The properties of its source.
    package var properties: JSONValue? {
        ask("Server.GetStatus")["result"]?["server"]?["streams"]?.arrayValue?.first?["properties"]
    }
}

/// True if a socket listens at a port of a server's address.
private func listens(_ port: UInt16, _ host: String) -> Bool {
    (try? TCPConnection(host: host, port: port, seconds: 1)) != nil
}
