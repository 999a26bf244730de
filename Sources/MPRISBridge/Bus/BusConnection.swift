import CSystemd
import Glibc
import LinuxSystem

/// One connection to a message bus, on the loop, by sd-bus of libsystemd. It waits by inotify for a bus that is not there
/// yet. It ends for good when the bus ends.
@PlayerLoop final class BusConnection {
    /// Callbacks of a connection.
    struct Handlers {
        /// Called for each method call of the object, except those of `org.freedesktop.DBus.Peer`.
        var call: @PlayerLoop (BusMessage) -> Void
        /// Called when the connection gains or loses the name.
        var owner: @PlayerLoop (_ isOwner: Bool) -> Void
        /// Called with the bus's message when the bus denies the name.
        var refused: @PlayerLoop (String) -> Void
        /// Called when the connection has ended.
        var end: @PlayerLoop () -> Void
    }

    private let loop: EventLoop
    private let bus: OpaquePointer
    private let name: String
    private let handlers: Handlers
    /// True while this connection requests or owns the name.
    private var wantsName = false
    private var isClosed = false
    /// True if this connection owns the name.
    private(set) var isOwner = false
    /// True if the bus has ever answered.
    private(set) var wasAnswered = false

    /// Connects to the bus at `address` and serves the object at `path`; `setName` requests `name`. Throws when the address
    /// is invalid or can never be reached.
    init(
        _ loop: EventLoop, address: String, path: String, name: String, _ handlers: Handlers
    ) throws(SystemError) {
        self.loop = loop
        self.name = name
        self.handlers = handlers
        var made: OpaquePointer?
        let result = sd_bus_new(&made)
        guard result >= 0, let made else { throw SystemError("connect to the bus", code: -result) }
        bus = made
        try check(sd_bus_set_address(bus, address), "use the address \(address)")
        try check(sd_bus_set_bus_client(bus, 1), "connect to the bus")
        try check(sd_bus_set_watch_bind(bus, 1), "wait for the bus")
        try check(loop.attach(bus), "connect to the bus")
        try check(sd_bus_add_filter(bus, nil, BusConnection.filter, context), "connect to the bus")
        try check(sd_bus_add_object(bus, nil, path, BusConnection.called, context), "connect to the bus")
        try check(sd_bus_start(bus), "connect to the bus at \(address)")
    }

    isolated deinit {
        if !isClosed { sd_bus_close(bus) }
        sd_bus_unref(bus)
    }

    /// Closes the connection without a call of a handler. Not to be called from a handler.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        // The bus releases the name with the connection. A bus that does not read loses the last signals.
        sd_bus_close(bus)
        loop.detach(bus)
    }

    // MARK: The name

    /// Requests the name, or releases it.
    func setName(_ isWanted: Bool) {
        guard isWanted != wantsName, !isClosed else { return }
        wantsName = isWanted
        if isWanted {
            sd_bus_request_name_async(
                bus, nil, name, UInt64(SD_BUS_NAME_QUEUE),
                { reply, context, _ in
                    BusConnection.enter(context) { $0.nameAnswered(UInt(bitPattern: reply)) }
                }, context)
        } else {
            isOwner = false
            sd_bus_release_name_async(bus, nil, name, { _, _, _ in 0 }, nil)
        }
    }

    private func nameAnswered(_ reply: UInt) {
        guard let reply = message(reply), reply.isError else { return }
        // sd-bus answers with other errors when the connection ends; `lost` reports that end.
        let isRefusal = ["AccessDenied", "InvalidArgs"].contains {
            sd_bus_message_is_method_error(reply.pointer, "org.freedesktop.DBus.Error.\($0)") > 0
        }
        if isRefusal { handlers.refused(reply.errorText) }
    }

    // MARK: Messages

    /// Sends a signal of the object at `path` to the unique name `receiver`; nil: to all connections of the bus.
    func signal(
        path: String, interface: String, member: String, to receiver: String?, _ write: (BusMessage) -> Void
    ) {
        var made: OpaquePointer?
        guard !isClosed, sd_bus_message_new_signal(bus, &made, path, interface, member) >= 0, let made else { return }
        let message = BusMessage(owning: made)
        if let receiver, sd_bus_message_set_destination(message.pointer, receiver) < 0 { return }
        write(message)
        if message.isSound { sd_bus_send(bus, message.pointer, nil) }
    }

    /// Answers a call.
    func reply(to call: BusMessage, _ write: (BusMessage) -> Void = { _ in }) {
        var made: OpaquePointer?
        guard !isClosed, sd_bus_message_new_method_return(call.pointer, &made) >= 0, let made else { return }
        let message = BusMessage(owning: made)
        write(message)
        guard message.isSound else { return refuse(call, BusError(.failed, "cannot write the answer")) }
        sd_bus_send(bus, message.pointer, nil)
    }

    /// Answers a call with an error.
    func refuse(_ call: BusMessage, _ error: BusError) {
        guard !isClosed else { return }
        error.name.withCString { name in
            error.message.withCString { message in
                var words = sd_bus_error(name: name, message: message, _need_free: 0)
                sd_bus_reply_method_error(call.pointer, &words)
            }
        }
    }

    /// Calls a method of the bus itself. `answer` gets the reply, which may be an error; nil: the call could not be sent.
    func ask(_ member: String, _ argument: String, _ answer: @escaping @PlayerLoop (BusMessage?) -> Void) {
        var made: OpaquePointer?
        let bus = "org.freedesktop.DBus"
        guard !isClosed,
            sd_bus_message_new_method_call(self.bus, &made, bus, "/org/freedesktop/DBus", bus, member) >= 0, let made
        else { return answer(nil) }
        let message = BusMessage(owning: made)
        message.append(.string(argument))
        let question = Question(answer)
        let sent = sd_bus_call_async(
            self.bus, nil, message.pointer,
            { reply, context, _ in
                let (context, reply) = (UInt(bitPattern: context), UInt(bitPattern: reply))
                PlayerLoop.assumeIsolated {
                    let question = Unmanaged<Question>.fromOpaque(UnsafeRawPointer(bitPattern: context)!)
                    question.takeRetainedValue().answer(
                        OpaquePointer(bitPattern: reply).map { BusMessage(sharing: $0) })
                }
                return 0
            }, Unmanaged.passRetained(question).toOpaque(), 0)
        if sent < 0 {
            Unmanaged.passUnretained(question).release()
            answer(nil)
        }
    }

    /// Calls `gone` once when the unique name `name` leaves the bus, or when the bus refuses the watch. Nil: the bus can't
    /// be asked.
    func watch(_ name: String, _ gone: @escaping @PlayerLoop () -> Void) -> BusWatch? {
        isClosed ? nil : BusWatch(bus, name: name, gone)
    }

    /// A callback for an answer of the bus. If the connection ends first, sd-bus answers in its place.
    private final class Question {
        let answer: @PlayerLoop (BusMessage?) -> Void
        init(_ answer: @escaping @PlayerLoop (BusMessage?) -> Void) { self.answer = answer }
    }

    // MARK: Callbacks

    private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    private func check(_ result: Int32, _ operation: String) throws(SystemError) {
        if result < 0 { throw SystemError(operation, code: -result) }
    }

    private func message(_ address: UInt) -> BusMessage? {
        OpaquePointer(bitPattern: address).map { BusMessage(sharing: $0) }
    }

    private nonisolated static let called: sd_bus_message_handler_t = { message, context, _ in
        let message = UInt(bitPattern: message)
        enter(context) { connection in
            if let message = connection.message(message) { connection.handlers.call(message) }
        }
        return 1
    }

    private nonisolated static let filter: sd_bus_message_handler_t = { message, context, _ in
        let message = UInt(bitPattern: message)
        enter(context) { connection in
            if let message = connection.message(message) { connection.passed(message) }
        }
        return 0
    }

    /// Handles messages of the bus itself.
    private func passed(_ message: BusMessage) {
        if sd_bus_message_is_signal(message.pointer, "org.freedesktop.DBus.Local", "Disconnected") > 0 {
            isClosed = true
            isOwner = false
            // A caller on the stack still uses the connection.
            let end = handlers.end
            return loop.later { end() }
        }
        wasAnswered = true
        guard message.interface == "org.freedesktop.DBus", message.sender == "org.freedesktop.DBus" else { return }
        switch message.member {
        case "NameAcquired" where message.readText() == name: change(isOwner: true)
        case "NameLost" where message.readText() == name: change(isOwner: false)
        default: break
        }
        sd_bus_message_rewind(message.pointer, 1)
    }

    private func change(isOwner: Bool) {
        self.isOwner = isOwner && wantsName
        handlers.owner(self.isOwner)
    }

    /// Enters the loop's domain from a callback of sd-bus. The connection may be released inside.
    @discardableResult private nonisolated static func enter(
        _ context: UnsafeMutableRawPointer?, _ body: @PlayerLoop (BusConnection) -> Void
    ) -> Int32 {
        let context = UInt(bitPattern: context)
        PlayerLoop.assumeIsolated {
            let connection = Unmanaged<BusConnection>.fromOpaque(UnsafeRawPointer(bitPattern: context)!)
                .takeUnretainedValue()
            withExtendedLifetime(connection) { body(connection) }
        }
        return 0
    }
}
