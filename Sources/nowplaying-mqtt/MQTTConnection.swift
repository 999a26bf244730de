import CLinux
import CMosquitto
import Glibc
import LinuxSystem
import NowPlaying

/// Address of the broker, and the account there.
struct MQTTAccount {
    var clientID: String
    var host: String
    /// TCP port.
    var port: Int32
    var user: String?
    var password: String?
    /// Nil: no TLS.
    var tls: (authority: String?, certificate: String?, key: String?)?
    /// Seconds; 0: none.
    var keepAlive: Int32
    /// Last will, which the broker publishes when the connection is lost.
    var will: (topic: String, payload: String)
}

/// The client library on our loop, without a thread of its own. It wakes for data of the broker, and for output that
/// the kernel did not accept at once.
@PlayerLoop final class MQTTConnection {
    /// Called when the broker accepts the connection. `keepAlive`: seconds that the broker requires; 0: none.
    var onConnect: (@PlayerLoop (_ keepAlive: Int) -> Void)?
    /// Called when the connection has ended or could not begin, with the reason.
    var onEnd: (@PlayerLoop (_ why: String) -> Void)?
    /// Called with each message that is not retained.
    var onMessage: (@PlayerLoop (_ topic: String, _ payload: [UInt8]) -> Void)?
    /// Called when the broker has received all delayed output.
    var onDrain: (@PlayerLoop () -> Void)?
    private(set) var isConnected = false
    /// True after a message for which there was no memory. A subscription would bring the next one.
    private(set) var isFlooded = false

    /// Bytes of one packet from the broker, at most: a payload of 64 KiB, and its topic.
    private static let maximumPacket: UInt32 = (64 << 10) + 1024

    private let loop: EventLoop
    private let account: MQTTAccount
    private let client: OpaquePointer
    private var probe: BrokerProbe?
    private var source: EventSource?
    private var signOfLife: EventSource?
    private var keepAlive: Int
    private var isOldProtocol = false
    /// Reason of the broker's refusal, until the end of the connection is reported.
    private var refusal: String?

    /// Prepares a client. Throws an error in words if a certificate is unusable.
    init(_ loop: EventLoop, _ account: MQTTAccount) throws(MQTTFailure) {
        self.loop = loop
        self.account = account
        keepAlive = Int(account.keepAlive)
        mosquitto_lib_init()
        guard let made = mosquitto_new(account.clientID, true, nil) else {
            throw MQTTFailure(words: "cannot create an MQTT client: \(String(cString: strerror(errno)))")
        }
        client = made
        let context = Unmanaged.passUnretained(self).toOpaque()
        mosquitto_user_data_set(client, context)
        mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5)
        mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1)
        mosquitto_username_pw_set(client, account.user, account.password)
        if let tls = account.tls {
            let result = mosquitto_tls_set(
                client, tls.authority, tls.authority == nil ? "/etc/ssl/certs" : nil, tls.certificate, tls.key, nil)
            guard result == MOSQ_ERR_SUCCESS.rawValue else {
                let file = [tls.authority, tls.certificate, tls.key].compactMap(\.self).first { access($0, R_OK) != 0 }
                let why = file.map { "\($0): \(String(cString: strerror(errno)))" } ?? Self.words(result)
                throw MQTTFailure(words: "cannot load the certificates: \(why)", isOfConfiguration: true)
            }
        }
        let will = Array(account.will.payload.utf8)
        mosquitto_will_set(client, account.will.topic, Int32(will.count), will, 0, true)
        setHandlers()
    }

    isolated deinit {
        source?.release()
        signOfLife?.release()
        mosquitto_destroy(client)
        mosquitto_lib_cleanup()
    }

    // MARK: From outside

    /// Starts to connect; `onConnect` or `onEnd` follows.
    func connect() {
        probe = BrokerProbe(loop, host: account.host, port: account.port) { [unowned self] failure in
            probe = nil
            if let failure { fail(failure) } else { open() }
        }
    }

    private func open() {
        refusal = nil
        var properties: OpaquePointer?
        if !isOldProtocol {
            let name = Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue)
            mosquitto_property_add_int32(&properties, name, MQTTConnection.maximumPacket)
        }
        defer { mosquitto_property_free_all(&properties) }
        let result = mosquitto_connect_bind_v5(
            client, account.host, account.port, account.keepAlive, nil, properties)
        guard result == MOSQ_ERR_SUCCESS.rawValue, mosquitto_socket(client) >= 0 else {
            return fail(Self.words(result))
        }
        watch()
    }

    /// Sends a message. Without a connection, the message is dropped.
    func publish(_ topic: String, _ payload: [UInt8], isRetained: Bool) {
        guard isConnected else { return }
        mosquitto_publish(client, nil, topic, Int32(payload.count), payload, 0, isRetained)
        update()
    }

    /// True if the broker has not received all messages yet: the library would keep the next one in memory.
    var hasUnsent: Bool { mosquitto_want_write(client) }

    /// Subscribes to this topic.
    func subscribe(_ topic: String) {
        // The broker sends no retained messages, and marks messages that it retains.
        let retain = MQTT_SUB_OPT_SEND_RETAIN_NEVER.rawValue | MQTT_SUB_OPT_RETAIN_AS_PUBLISHED.rawValue
        let options = isOldProtocol ? 0 : Int32(retain)
        mosquitto_subscribe_v5(client, nil, topic, 0, options, nil)
        update()
    }

    /// Disconnects properly, so that the broker does not publish the last will.
    func disconnect() {
        onEnd = nil
        probe = nil
        mosquitto_disconnect(client)
        for _ in 0..<16 where mosquitto_want_write(client) { mosquitto_loop_write(client, 1) }
        stopWatching()
    }

    // MARK: The loop

    private func watch() {
        let socket = mosquitto_socket(client)
        // The kernel detects a lost broker, and wakes the process only then.
        var values: [(Int32, Int32, Int32)] = [(SOL_SOCKET, SO_KEEPALIVE, 1)]
        let tcp = Int32(IPPROTO_TCP)
        values += [
            (tcp, TCP_KEEPIDLE, 120), (tcp, TCP_KEEPINTVL, 30), (tcp, TCP_KEEPCNT, 4), (tcp, TCP_USER_TIMEOUT, 240_000),
        ]
        for (level, name, value) in values {
            var value = value
            setsockopt(socket, level, name, &value, 4)
        }
        source = loop.watch(socket, wanted) { [unowned self] events in serve(events) }
        if source == nil { fail("cannot watch the connection") }
    }

    private var wanted: UInt32 {
        UInt32(EPOLLIN.rawValue) | (mosquitto_want_write(client) ? UInt32(EPOLLOUT.rawValue) : 0)
    }

    private func update() { source?.setEvents(wanted) }

    private func serve(_ events: UInt32) {
        if events & UInt32(EPOLLOUT.rawValue) != 0 {
            let result = mosquitto_loop_write(client, 1)
            guard result == MOSQ_ERR_SUCCESS.rawValue else { return over(result) }
            if isConnected, !hasUnsent { onDrain?() }
        }
        // A call reads one packet. The descriptor does not signal data that TLS has already decrypted.
        for _ in 0..<1000 {
            errno = 0
            let result = mosquitto_loop_read(client, 1)
            let isEmpty = errno == EAGAIN
            guard result == MOSQ_ERR_SUCCESS.rawValue else { return over(result) }
            if source == nil { return }
            if isEmpty { break }
        }
        update()
    }

    /// Reports the end of a connection whose handshake failed: the library calls back only for other ends.
    private func over(_ result: Int32) {
        if source != nil { fail("no connection: " + Self.words(result)) }
    }

    private func stopWatching() {
        source?.release()
        source = nil
        signOfLife?.release()
        signOfLife = nil
        isConnected = false
    }

    private func fail(_ why: String) {
        stopWatching()
        onEnd?(why)
    }

    private func armSignOfLife() {
        guard keepAlive > 0 else { return }
        let due = EventLoop.now.advanced(bySeconds: Double(keepAlive))
        signOfLife = loop.deadline(due) { [unowned self] in
            mosquitto_loop_misc(client)
            guard isConnected else { return }
            update()
            armSignOfLife()
        }
    }

    // MARK: Callbacks of the library

    fileprivate func connected(_ reason: Int32, _ insisted: UInt16?) {
        guard reason == 0 else {
            let isUnknownProtocol = reason == 1 || reason == Int32(MQTT_RC_UNSUPPORTED_PROTOCOL_VERSION.rawValue)
            if isUnknownProtocol { takeOldProtocol() }
            let words = reason < 128 ? mosquitto_connack_string(reason) : mosquitto_reason_string(reason)
            refusal = "the broker refuses: " + (words.map { String(cString: $0) } ?? "reason \(reason)")
            return
        }
        isConnected = true
        keepAlive = insisted.map(Int.init) ?? Int(account.keepAlive)
        armSignOfLife()
        onConnect?(keepAlive)
    }

    /// Makes the next attempt by MQTT 3.1.1.
    private func takeOldProtocol() {
        guard !isOldProtocol else { return }
        isOldProtocol = true
        mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V311)
    }

    fileprivate func disconnected(_ reason: Int32) {
        // The library has already closed the descriptor.
        let wasConnected = isConnected
        // libmosquitto 2.0.21 does not report an answer in MQTT 3.1.1: it finds it malformed.
        if !wasConnected, reason == MOSQ_ERR_MALFORMED_PACKET.rawValue { takeOldProtocol() }
        if reason == MOSQ_ERR_NOMEM.rawValue {
            isFlooded = true
            refusal = "a message of the broker needs more memory than this program may have"
        }
        stopWatching()
        let why = refusal ?? (wasConnected ? "the connection was lost" : "no connection: " + Self.words(reason))
        loop.later { [weak self] in self?.onEnd?(why) }
    }

    fileprivate func received(_ topic: String, _ payload: [UInt8], _ isRetained: Bool) {
        if !isRetained { onMessage?(topic, payload) }
    }

    /// Text for a result of libmosquitto or, from 128 on, for a reason code of the broker.
    static func words(_ code: Int32) -> String {
        if code == MOSQ_ERR_ERRNO.rawValue { return String(cString: strerror(errno)) }
        if code >= 128 { return mosquitto_reason_string(code).map { String(cString: $0) } ?? "reason \(code)" }
        return mosquitto_strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }

    private func setHandlers() {
        mosquitto_connect_v5_callback_set(client) { _, context, reason, _, properties in
            var insisted: UInt16 = 0
            let isThere =
                mosquitto_property_read_int16(properties, Int32(MQTT_PROP_SERVER_KEEP_ALIVE.rawValue), &insisted, false)
                != nil
            let address = UInt(bitPattern: context)
            let keepAlive = isThere ? insisted : nil
            PlayerLoop.assumeIsolated { MQTTConnection.at(address).connected(reason, keepAlive) }
        }
        mosquitto_disconnect_v5_callback_set(client) { _, context, reason, _ in
            let address = UInt(bitPattern: context)
            PlayerLoop.assumeIsolated { MQTTConnection.at(address).disconnected(reason) }
        }
        mosquitto_message_v5_callback_set(client) { _, context, message, _ in
            guard let message = message?.pointee, let topic = message.topic else { return }
            let bytes = UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen))
            let (text, payload, isRetained) = (String(cString: topic), Array(bytes), message.retain)
            let address = UInt(bitPattern: context)
            PlayerLoop.assumeIsolated { MQTTConnection.at(address).received(text, payload, isRetained) }
        }
    }

    private static func at(_ address: UInt) -> MQTTConnection {
        Unmanaged<MQTTConnection>.fromOpaque(UnsafeRawPointer(bitPattern: address)!).takeUnretainedValue()
    }
}

/// Reason why there is no client, in words.
struct MQTTFailure: Error {
    let words: String
    /// True if another attempt would fail, too.
    var isOfConfiguration = false
}
