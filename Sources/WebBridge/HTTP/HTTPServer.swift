import CLinux
import CMicroHTTP
import CWebAnswers
import Glibc
import LinuxSystem
import NowPlaying
import WebAccess
import WebProtocol

/// Serves requests of the web.
@PlayerLoop protocol HTTPHandler: AnyObject {
    /// Judges a request by its head, before its body. Throws a refusal.
    func exchange(_ head: RequestHead, _ connection: HTTPConnection) throws(HTTPFault) -> HTTPExchange
    /// Answers a complete request, now or later.
    func serve(_ exchange: HTTPExchange)
}

/// libmicrohttpd on the bridge's event loop. The bridge accepts the connections.
@PlayerLoop final class HTTPServer {
    /// Certificate and key of TLS, in PEM.
    struct Identity: Equatable, Sendable {
        let certificate: String
        let key: String
    }

    private let loop: EventLoop
    private unowned let handler: any HTTPHandler
    private var daemon: OpaquePointer?
    private var source: EventSource?
    private var timeout: EventSource?
    private var connections: [Int32: HTTPConnection] = [:]
    /// Number of connections that MHD still has to close.
    private var closing = 0
    private var order = HeadOrder()
    private var headLimit: EventSource?
    private var isRunning = false
    /// Called when the last connection of a retired server has ended.
    private var onRetirement: (@PlayerLoop () -> Void)?
    private var willRun = false

    /// Maximum number of connections, including upgraded ones.
    private static let maximumConnections = 512
    /// Maximum number of connections that MHD still has to close.
    private static let maximumClosing = 256
    /// Seconds for the head of a request.
    private static let headSeconds = 10.0
    /// Seconds without traffic after which a connection ends.
    private static let idleSeconds: UInt32 = 30

    /// A server without connections. Nil: the certificate and the key can't be used, or memory is short.
    init?(_ loop: EventLoop, _ handler: any HTTPHandler, _ identity: Identity?) {
        self.loop = loop
        self.handler = handler
        let context = Unmanaged.passUnretained(self).toOpaque()
        let made = web_start(
            { context, handle, _, method, version, data, size, state in
                HTTPServer.access(context, handle, method, version, data, size, state)
            },
            { context, handle, _, code in
                guard web_is_closed(code) != 0 else { return }
                HTTPServer.on(context, handle) { $0.closed($1) }
            },
            { context, handle, _, _ in HTTPServer.on(context, handle) { $0.completed($1) } },
            { context, target, handle in
                let text = target.map { String(cString: $0) } ?? ""
                HTTPServer.on(context, handle) { $0.connections[web_socket($1)]?.note(target: text, $1) }
                return nil
            }, context, UInt32(Self.maximumConnections + Self.maximumClosing), RequestHead.maximumBytes * 2,
            Self.idleSeconds,
            identity?.certificate, identity?.key)
        guard let made else { return nil }
        daemon = made
        source = loop.watch(web_descriptor(made), UInt32(EPOLLIN.rawValue)) { [unowned self] _ in run() }
    }

    /// Open connections.
    var count: Int { connections.count }

    /// Takes no more connections. `retired` is called once, after the last one and the end of the server.
    func retire(_ retired: @escaping @PlayerLoop () -> Void) {
        onRetirement = retired
        endIfRetired()
    }

    private func endIfRetired() {
        guard connections.isEmpty, onRetirement != nil else { return }
        // A callback of MHD may be on the stack.
        loop.later { [weak self] in
            guard let self, let retired = onRetirement else { return }
            onRetirement = nil
            end()
            retired()
        }
    }

    /// Takes a connection. At the limit an older one is closed.
    func take(_ descriptor: Int32, _ facts: AccessConnection) {
        guard let daemon else { return _ = close(descriptor) }
        if connections.count - closing >= Self.maximumConnections, !makeRoom() { return _ = close(descriptor) }
        let connection = HTTPConnection(self, loop, descriptor, facts)
        connections[descriptor] = connection
        // Otherwise the second of two short answers waits for the client's acknowledgement of the first, which takes 40 ms.
        TCPSocket.sendAtOnce(descriptor)
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let added = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                getpeername(descriptor, address, &length)
                return MHD_add_connection(daemon, descriptor, address, length)
            }
        }
        // MHD has closed it.
        guard added == .YES else {
            connection.gone()
            return connections[descriptor] = nil
        }
        awaitHead(connection)
        // Many connections may arrive at once: one call of MHD serves them all.
        runSoon()
    }

    /// Closes the oldest connection of the larger group: connections that wait for a head, or requests of strangers. A request
    /// of a known caller ends only while its body arrives. False: no connection can be closed.
    private func makeRoom() -> Bool {
        guard closing < Self.maximumClosing else { return false }
        var heads = 0
        var strangers: [HTTPConnection] = []
        var bodies: [HTTPConnection] = []
        for connection in connections.values {
            switch connection.phase {
            case .head: heads += 1
            case .body where connection.caller != nil: bodies.append(connection)
            case .body: strangers.append(connection)
            case .answer: if connection.caller == nil { strangers.append(connection) }
            case .upgraded, .closing: break
            }
        }
        let stranger = heads > strangers.count ? order.first : Self.oldest(strangers)
        let oldest = stranger ?? order.first ?? Self.oldest(bodies)
        oldest?.close()
        return oldest != nil
    }

    private static func oldest(_ connections: [HTTPConnection]) -> HTTPConnection? {
        connections.min { $0.number < $1.number }
    }

    /// Throws if this caller already has the maximum number of requests.
    private func checkPlaces(_ caller: AccessCaller, _ own: HTTPConnection) throws(HTTPFault) {
        let limit = Self.places(caller)
        guard connections.count > limit else { return }
        let others = connections.values.count {
            $0 !== own && $0.phase != .closing && $0.caller?.identity == caller.identity
        }
        guard others >= limit else { return }
        throw HTTPFault(
            .tooManyRequests, "\(limit) requests of this caller have not ended; end one of them",
            headers: ["Retry-After": "5"])
    }

    /// Maximum requests of one caller at the same time, so that no caller can use up all connections.
    private static func places(_ caller: AccessCaller) -> Int {
        switch caller.identity {
        case .device: 64
        case .anonymous: 128
        case .user: 256
        }
    }

    /// Counts a connection that closes as soon as MHD is served.
    func willClose() { closing += 1 }

    // MARK: Heads that take too long

    private func awaitHead(_ connection: HTTPConnection) {
        order.add(connection, until: EventLoop.now.advanced(bySeconds: Self.headSeconds))
        watchHeads()
    }

    private func watchHeads() {
        guard headLimit == nil, let due = order.due else { return }
        headLimit = loop.deadline(due) { [unowned self] in
            headLimit = nil
            while let due = order.due, due <= EventLoop.now { order.first?.close() }
            watchHeads()
        }
    }

    // MARK: The library

    /// Serves MHD, now or after the present call of it.
    func kick() {
        if isRunning {
            runSoon()
        } else {
            run()
        }
    }

    /// Serves MHD in the next turn of the loop.
    func kickSoon() { runSoon() }

    private func runSoon() {
        guard !willRun else { return }
        willRun = true
        loop.later { [weak self] in
            self?.willRun = false
            self?.run()
        }
    }

    private func run() {
        guard let daemon, !isRunning else { return }
        isRunning = true
        MHD_run(daemon)
        isRunning = false
        var milliseconds: UInt64 = 0
        guard MHD_get_timeout(daemon, &milliseconds) == .YES else { return timeout = nil }
        // MHD's sockets are edge-triggered, so more events may wait.
        if milliseconds == 0 { return runSoon() }
        let due = EventLoop.now.advanced(bySeconds: Double(min(milliseconds, 1 << 20)) / 1000)
        if let timeout { return timeout.setDeadline(due) }
        timeout = loop.deadline(due) { [unowned self] in run() }
    }

    /// Closes all connections, and ends.
    func end() {
        for connection in connections.values { connection.close() }
        run()
        source = nil
        timeout = nil
        headLimit = nil
        // MHD would use an open connection after the end of the daemon.
        if connections.isEmpty { MHD_stop_daemon(daemon) }
        daemon = nil
    }

    private nonisolated static func on(
        _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?,
        _ body: @PlayerLoop (HTTPServer, OpaquePointer) -> Void
    ) {
        let (context, handle) = (UInt(bitPattern: context), UInt(bitPattern: handle))
        PlayerLoop.assumeIsolated {
            guard let handle = OpaquePointer(bitPattern: handle) else { return }
            body(
                Unmanaged<HTTPServer>.fromOpaque(UnsafeRawPointer(bitPattern: context)!).takeUnretainedValue(), handle)
        }
    }

    private func closed(_ handle: OpaquePointer) {
        guard let connection = connections.removeValue(forKey: web_socket(handle)) else { return }
        if connection.phase == .closing { closing -= 1 }
        connection.gone()
        endIfRetired()
    }

    private func completed(_ handle: OpaquePointer) {
        guard let connection = connections[web_socket(handle)] else { return }
        awaitHead(connection)
    }

    // MARK: Requests

    private nonisolated static func access(
        _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?, _ method: UnsafePointer<CChar>?,
        _ version: UnsafePointer<CChar>?, _ data: UnsafePointer<CChar>?, _ size: UnsafeMutablePointer<Int>?,
        _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> MHD_Result {
        let words = [method, version].map { $0.map { String(cString: $0) } ?? "" }
        let count = size?.pointee ?? 0
        let isFirst = state?.pointee == nil
        // Any pointer marks the request as known.
        state?.pointee = UnsafeMutableRawPointer(bitPattern: 1)
        var result = MHD_Result.NO
        let bytes = UInt(bitPattern: data)
        on(context, handle) { server, handle in
            if isFirst {
                result = server.begin(handle, words[0], words[1])
            } else if count > 0 {
                let part = UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: bytes), count: count)
                result = server.connections[web_socket(handle)]?.exchange?.take(part) == true ? .YES : .NO
            } else {
                result = server.proceed(handle)
            }
        }
        if !isFirst { size?.pointee = 0 }
        return result
    }

    private func begin(_ handle: OpaquePointer, _ method: String, _ version: String) -> MHD_Result {
        guard let connection = connections[web_socket(handle)] else { return .NO }
        do throws(HTTPFault) {
            let head = try RequestHead(
                method: method, target: connection.target, version: version, headers: Self.headers(handle))
            let exchange = try handler.exchange(head, connection)
            if let caller = exchange.caller { try checkPlaces(caller, connection) }
            connection.begin(exchange, handle, hasBody: head.bodyLength != 0)
            return .YES
        } catch {
            connection.begin(nil, handle, hasBody: false)
            var answer = HTTPAnswer(error)
            // The end of the request is unknown, or its body is unwanted.
            answer.add("Connection", "close")
            return send(answer, handle)
        }
    }

    private func proceed(_ handle: OpaquePointer) -> MHD_Result {
        guard let connection = connections[web_socket(handle)], let exchange = connection.exchange else { return .NO }
        if exchange.complete() { handler.serve(exchange) }
        guard let answer = exchange.takeAnswer() else {
            MHD_suspend_connection(handle)
            return .YES
        }
        if case .upgrade = answer.body { connection.upgraded() }
        return send(answer, handle)
    }

    private func send(_ answer: HTTPAnswer, _ handle: OpaquePointer) -> MHD_Result {
        guard let response = answer.response() else { return .NO }
        defer { MHD_destroy_response(response) }
        web_begin_answer(web_socket(handle))
        return MHD_queue_response(handle, answer.status.rawValue, response)
    }

    private static func headers(_ handle: OpaquePointer) -> [(name: String, value: String)] {
        final class Collector { var headers: [(name: String, value: String)] = [] }
        let collector = Collector()
        MHD_get_connection_values_n(
            handle, .HEADER_KIND,
            { context, _, name, nameCount, value, valueCount in
                func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
                    String(
                        decoding: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count), as: UTF8.self)
                }
                guard let context else { return .NO }
                Unmanaged<Collector>.fromOpaque(context).takeUnretainedValue()
                    .headers.append((text(name, nameCount), text(value, valueCount)))
                return .YES
            }, Unmanaged.passUnretained(collector).toOpaque())
        return collector.headers
    }
}
