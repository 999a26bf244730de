import CLinux
import CMicroHTTP
import CWebAnswers
import Glibc
import LinuxSystem
import NowPlaying
import WebAccess

/// One connection of HTTP. libmicrohttpd owns its socket.
@PlayerLoop final class HTTPConnection {
    /// Progress of a connection.
    enum Phase: Equatable {
        /// The head of a request is not complete. The number orders connections by the beginning of this phase.
        case head(Int)
        /// The body of a request is not complete.
        case body
        /// A request gets its answer.
        case answer
        /// The connection uses another protocol.
        case upgraded
        case closing
    }

    let loop: EventLoop
    /// Descriptor, owned by MHD and valid until MHD reports the end of the connection.
    let descriptor: Int32
    let facts: AccessConnection
    private(set) var phase = Phase.head(0)
    /// Orders connections by the beginning of their latest request.
    private(set) var number = 0
    /// MHD's handle; nil: it is not known yet.
    private(set) var handle: OpaquePointer?
    /// The raw target of the request that arrives.
    private(set) var target = ""
    /// The request in progress.
    private(set) var exchange: HTTPExchange?
    private unowned let server: HTTPServer
    /// Ends the connection when the body of its request takes too long.
    private var bodyLimit: EventSource?

    /// The caller of the request in progress; nil: a stranger, or no request is in progress.
    var caller: AccessCaller? { exchange?.caller }

    /// A connection that was just accepted.
    init(_ server: HTTPServer, _ loop: EventLoop, _ descriptor: Int32, _ facts: AccessConnection) {
        self.server = server
        self.loop = loop
        self.descriptor = descriptor
        self.facts = facts
        web_watch_heads(descriptor, facts.usesTLS ? 1 : 0)
    }

    /// Waits for a head. `number`: the place in the order of waiting connections.
    func awaitHead(_ number: Int) {
        exchange = nil
        bodyLimit = nil
        self.number = number
        if phase != .upgraded { web_await_head(descriptor) }
        if phase != .closing { phase = .head(number) }
    }

    /// Records the target of the request that arrives.
    func note(target: String, _ handle: OpaquePointer) {
        self.target = target
        self.handle = handle
    }

    /// The head of a request is complete.
    func begin(_ exchange: HTTPExchange?, _ handle: OpaquePointer, hasBody: Bool) {
        self.handle = handle
        self.exchange = exchange
        guard phase != .closing else { return }
        phase = hasBody ? .body : .answer
        guard hasBody, let exchange else { return }
        bodyLimit = loop.deadline(EventLoop.now.advanced(bySeconds: exchange.bodySeconds)) { [unowned self] in close() }
    }

    /// The request is complete.
    func bodyIsComplete() {
        bodyLimit = nil
        if phase == .body { phase = .answer }
    }

    /// The connection was upgraded.
    func upgraded() {
        web_forget_heads(descriptor)
        if phase != .closing { phase = .upgraded }
    }

    /// Serves MHD after a connection has changed.
    func kick() { server.kick() }

    /// Ends the connection at once. MHD closes the socket when it reads the end.
    func close() {
        guard phase != .closing else { return }
        phase = .closing
        server.willClose()
        linux_shut_down(descriptor)
        server.kickSoon()
    }

    /// MHD has closed the connection.
    func gone() {
        web_forget_heads(descriptor)
        phase = .closing
        handle = nil
        exchange = nil
        bodyLimit = nil
    }

    /// Calls `gone` when the client has closed the connection, for a connection that MHD does not watch.
    func watchGone(_ gone: @escaping @PlayerLoop () -> Void) -> EventSource? {
        loop.watch(descriptor, UInt32(EPOLLRDHUP.rawValue)) { _ in gone() }
    }
}
