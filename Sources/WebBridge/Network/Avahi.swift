import CSystemd
import Glibc
import LinuxSystem
import NowPlaying
import NowPlayingClient

/// Announces a service by Avahi over the system bus, if Avahi runs. The bridge does not start Avahi and does not need it.
@PlayerLoop final class Avahi {
    /// The announced name; nil: nothing is announced.
    private(set) var announced: String?

    private let loop: EventLoop
    private let note: @PlayerLoop (String) -> Void
    private var bus: OpaquePointer?
    private var retry: EventSource?
    private var service: NetworkService?
    /// The name that is announced or being tried.
    private var name = ""
    private var renames = 0
    /// The unique name of Avahi: other connections may send signals of the same names.
    private var owner = ""
    /// The object of the bridge's service; nil: there is none.
    private var group: String?
    /// Number of the present turn. Answers to requests of earlier turns are dropped.
    private var turn = 0

    private static let daemon = "org.freedesktop.Avahi"
    private static let type = "_nowplayingd._tcp"
    /// Maximum number of tried names in a row.
    private static let maximumRenames = 20
    /// Seconds before the next attempt, after the bus has ended.
    private static let retrySeconds = 5.0

    /// Numbers of the states of a group (avahi-common/defs.h).
    private enum GroupState: Int32 { case uncommitted, registering, established, collision, failure }
    /// The state number of a running server.
    private static let serverRuns: Int32 = 2

    /// An announcer without a service. `note` gets sentences for the log.
    init(_ loop: EventLoop, _ note: @escaping @PlayerLoop (String) -> Void) {
        self.loop = loop
        self.note = note
    }

    isolated deinit { close() }

    /// Announces this service in place of the previous one; nil: none.
    func set(_ service: NetworkService?) {
        guard service != self.service else { return }
        self.service = service
        name = service?.name ?? ""
        renames = 0
        guard service != nil else { return close() }
        if bus == nil { connect() } else { publish() }
    }

    /// Ends the announcement: Avahi sees the end of the bridge's connection to the bus.
    func close() {
        retry = nil
        forget()
        guard let bus else { return }
        self.bus = nil
        sd_bus_close(bus)
        loop.detach(bus)
        sd_bus_unref(bus)
    }

    // MARK: The bus

    private func connect() {
        var made: OpaquePointer?
        guard sd_bus_new(&made) >= 0, let made else { return }
        let address = SocketLocation.variable("DBUS_SYSTEM_BUS_ADDRESS")
        bus = made
        let owners = "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Self.daemon)'"
        let states = "type='signal',sender='\(Self.daemon)',member='StateChanged'"
        let steps = [
            { sd_bus_set_address(made, address ?? "unix:path=/run/dbus/system_bus_socket") },
            { sd_bus_set_bus_client(made, 1) }, { sd_bus_set_watch_bind(made, 1) }, { [loop] in loop.attach(made) },
            { [self] in sd_bus_add_filter(made, nil, Avahi.filter, context) }, { sd_bus_start(made) },
            { [self] in match(owners) }, { [self] in match(states) },
        ]
        for step in steps where bus != nil {
            let result = step()
            guard result < 0 else { continue }
            note("cannot announce the page in the network: \(SystemError("connect to the bus", code: -result).message)")
            close()
        }
        publish()
    }

    private func match(_ rule: String) -> Int32 {
        sd_bus_add_match_async(bus, nil, rule, { _, _, _ in 0 }, { _, _, _ in 0 }, nil)
    }

    private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    private nonisolated static let filter: sd_bus_message_handler_t = { message, context, _ in
        let (message, context) = (UInt(bitPattern: message), UInt(bitPattern: context))
        PlayerLoop.assumeIsolated {
            guard let message = OpaquePointer(bitPattern: message) else { return }
            Unmanaged<Avahi>.fromOpaque(UnsafeRawPointer(bitPattern: context)!).takeUnretainedValue().passed(message)
        }
        return 0
    }

    private func passed(_ message: OpaquePointer) {
        func isSignal(_ interface: String, _ member: String) -> Bool {
            sd_bus_message_is_signal(message, interface, member) > 0
        }
        let sender = AvahiMessage.sender(message)
        if isSignal("org.freedesktop.DBus.Local", "Disconnected") {
            // A caller on the stack still uses the connection.
            return loop.later { [weak self] in self?.lost() }
        }
        defer { sd_bus_message_rewind(message, 1) }
        if sender == "org.freedesktop.DBus", isSignal("org.freedesktop.DBus", "NameOwnerChanged") {
            let owners = (0..<3).map { _ in AvahiMessage.text(message, "s") ?? "" }
            guard owners[0] == Self.daemon else { return }
            if owners[2].isEmpty { forget() } else { publish() }
        } else if sender != owner {
            return
        } else if isSignal(Self.daemon + ".Server", "StateChanged") {
            // If the host's name changes, its records change.
            if AvahiMessage.number(message) == Self.serverRuns { publish() }
        } else if isSignal(Self.daemon + ".EntryGroup", "StateChanged") {
            let path = sd_bus_message_get_path(message).map { String(cString: $0) }
            guard path == group, let state = AvahiMessage.number(message).flatMap(GroupState.init) else { return }
            changed(state)
        }
    }

    private func lost() {
        guard service != nil, bus != nil else { return }
        close()
        retry = loop.deadline(EventLoop.now.advanced(bySeconds: Self.retrySeconds)) { [unowned self] in
            retry = nil
            connect()
        }
    }

    private func forget() {
        turn += 1
        group = nil
        announced = nil
    }

    // MARK: The service

    private func changed(_ state: GroupState) {
        switch state {
        case .established:
            announced = name
            note("announced in the network as “\(name)” (\(Self.type))")
        case .collision: rename()
        case .failure: note("Avahi cannot announce the page in the network")
        case .uncommitted, .registering: break
        }
    }

    /// Tries the next name, as another machine has this one.
    private func rename() {
        guard let service, renames < Self.maximumRenames else {
            return note("Avahi finds no free name for the page in the network")
        }
        renames += 1
        name = NetworkService.name(service.name, number: renames + 1)
        publish()
    }

    /// Announces the service anew.
    private func publish() {
        if let group { call(group, "EntryGroup", "Free") }
        forget()
        guard bus != nil, service != nil else { return }
        let turn = turn
        let groupAnswer: Answer = { [unowned self] reply in
            // Without a path, Avahi does not run; the bus reports its start.
            guard turn == self.turn, let service, let reply, let path = AvahiMessage.text(reply, "o") else { return }
            group = path
            owner = AvahiMessage.sender(reply)
            add(service, to: path, turn)
        }
        call("/", "Server", "EntryGroupNew", answer: groupAnswer)
    }

    private func add(_ service: NetworkService, to path: String, _ turn: Int) {
        let answer: Answer = { [unowned self] reply in
            guard turn == self.turn, let reply else { return }
            if sd_bus_message_is_method_error(reply, Self.daemon + ".CollisionError") > 0 { return rename() }
            guard sd_bus_message_is_method_error(reply, nil) == 0 else {
                return note("Avahi refuses to announce the page: \(AvahiMessage.error(reply))")
            }
            call(path, "EntryGroup", "Commit")
        }
        let name = name
        call(
            path, "EntryGroup", "AddService", { AvahiMessage.write($0, service, name: name, type: Self.type) },
            answer: answer)
    }

    private func call(
        _ path: String, _ interface: String, _ member: String, _ write: (OpaquePointer) -> Void = { _ in },
        answer: @escaping Answer = { _ in }
    ) {
        var made: OpaquePointer?
        guard let bus,
            sd_bus_message_new_method_call(bus, &made, Self.daemon, path, "\(Self.daemon).\(interface)", member) >= 0,
            let made
        else { return }
        defer { sd_bus_message_unref(made) }
        sd_bus_message_set_auto_start(made, 0)
        write(made)
        let question = Question(answer)
        let sent = sd_bus_call_async(
            bus, nil, made,
            { reply, context, _ in
                let (context, reply) = (UInt(bitPattern: context), UInt(bitPattern: reply))
                PlayerLoop.assumeIsolated {
                    Unmanaged<Question>.fromOpaque(UnsafeRawPointer(bitPattern: context)!).takeRetainedValue()
                        .answer(OpaquePointer(bitPattern: reply))
                }
                return 0
            }, Unmanaged.passRetained(question).toOpaque(), 0)
        if sent < 0 { Unmanaged.passUnretained(question).release() }
    }

    /// Takes the answer to a call, which may be an error.
    private typealias Answer = @PlayerLoop (OpaquePointer?) -> Void

    /// A callback for one answer.
    private final class Question {
        let answer: Answer
        init(_ answer: @escaping Answer) { self.answer = answer }
    }
}
