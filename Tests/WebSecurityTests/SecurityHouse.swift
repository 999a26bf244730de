import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// The real daemon, which plays into nothing, and the real `nowplaying-web`, with free ports on loopback.
final class SecurityHouse: Sendable {
    let folder = TemporaryFolder()
    /// The port of `bind`.
    let port: UInt16
    /// The port of `proxy-bind`, at which callers have no user.
    let proxy: UInt16
    private let daemon: TestProcess
    private let bridge: TestProcess

    /// Starts both. `settings`: further lines of the section `[web]`.
    init(_ settings: String = "") async throws {
        Self.configure(folder, settings)
        let folder = folder
        let daemon = await LoopThread.run {
            SecurityHouse.process(
                folder, "nowplayingd", ["--state-directory", folder.path("state"), "--output", "null"])
        }
        let bridge = await LoopThread.run { SecurityHouse.process(folder, "nowplaying-web", [], log: "web.log") }
        (self.daemon, self.bridge) = (daemon, bridge)
        let isUp = becomes {
            access(folder.path("control.sock"), F_OK) == 0 && Self.ask(folder, "bridge.status") != nil
        }
        try #require(isUp, "the bridge did not come up")
        let status = Self.ask(folder, "bridge.status")
        func port(_ name: String) throws -> UInt16 {
            let text = try #require(status?[name]?.arrayValue?.first?.stringValue)
            return try #require(UInt16(text.split(separator: ":").last ?? ""))
        }
        self.port = try port("listeners")
        proxy = try port("proxies")
        let here = self.port
        try #require(becomes { Self.status(try? SecurityHouse.exchange(here, Self.volume(here))) == 200 })
    }

    deinit {
        bridge.end()
        daemon.end()
    }

    private static func configure(_ folder: TemporaryFolder, _ settings: String) {
        folder.file("house.conf", "[web]\nbind = 127.0.0.1:0\nproxy-bind = 127.0.0.1:0\n" + settings)
    }

    /// Bytes of memory that the bridge alone has.
    var bridgeMemory: Int { bridge.memory }

    /// Gives the bridge other further lines of the section `[web]`, which it reads soon.
    func reload(_ settings: String) {
        Self.configure(folder, settings)
        bridge.signal(SIGHUP)
    }

    private static func environment(_ folder: TemporaryFolder) -> [String: String] {
        var environment = currentEnvironment()
        for name in ["XDG_RUNTIME_DIR", "HOME"] { environment[name] = folder.path }
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] { environment[name] = folder.path(name) }
        for name in ["RUNTIME_DIRECTORY", "STATE_DIRECTORY", "NOTIFY_SOCKET", "JOURNAL_STREAM"] {
            environment[name] = nil
        }
        return environment
    }

    private static func process(
        _ folder: TemporaryFolder, _ program: String, _ words: [String], log: String = "daemon.log"
    ) -> TestProcess {
        let usual = ["--socket", folder.path("control.sock"), "--config", folder.path("house.conf")]
        let line = ([BuiltProgram.path(program)] + usual + words).joined(separator: " ")
        return TestProcess(
            ["/bin/sh", "-c", "exec \(line) 2> \(folder.path(log))"], environment: environment(folder))
    }

    // MARK: The local socket

    private static func ask(_ folder: TemporaryFolder, _ method: String, _ words: String = "{}") -> JSONValue? {
        guard let socket = try? UnixSocket.connect(folder.path("nowplaying-web/web.sock")) else { return nil }
        defer { close(socket) }
        send(socket, #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(words)}"# + "\n")
        guard let line = read(socket, until: "\n") else { return nil }
        return (try? JSONReader.read(line))?["result"]
    }

    /// Asks the bridge by its local socket.
    func ask(_ method: String, _ words: String = "{}") throws -> JSONValue {
        try #require(Self.ask(folder, method, words))
    }

    /// Pairs a device: its token and its id.
    func pair() throws -> (token: String, id: String) {
        let code = try #require(try ask("pair.begin")["code"]?.stringValue)
        let body = #"{"code":"\#(code)","name":"phone"}"#
        let text = try request(proxy, "POST", "/pair", body: body)
        let start = try #require(text.firstRange(of: "\r\n\r\n")).upperBound
        let answer = try JSONReader.read(String(text[start...]))
        return (try #require(answer["token"]?.stringValue), try #require(answer["id"]?.stringValue))
    }

    /// The log of the bridge.
    var log: String {
        guard let file = fopen(folder.path("web.log"), "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }

    /// The daemon's volume, as nowplayingctl has it.
    var volume: String {
        TestProcess.run(
            [BuiltProgram.path("nowplayingctl"), "--socket", folder.path("control.sock"), "volume"]
        ).text
    }

    // MARK: HTTP

    /// A call that answers the volume.
    private static func volume(_ port: UInt16) -> String {
        text(port, "POST", "/rpc", [], #"{"jsonrpc":"2.0","id":1,"method":"nowPlaying.get"}"#)
    }

    /// A request as text.
    static func text(
        _ port: UInt16, _ method: String, _ path: String, _ headers: [String], _ body: String, host: String? = nil
    ) -> String {
        var lines = ["\(method) \(path) HTTP/1.1", "Host: \(host ?? "localhost:\(port)")", "Connection: close"]
        if !body.isEmpty { lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"] }
        return (lines + headers).joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    /// The whole answer to a request.
    func request(
        _ port: UInt16, _ method: String, _ path: String, _ headers: [String] = [], body: String = "",
        host: String? = nil
    ) throws -> String {
        try Self.exchange(port, Self.text(port, method, path, headers, body, host: host))
    }

    /// The status of the answer to a call of the state.
    func call(_ port: UInt16, _ headers: [String] = [], host: String? = nil) throws -> Int? {
        let body = #"{"jsonrpc":"2.0","id":1,"method":"nowPlaying.get"}"#
        return Self.status(try request(port, "POST", "/rpc", headers, body: body, host: host))
    }

    /// The status of an answer.
    static func status(_ text: String?) -> Int? { text?.split(separator: " ").dropFirst().first.flatMap { Int($0) } }

    private static func exchange(_ port: UInt16, _ text: String) throws -> String {
        let socket = try connect(port)
        defer { close(socket) }
        send(socket, text)
        return read(socket, until: nil) ?? ""
    }

    /// A connection; `isMapped`: by the address ::ffff:127.0.0.1; `receives`: the bytes that its buffer takes.
    static func connect(_ port: UInt16, isMapped: Bool = false, receives: Int32? = nil) throws -> Int32 {
        let family = isMapped ? AF_INET6 : AF_INET
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if var receives {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receives, socklen_t(MemoryLayout<Int32>.size))
        }
        var storage = sockaddr_storage()
        let size: Int
        if isMapped {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            inet_pton(AF_INET6, "::ffff:127.0.0.1", &address.sin6_addr)
            size = MemoryLayout<sockaddr_in6>.size
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: address, as: sockaddr_in6.self) }
        } else {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
            size = MemoryLayout<sockaddr_in>.size
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: address, as: sockaddr_in.self) }
        }
        let result = withUnsafePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(descriptor, $0, socklen_t(size)) }
        }
        try #require(result == 0)
        return descriptor
    }

    /// Sends a text.
    static func send(_ socket: Int32, _ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Reads to the end, or until this text has come; nil: nothing came.
    static func read(_ socket: Int32, until end: String?) -> String? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        var wait = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        while poll(&wait, 1, 30_000) > 0 {
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            bytes += buffer[..<count]
            if let end, String(decoding: bytes, as: UTF8.self).contains(end) { break }
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
