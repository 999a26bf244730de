import AudioCore
import ControlProtocol
import DaemonRuntime
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport

/// Takes what the server hands over; answers at once, or keeps the answer for the test to give.
@PlayerLoop final class RecordingHandler: MethodHandler {
    var requests: [MethodRequest] = []
    var held: [@PlayerLoop (MethodResult) -> Void] = []
    var gone: [ClientIdentity] = []
    /// Nil: the answer is held.
    var result: @PlayerLoop (MethodRequest) -> MethodResult? = { _ in .success([:]) }

    func perform(_ request: MethodRequest, _ answer: @escaping @PlayerLoop (MethodResult) -> Void) {
        requests.append(request)
        if let result = result(request) { answer(result) } else { held.append(answer) }
    }

    nonisolated func refusal(of source: MediaSource, _ abandoned: AbandonFlag) -> RPCError? {
        source.uri.hasSuffix(".broken") ? .noSuchContent("broken", uris: [source.uri]) : nil
    }

    func clientGone(_ client: ClientIdentity) { gone.append(client) }

    func take(_ configuration: Configuration, instead before: Configuration, by: Originator) {}

    var isAtWork = false
    var wouldLose = false

    func finish() {}
}

/// A control server on a socket of its own, on the loop of the test process.
final class ServerHarness: Sendable {
    let folder = TemporaryFolder()
    let path: String
    let server: ControlServer
    let handler: RecordingHandler

    init(roles: PeerRoles = PeerRoles(ownUID: geteuid()), roots: [String] = []) async throws {
        path = folder.path + "/control.sock"
        chmod(folder.path, 0o755)
        let path = path
        (server, handler) = try await LoopThread.run {
            let listener = try UnixSocket.listen(path)
            var state = NowPlayingState(
                anchor: PlaybackAnchor(elapsed: 0, rate: 0, monotonic: MonotonicTime(nanoseconds: 1)))
            state.instance = "0123456789abcdef"
            state.sequence = 1
            let options = ControlServerOptions(
                roles: roles, mediaRoots: MediaRoots(roots), descriptorLimit: DescriptorLimit.raise(to: 16384),
                version: "1.2.3", bootID: "boot")
            let server = ControlServer(EventLoop.current, listener: listener, options: options, state: state)
            let handler = RecordingHandler()
            server.begin(handler) {}
            return (server, handler)
        }
    }

    /// Publishes the next state.
    func publish(_ cause: Cause) async {
        let server = server
        await LoopThread.run {
            var state = server.state
            state.sequence += 1
            state.cause = cause
            server.publish(state)
        }
    }

    func end() async {
        let server = server
        await LoopThread.run { server.end() }
    }

    /// Waits until something holds on the loop, looking after each of its turns; false: it did not within ten seconds.
    func until(_ condition: @escaping @PlayerLoop @Sendable () -> Bool) async -> Bool {
        let end = EventLoop.now.advanced(bySeconds: 60)
        while EventLoop.now < end {
            if await LoopThread.run({ condition() }) { return true }
            await Task.yield()
        }
        return false
    }
}

/// A client that speaks bytes. Reads fail after ten seconds.
final class RawClient {
    enum Failure: Error { case timeout, closed, system(Int32) }

    let descriptor: Int32
    private var buffer: [UInt8] = []

    init(_ path: String) throws {
        descriptor = try UnixSocket.connect(path)
    }

    deinit { close(descriptor) }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Sends all, waiting where it must.
    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                UnixSocket.send(descriptor, UnsafeRawBufferPointer(rebasing: $0[sent...]))
            }
            if count == -Int(EAGAIN) {
                try wait(Int16(POLLOUT))
            } else if count < 0 {
                throw Failure.system(Int32(-count))
            }
            sent += max(0, count)
        }
    }

    func request(_ id: Int, _ method: String, _ parameters: JSONValue? = nil) throws {
        var writer = JSONWriter()
        writer.request(
            id: Array("\(id)".utf8), method: method, parameters: parameters?.objectValue ?? JSONObject())
        writer.newline()
        try send(writer.bytes)
    }

    /// Asks, and returns the next line, which must be the answer.
    func call(_ method: String, _ parameters: JSONValue? = nil) throws -> JSONValue {
        try request(1, method, parameters)
        return try read()
    }

    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    private func wait(_ events: Int16) throws {
        var poll = pollfd(fd: descriptor, events: events, revents: 0)
        guard Glibc.poll(&poll, 1, 10_000) == 1 else { throw Failure.timeout }
    }

    /// The next line, as text without its end.
    func readLine() throws -> String {
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        var searched = 0
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { buffer.removeFirst(end + 1) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            searched = buffer.count
            try wait(Int16(POLLIN))
            let got = recv(descriptor, &chunk, chunk.count, 0)
            if got == 0 { throw Failure.closed }
            if got < 0, errno != EAGAIN { throw Failure.system(errno) }
            buffer += chunk.prefix(max(0, got))
        }
    }

    func read() throws -> JSONValue { try JSONReader.read(try readLine()) }

    /// True if the server has closed the connection; skips earlier lines.
    func isClosedByServer() throws -> Bool {
        do {
            while true { _ = try readLine() }
        } catch Failure.closed {
            return true
        } catch Failure.system(ECONNRESET) {
            return true
        }
    }
}

extension JSONValue {
    /// The number of the error in an answer.
    var errorCode: Int64? { self["error"]?["code"]?.integerValue }
    var status: String? { self["error"]?["data"]?["status"]?.stringValue }
}
