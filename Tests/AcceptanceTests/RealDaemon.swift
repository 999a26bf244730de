import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport

/// The real nowplayingd in a process and folder of its own, with connections to its socket.
final class RealDaemon: Sendable {
    let folder = TemporaryFolder()
    let process: TestProcess
    let socket: String

    /// Starts the daemon, found beside the tests, and returns when it answers. `server`: the sound server for `pulse`.
    static func start(
        _ server: SoundServer?, sink: String? = nil, output: String = "pulse", _ arguments: [String] = []
    ) async -> RealDaemon {
        let daemon = await LoopThread.run { RealDaemon(server, sink, output, arguments) }
        precondition(becomes { access(daemon.socket, F_OK) == 0 }, "the daemon did not come up")
        return daemon
    }

    private init(_ server: SoundServer?, _ sink: String?, _ output: String, _ arguments: [String]) {
        socket = folder.path("control.sock")
        var words = [Self.program, "--socket", socket, "--state-directory", folder.path("state"), "--output", output]
        if let sink { words += ["--sink", sink] }
        var environment = currentEnvironment()
        environment["PULSE_SERVER"] = server?.address
        environment["XDG_RUNTIME_DIR"] = folder.path
        environment["XDG_CONFIG_HOME"] = folder.path
        environment["HOME"] = folder.path
        process = TestProcess(words + arguments, environment: environment)
    }

    /// nowplayingd as it was built with the tests.
    static let program: String = {
        for candidate in [selfPath()] + CommandLine.arguments {
            let range = candidate.firstRange(of: "/debug/") ?? candidate.firstRange(of: "/release/")
            guard let range else { continue }
            let path = String(candidate[..<range.upperBound] + "nowplayingd")
            if access(path, X_OK) == 0 { return path }
        }
        preconditionFailure("nowplayingd was not built beside the tests")
    }()

    private static func selfPath() -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// A new connection.
    func connect() -> Client { Client(socket) }

    /// Voluntary context switches of all its threads so far.
    var contextSwitches: Int {
        var total = 0
        guard let folder = opendir("/proc/\(process.pid)/task") else { return 0 }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let file = fopen("/proc/\(process.pid)/task/\(name)/status", "r") else { continue }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 256)
            while fgets(&line, 256, file) != nil {
                let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                if text.hasPrefix("voluntary_ctxt_switches:") {
                    total += Int(text.split(whereSeparator: \.isWhitespace).last ?? "") ?? 0
                }
            }
        }
        return total
    }

    /// Ends it as a user would; its exit status.
    @discardableResult func stop() -> Int32 {
        process.signal(SIGTERM)
        return process.wait()
    }

    deinit { process.end() }
}

/// A blocking connection that a test owns. Every wait ends after 20 s with a trap: nothing here waits for ever.
final class Client {
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var number = 0
    /// Notifications that came while something else was waited for.
    private(set) var notifications: [JSONValue] = []

    init(_ path: String) {
        guard let connected = try? UnixSocket.connect(path) else { preconditionFailure("can't connect to \(path)") }
        descriptor = connected
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK)
    }

    deinit { close(descriptor) }

    /// Sends a request and returns its number.
    @discardableResult func send(_ method: String, _ parameters: JSONValue = [:]) -> Int {
        number += 1
        let line: JSONValue = [
            "jsonrpc": "2.0", "id": .integer(Int64(number)), "method": .string(method), "params": parameters,
        ]
        let bytes = Array((JSONWriter.text(line) + "\n").utf8)
        precondition(write(descriptor, bytes, bytes.count) == bytes.count)
        return number
    }

    /// Sends a request and returns its result; nil after an error.
    @discardableResult func call(_ method: String, _ parameters: JSONValue = [:]) -> JSONValue? {
        answer(send(method, parameters))["result"]
    }

    /// Sends a request and returns its error; nil after a success.
    func error(_ method: String, _ parameters: JSONValue = [:]) -> JSONValue? {
        answer(send(method, parameters))["error"]
    }

    /// The whole answer to a request.
    func answer(_ wanted: Int) -> JSONValue {
        while true {
            let message = line()
            if message["id"]?.integerValue == Int64(wanted) { return message }
            if let parameters = message["params"] { notifications.append(parameters) }
        }
    }

    /// The next notification with one of these causes; others before it are dropped.
    func event(_ causes: String...) -> JSONValue {
        while true {
            let state: JSONValue
            if notifications.isEmpty {
                guard let parameters = line()["params"] else { continue }
                state = parameters
            } else {
                state = notifications.removeFirst()
            }
            if causes.isEmpty || causes.contains(state["cause"]?.stringValue ?? "") { return state }
        }
    }

    /// Forgets notifications that have come so far, answered ones included.
    func forget() {
        call("nowPlaying.get")
        notifications = []
    }

    private func line() -> JSONValue {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                defer { buffer.removeSubrange(...end) }
                guard let value = buffer[..<end].withUnsafeBytes({ try? JSONReader.read($0) }) else {
                    preconditionFailure("not JSON: \(String(decoding: buffer[..<end], as: UTF8.self))")
                }
                return value
            }
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            precondition(poll(&waiting, 1, 20_000) > 0, "nothing came for 20 seconds")
            var bytes = [UInt8](repeating: 0, count: 65536)
            let count = read(descriptor, &bytes, bytes.count)
            precondition(count > 0, "the daemon closed the connection")
            buffer += bytes[..<count]
        }
    }
}

extension JSONValue {
    var elapsed: Double { self["anchor"]?["elapsed"]?.doubleValue ?? .nan }
    var rate: Double { self["anchor"]?["rate"]?.doubleValue ?? .nan }
    var monotonic: Double { self["anchor"]?["monotonic"]?.doubleValue ?? .nan }
    var skew: Double { self["anchor"]?["skew"]?.doubleValue ?? 0 }
    var playing: String { self["state"]?.stringValue ?? "" }
    var itemID: Int64? { self["item"]?["id"]?.integerValue }

    /// Seconds into the item at an instant of CLOCK_MONOTONIC, by the protocol's formula.
    func position(at time: Double) -> Double {
        let moved = elapsed + rate * (1 + skew) * max(0, time - monotonic)
        return max(0, min(moved, self["item"]?["duration"]?.doubleValue ?? moved))
    }
}
