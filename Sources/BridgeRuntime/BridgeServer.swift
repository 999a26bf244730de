import CLinux
package import ControlProtocol
import Glibc
package import LinuxSystem
import NowPlayingClient

/// The socket of a bridge for requests of `nowplayingctl`: JSON-RPC lines like the daemon's. Only the bridge's own user
/// and root are served.
@PlayerLoop package final class BridgeServer {
    /// The error of a refused request.
    package struct Refusal: Error, Sendable {
        /// Code of JSON-RPC or of the protocol: -32601, 100, 200.
        package let code: Int
        package let message: String

        /// An error of JSON-RPC, by its parts.
        package init(code: Int, message: String) {
            self.code = code
            self.message = message
        }
    }

    /// To be called once for each request.
    package typealias Reply = @PlayerLoop (Result<JSONValue, Refusal>) -> Void

    private let loop: EventLoop
    private let path: String
    private let listener: Int32
    private let handle: @PlayerLoop (String, JSONValue, @escaping Reply) -> Void
    private var source: EventSource?
    private lazy var pause = AcceptPause(loop) { [unowned self] in source?.setEnabled(true) }
    private var clients: [ObjectIdentifier: BridgeClient] = [:]

    private static let maximumClients = 8

    /// Listens in the folder of this program, at the socket of this name. Throws if another process listens there.
    /// `isPrivate`: the socket has mode 0600.
    package init(
        _ loop: EventLoop, program: String, socket: String = "control.sock", isPrivate: Bool = false,
        folder: String? = nil,
        _ handle: @escaping @PlayerLoop (_ method: String, _ parameters: JSONValue, _ reply: @escaping Reply) -> Void
    ) throws(BridgeFailure) {
        self.loop = loop
        self.handle = handle
        let folder = folder ?? BridgeServer.folder(program)
        mkdir(folder, 0o700)
        path = folder + "/" + socket
        if let other = try? UnixSocket.connect(path) {
            close(other)
            throw BridgeFailure("another \(program) is already running: \(path) answers")
        }
        // No process listens at a socket that is left over.
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid() { unlink(path) }
        do { listener = try UnixSocket.listen(path, isPrivate: isPrivate) } catch {
            throw BridgeFailure("no socket: \(error.message)")
        }
        source = loop.watch(listener, UInt32(EPOLLIN.rawValue)) { [unowned self] _ in accept() }
        // The timer needs a descriptor, which later there may not be.
        _ = pause
    }

    isolated deinit {
        source?.release()
        close(listener)
        unlink(path)
    }

    /// $RUNTIME_DIRECTORY, or else the program's folder below $XDG_RUNTIME_DIR or /run.
    private static func folder(_ program: String) -> String {
        if let own = SocketLocation.variable("RUNTIME_DIRECTORY"), own.hasPrefix("/") {
            return String(own.prefix { $0 != ":" })
        }
        let base = SocketLocation.variable("XDG_RUNTIME_DIR").flatMap { $0.hasPrefix("/") ? $0 : nil }
        return (base ?? (geteuid() == 0 ? "/run" : "/run/user/\(geteuid())")) + "/" + program
    }

    private func accept() {
        let descriptor: Int32
        do throws(SystemError) { descriptor = try UnixSocket.accept(listener) } catch {
            guard !AcceptPause.passes(error) else { return }
            source?.setEnabled(false)
            return pause.begin()
        }
        let peer = UnixSocket.peer(descriptor)
        guard let peer, peer.uid == geteuid() || peer.uid == 0, clients.count < BridgeServer.maximumClients else {
            close(descriptor)
            return
        }
        let client = BridgeClient(descriptor)
        clients[ObjectIdentifier(client)] = client
        client.begin(loop, handle) { [unowned self] client in clients[ObjectIdentifier(client)] = nil }
    }
}

/// One connection to a bridge.
@PlayerLoop private final class BridgeClient {
    private let descriptor: Int32
    private var source: EventSource?
    private var input: [UInt8] = []

    private static let maximumLine = 64 << 10

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    isolated deinit {
        source?.release()
        close(descriptor)
    }

    func begin(
        _ loop: EventLoop, _ handle: @escaping @PlayerLoop (String, JSONValue, @escaping BridgeServer.Reply) -> Void,
        _ gone: @escaping @PlayerLoop (BridgeClient) -> Void
    ) {
        source = loop.watch(descriptor, UInt32(EPOLLIN.rawValue)) { [unowned self] _ in
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            input += buffer[..<max(0, count)]
            while let end = input.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(input[..<end])
                input.removeSubrange(...end)
                take(line, handle)
            }
            if count <= 0 || input.count > BridgeClient.maximumLine {
                source?.release()
                gone(self)
            }
        }
    }

    private func take(
        _ line: [UInt8], _ handle: @PlayerLoop (String, JSONValue, @escaping BridgeServer.Reply) -> Void
    ) {
        guard let request = try? JSONReader.read(line), let method = request["method"]?.stringValue else {
            return send(["jsonrpc": "2.0", "id": .null, "error": ["code": -32600, "message": "not a request"]])
        }
        let id = request["id"] ?? .null
        handle(method, request["params"] ?? [:]) { [weak self] result in
            switch result {
            case .success(let value): self?.send(["jsonrpc": "2.0", "id": id, "result": value])
            case .failure(let refusal):
                self?.send([
                    "jsonrpc": "2.0", "id": id,
                    "error": ["code": .integer(Int64(refusal.code)), "message": .string(refusal.message)],
                ])
            }
        }
    }

    /// Sends a message. An answer fits into the kernel's send buffer; a client that does not read loses it.
    private func send(_ message: JSONValue) {
        let line = Array((JSONWriter.text(message) + "\n").utf8)
        _ = line.withUnsafeBytes { UnixSocket.send(descriptor, $0) }
    }
}
