import CLinux
import CMicroHTTP
import CWSLay
import Glibc
import LinuxSystem
import NowPlaying
import WebAccess
import WebProtocol

/// A WebSocket on an upgraded connection; libwslay reads and makes its frames (RFC 6455).
@PlayerLoop final class WebSocket {
    /// Called with each text.
    var onText: (@PlayerLoop ([UInt8]) -> Void)?
    /// Called once at the end of the connection.
    var onEnd: (@PlayerLoop () -> Void)?
    /// Called when the client becomes slow, and when it keeps up again.
    var onSlow: (@PlayerLoop (Bool) -> Void)?
    /// True while the bridge reads nothing from the client.
    private var isHeld = false

    private let loop: EventLoop
    private let connection: HTTPConnection
    private let descriptor: Int32
    private let handle: OpaquePointer
    private var first: ArraySlice<UInt8>
    private var context: wslay_event_context_ptr?
    private var source: EventSource?
    private var patience: EventSource?
    private var gone: EventSource?
    private var budget = 0
    /// Received texts that wait until the client has read the answers to earlier texts.
    private var waiting: [[UInt8]] = []
    /// The end of a frame whose start was sent without libwslay. The socket is choked while it is not empty.
    private var rest: ArraySlice<UInt8> = []
    private var isChoked = false
    private var isSlow = false
    private var isServing = false
    private var isEnded = false
    private var isLingering = false
    /// The message whose fragments arrive.
    private var arriving = ArrivingMessage()
    /// The bytes of that message among those of all callers.
    private let share: ArrivalBudget.Share
    private let pace: CallerPace
    private let caller: AccessCaller
    /// True while the socket waits for its caller's credit.
    private var isOutOfCredit = false
    /// True if the client sends nothing more.
    private var isBroken = false

    /// Maximum bytes of a client's message, the same as of a line of the daemon.
    private static let maximumMessage: UInt64 = 256 << 10
    /// Waiting bytes above which a client is slow.
    private static let slowBytes = 128 << 10
    /// Seconds in which a client has to read something.
    private static let patienceSeconds = 30.0
    /// Seconds for a client to read the close frame.
    private static let lingerSeconds = 2.0
    /// Bytes to read from a client in one turn.
    private static let turnBytes = 16 << 10

    /// A socket of a caller on this connection, within the bounds of `services`. Nil: memory is short.
    init?(
        _ connection: HTTPConnection, _ upgraded: UpgradeTaker.Connection, _ caller: AccessCaller, _ services: Services
    ) {
        share = services.arrivals.share(caller)
        pace = services.pace
        self.caller = caller
        loop = connection.loop
        self.connection = connection
        descriptor = upgraded.descriptor
        handle = upgraded.handle
        first = upgraded.first[...]
        var callbacks = wslay_event_callbacks()
        callbacks.recv_callback = { context, space, count, _, owner in
            WebSocket.on(owner) { $0.receive(context, space, count) }
        }
        callbacks.send_callback = { context, bytes, count, _, owner in
            WebSocket.on(owner) { $0.send(context, bytes, count) }
        }
        callbacks.on_frame_recv_start_callback = { context, frame, owner in
            guard let frame = frame?.pointee else { return }
            let (kind, count) = (UInt32(frame.opcode), Int(clamping: frame.payload_length))
            WebSocket.on(owner) { $0.beginFrame(kind, count) }
        }
        callbacks.on_msg_recv_callback = { _, message, owner in
            WebSocket.on(owner) { if let message { $0.take(message.pointee) } }
        }
        let owner = Unmanaged.passUnretained(self).toOpaque()
        guard wslay_event_context_server_init(&context, &callbacks, owner) == 0 else {
            web_end_upgrade(handle)
            return nil
        }
        wslay_event_config_set_max_recv_msg_length(context, Self.maximumMessage)
    }

    /// Begins to read.
    func begin() {
        source = loop.watch(descriptor, UInt32(EPOLLIN.rawValue)) { [unowned self] in happened($0) }
        guard let source else { return end() }
        if !caller.isOwner { source.yieldToOthers() }
        // libmicrohttpd may have switched the option off for an answer.
        TCPSocket.sendAtOnce(connection.descriptor)
        if connection.facts.usesTLS {
            // libmicrohttpd does not report the end of a connection with TLS.
            gone = connection.watchGone { [unowned self] in
                gone = nil
                connection.kick()
                happened(UInt32(EPOLLIN.rawValue))
                end()
            }
        }
        loop.later { [weak self] in self?.happened(UInt32(EPOLLIN.rawValue)) }
    }

    isolated deinit { if let context { wslay_event_context_free(context) } }

    /// Holds the reads from the client, or resumes them.
    func setHeld(_ isHeld: Bool) {
        guard isHeld != self.isHeld else { return }
        self.isHeld = isHeld
        loop.later { [weak self] in self?.settle() }
    }

    /// Sends a text.
    func send(_ text: [UInt8]) {
        guard !isEnded, !isLingering else { return }
        let wasChoked = isChoked
        if wasChoked || wslay_event_want_write(context) != 0 {
            queue(UInt8(WSLAY_TEXT_FRAME.rawValue), text)
        } else if sendAtOnce(text) {
            return
        }
        if rest.count + wslay_event_get_queued_msg_length(context) > Self.slowBytes, !isSlow {
            isSlow = true
            onSlow?(true)
        }
        if !wasChoked { settleSoonOrNow() }
    }

    /// Sends a frame with one system call, without a copy. No bytes may wait before it. False: a part of the frame waits now,
    /// or the connection has ended.
    private func sendAtOnce(_ text: [UInt8]) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 10, alignment: 1) { space in
            let head = UnsafeRawBufferPointer(rebasing: space[..<WebSocketFrame.writeHead(text.count, space)])
            var sent = text.withUnsafeBytes { UnixSocket.send(descriptor, head, $0) }
            if sent == -Int(EAGAIN) || sent == -Int(EINTR) { sent = 0 }
            // A read also finds the end of the connection.
            guard sent >= 0 else { return false }
            if sent == head.count + text.count { return true }
            rest = sent < head.count ? Array(head[sent...])[...] + text : text[(sent - head.count)...]
            isChoked = true
            return false
        }
    }

    /// Sends the end of a frame that has begun. False: the connection is broken.
    private func sendRest() -> Bool {
        guard !rest.isEmpty else { return true }
        let sent = rest.withUnsafeBytes { UnixSocket.send(descriptor, $0) }
        if sent == -Int(EAGAIN) || sent == -Int(EINTR) {
            isChoked = true
            return true
        }
        guard sent > 0 else { return false }
        patience = nil
        rest = sent == rest.count ? [] : rest.dropFirst(sent)
        isChoked = !rest.isEmpty
        return true
    }

    private func queue(_ kind: UInt8, _ bytes: [UInt8]) {
        guard !isEnded else { return }
        bytes.withUnsafeBufferPointer { bytes in
            var message = wslay_event_msg(opcode: kind, msg: bytes.baseAddress, msg_length: bytes.count)
            _ = wslay_event_queue_msg(context, &message)
        }
    }

    /// Sends the reason, and ends the connection when the client has closed it, or two seconds later.
    func close(_ code: Code, _ words: String) {
        guard !isEnded else { return }
        let reason = WebSocketFrame.reason(words)
        wslay_event_queue_close(context, code.rawValue, reason, reason.count)
        settleSoonOrNow()
    }

    /// Ends the connection at once.
    func end() {
        guard !isEnded else { return }
        isEnded = true
        source?.release()
        source = nil
        gone = nil
        patience = nil
        let ended = onEnd
        onEnd = nil
        onText = nil
        onSlow = nil
        web_end_upgrade(handle)
        connection.kick()
        ended?()
        // A handler of this object may be on the stack.
        loop.later { _ = self }
    }

    /// Reads further bytes until the end of the connection, after the closing handshake or a protocol error. A socket that
    /// closes with unread bytes would discard the close frame.
    private func linger() {
        guard !isLingering else { return }
        isLingering = true
        shutdown(descriptor, Int32(SHUT_WR))
        patience = loop.deadline(EventLoop.now.advanced(bySeconds: Self.lingerSeconds)) { [unowned self] in end() }
        source?.setEvents(UInt32(EPOLLIN.rawValue))
        drain()
    }

    /// Ends a connection after a framing error, for which libwslay would send no reason.
    private func fail() {
        guard wslay_event_get_close_sent(context) == 0, !isChoked else { return settle() }
        _ = WebSocketFrame.closing(.protocolError).withUnsafeBytes { UnixSocket.send(descriptor, $0) }
        linger()
    }

    private func drain() {
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { space in
            for _ in 0..<16 {
                let got = recv(descriptor, space.baseAddress, space.count, Int32(MSG_DONTWAIT))
                if got < 0, errno == EAGAIN || errno == EINTR { return }
                guard got > 0 else { return end() }
            }
        }
    }

    private func settleSoonOrNow() { if !isServing { settle() } }

    private func happened(_ events: UInt32) {
        guard !isEnded, !isLingering, events & UInt32(EPOLLIN.rawValue) != 0 else { return serve(events) }
        guard !isOutOfCredit else { return }
        isOutOfCredit = !pace.run(caller) {
            serve(events)
        } later: { [weak self] in
            guard let self else { return }
            isOutOfCredit = false
            happened(UInt32(EPOLLIN.rawValue))
        }
        if isOutOfCredit { settle() }
    }

    private func serve(_ events: UInt32) {
        guard !isEnded else { return }
        if isLingering { return drain() }
        budget = Self.turnBytes
        isServing = true
        if events & UInt32(EPOLLIN.rawValue) != 0, !isChoked, !isHeld, wslay_event_recv(context) != 0 {
            isServing = false
            return isBroken ? end() : fail()
        }
        isServing = false
        guard !isEnded else { return }
        if events & UInt32(EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { return end() }
        settle()
    }

    /// Sends as much as possible, and watches for the rest.
    private func settle() {
        guard !isEnded, !isLingering else { return }
        if wslay_event_get_close_received(context) != 0 { takeWaiting(waiting.count) }
        repeat {
            isChoked = false
            guard sendRest() else { return end() }
            isServing = true
            let result = isChoked ? 0 : wslay_event_send(context)
            isServing = false
            guard !isEnded else { return }
            guard result == 0 else { return end() }
        } while !isChoked && takeWaiting(1)
        guard !isEnded else { return }
        let isOver = wslay_event_get_close_sent(context) != 0 || wslay_event_want_read(context) == 0
        if isOver, rest.isEmpty, wslay_event_want_write(context) == 0 { return linger() }
        if isSlow, rest.isEmpty, wslay_event_get_queued_msg_length(context) == 0 {
            isSlow = false
            onSlow?(false)
        }
        if isChoked { watchPatience() } else { patience = nil }
        // The bytes after the request are not in the socket any more.
        if !first.isEmpty, !isHeld, !isChoked, !isOutOfCredit {
            return loop.later { [weak self] in self?.happened(UInt32(EPOLLIN.rawValue)) }
        }
        let reads = !isHeld && !isChoked && !isOutOfCredit && wslay_event_want_read(context) != 0
        source?.setEvents((reads ? UInt32(EPOLLIN.rawValue) : 0) | (isChoked ? UInt32(EPOLLOUT.rawValue) : 0))
    }

    /// Takes waiting texts, and queues their answers. False: none waits.
    @discardableResult private func takeWaiting(_ count: Int) -> Bool {
        let texts = waiting.prefix(count)
        waiting.removeFirst(texts.count)
        isServing = true
        for text in texts { onText?(text) }
        isServing = false
        return !texts.isEmpty && !isEnded
    }

    private func watchPatience() {
        guard patience == nil else { return }
        patience = loop.deadline(EventLoop.now.advanced(bySeconds: Self.patienceSeconds)) { [unowned self] in end() }
    }

    // MARK: Calls of the library

    private func receive(
        _ context: wslay_event_context_ptr?, _ space: UnsafeMutablePointer<UInt8>?, _ count: Int
    ) -> Int {
        if !first.isEmpty, let space {
            let part = first.prefix(count)
            for (index, byte) in part.enumerated() { space[index] = byte }
            first = first.dropFirst(part.count)
            return part.count
        }
        guard budget > 0, !isChoked, !isHeld else {
            wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK.rawValue)
            return -1
        }
        while true {
            let got = recv(descriptor, space, count, Int32(MSG_DONTWAIT))
            if got > 0 {
                budget -= got
                return got
            }
            if got < 0, errno == EINTR { continue }
            let waits = got < 0 && errno == EAGAIN
            isBroken = !waits
            wslay_event_set_error(
                context, waits ? WSLAY_ERR_WOULDBLOCK.rawValue : WSLAY_ERR_CALLBACK_FAILURE.rawValue)
            return -1
        }
    }

    private func send(_ context: wslay_event_context_ptr?, _ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int {
        let sent = UnixSocket.send(descriptor, UnsafeRawBufferPointer(start: bytes, count: count))
        if sent > 0 {
            patience = nil
            return sent
        }
        let waits = sent == -Int(EAGAIN) || sent == -Int(EINTR)
        if waits { isChoked = true }
        wslay_event_set_error(context, waits ? WSLAY_ERR_WOULDBLOCK.rawValue : WSLAY_ERR_CALLBACK_FAILURE.rawValue)
        return -1
    }

    /// Judges a frame by its head: the fragments of a message cost memory until its end, however short they are.
    private func beginFrame(_ kind: UInt32, _ count: Int) {
        switch kind {
        case WSLAY_CONNECTION_CLOSE.rawValue:
            // A close code of one byte is invalid (RFC 6455, section 5.5.1).
            if count == 1 { wslay_event_queue_close(context, Code.protocolError.rawValue, nil, 0) }
        case WSLAY_TEXT_FRAME.rawValue, WSLAY_BINARY_FRAME.rawValue: arrive(isFirst: true, count)
        case WSLAY_CONTINUATION_FRAME.rawValue: arrive(isFirst: false, count)
        case _: break
        }
    }

    private func arrive(isFirst: Bool, _ count: Int) {
        arriving.take(isFirst: isFirst, count: count)
        if arriving.hasTooManyFragments {
            refuse(.tooBig, "a message has more than \(ArrivingMessage.maximumFragments) fragments")
        } else if !share.set(arriving.cost) {
            refuse(.tryAgainLater, "the unfinished messages of this caller, or of all callers, are too long")
        }
    }

    private func refuse(_ code: Code, _ words: String) {
        close(code, words)
        wslay_event_shutdown_read(context)
    }

    private func take(_ message: wslay_event_on_msg_recv_arg) {
        switch UInt32(message.opcode) {
        case WSLAY_TEXT_FRAME.rawValue:
            arriving = ArrivingMessage()
            share.set(0)
            let text = Array(UnsafeBufferPointer(start: message.msg, count: message.msg_length))
            // One read may contain many requests, and each answer may be long.
            if isChoked || !waiting.isEmpty { waiting.append(text) } else { onText?(text) }
        case WSLAY_BINARY_FRAME.rawValue: close(.unsupportedData, "frames have to be text")
        case _: break
        }
        // The answers precede the answer to a close frame that waits after this message.
        if !isChoked, wslay_event_get_close_received(context) == 0 { wslay_event_send(context) }
    }

    private nonisolated static func on<T: Sendable>(
        _ owner: UnsafeMutableRawPointer?, _ body: @PlayerLoop (WebSocket) -> T
    ) -> T {
        let owner = UInt(bitPattern: owner)
        return PlayerLoop.assumeIsolated {
            body(Unmanaged<WebSocket>.fromOpaque(UnsafeRawPointer(bitPattern: owner)!).takeUnretainedValue())
        }
    }
}
