import AudioCore
import CPulse
import Glibc
import LinuxSystem
import NowPlaying

/// One connection to a sound server, from `begin` to `end`, and its outstanding requests.
@PlayerLoop final class PulseConnection {
    /// State of the connection; `changed` reports changes.
    enum State: Equatable {
        case connecting
        /// It takes too long, but may still succeed.
        case hung
        case ready(PulseServerInfo)
        case failed(OutputError)
    }

    /// Seconds that a connection may take: a server that systemd starts for us needs time on a small machine.
    private static let connectionLimit = 5.0
    /// Seconds to wait for an answer, and the extension before the request fails.
    static let answerLimit = 0.95
    private static let lastMoment = 0.05
    /// Seconds after the answer of an urgent request in which nothing else is asked.
    private static let calmSeconds = 0.02

    private let main: PulseMainLoop
    private let loop: EventLoop
    /// libpulse's context; valid while this object lives, even after `end`.
    let context: OpaquePointer
    private(set) var state = State.connecting
    /// True if the server has not answered in time. Any message of the server ends it.
    private(set) var isHung = false
    /// Called after each change of `state`; never during a call of ours.
    var changed: (@PlayerLoop (State) -> Void)?
    /// Reports an object that was created, changed or removed at the server: facility and kind, and its index.
    var subscriptionEvent: (@PlayerLoop (_ event: UInt32, _ index: UInt32) -> Void)?

    private var requests: [PulseRequest] = []
    /// Work that waits until an urgent request has been answered, and its end.
    private var postponed: [@PlayerLoop () -> Void] = []
    private var calm: EventSource?
    private var deadline: EventSource?
    private var connecting: EventSource?

    /// Address of the server; nil: from the environment and the user's files.
    private let server: String?

    /// A connection that is not started.
    init(_ main: PulseMainLoop, server: String?) {
        self.main = main
        self.server = server
        loop = main.loop
        let properties = pa_proplist_new()
        pa_proplist_sets(properties, PA_PROP_APPLICATION_NAME, "nowplayingd")
        pa_proplist_sets(properties, PA_PROP_APPLICATION_ID, "nowplayingd")
        pa_proplist_sets(properties, PA_PROP_APPLICATION_ICON_NAME, "multimedia-player")
        guard let context = pa_context_new_with_proplist(main.api, "nowplayingd", properties) else {
            fatalError("no context of libpulse can be had: out of memory")
        }
        pa_proplist_free(properties)
        self.context = context
    }

    /// Frees the context. A completion of `send` that waits for its turn retains this object, and reads its failure
    /// from the context.
    isolated deinit {
        end()
        pa_context_unref(context)
    }

    /// Connects.
    func begin() {
        let address = Unmanaged.passUnretained(self).toOpaque()
        pa_context_set_state_callback(context, contextStateChanged, address)
        pa_context_set_subscribe_callback(context, contextSubscriptionEvent, address)
        if pa_context_connect(context, server, PA_CONTEXT_NOAUTOSPAWN, nil) < 0 { contextChanged() }
        connecting = loop.deadline(EventLoop.now.advanced(bySeconds: Self.connectionLimit)) { [unowned self] in
            become(.hung)
        }
    }

    /// Ends the connection. Outstanding requests complete with an error, in the next turn of the loop.
    func end() {
        guard !isEnded else { return }
        isEnded = true
        changed = nil
        subscriptionEvent = nil
        connecting?.release()
        deadline?.release()
        calm?.release()
        postponed = []
        pa_context_set_state_callback(context, nil, nil)
        pa_context_set_subscribe_callback(context, nil, nil)
        cancel { _ in true }
        pa_context_disconnect(context)
    }
    private var isEnded = false

    // MARK: Events of the server

    fileprivate func contextChanged() {
        switch pa_context_get_state(context) {
        case PA_CONTEXT_READY: askServer()
        case PA_CONTEXT_FAILED, PA_CONTEXT_TERMINATED:
            let error = OutputError.connection(pa_context_errno(context))
            // libpulse may report the failure in the middle of a call of ours.
            loop.later { [weak self] in self?.become(.failed(error)) }
        default: break
        }
    }

    private func askServer() {
        send({ pa_context_get_server_info(self.context, serverInfoArrived, $0) }) { [unowned self] result in
            switch result {
            case .success(let answers):
                guard case .server(let info)? = answers.last else { return }
                become(.ready(info))
            case .failure(let error): become(.failed(error))
            }
        }
    }

    private func become(_ next: State) {
        if case .failed = state { return }
        state = next
        connecting?.release()
        connecting = nil
        if case .failed = next { cancel { _ in true } }
        changed?(next)
    }

    /// Records a message of the server.
    func answered() { isHung = false }

    // MARK: Requests

    /// Sends a request. `start` gets the context for libpulse's callback and returns libpulse's operation. The
    /// completion runs exactly once, never during this call: with the answer, with the failure, with `.serverHung` if
    /// no answer comes within `limit` seconds (a later answer is dropped), or when the connection or `owner` ends.
    /// `isUrgent`: the work of `whenCalm` waits for the answer.
    func send(
        owner: AnyObject? = nil, limit: Double? = answerLimit, isUrgent: Bool = false,
        _ start: (UnsafeMutableRawPointer) -> OpaquePointer?, _ completion: @escaping PulseRequest.Completion
    ) {
        let request = PulseRequest(self, owner: owner, limit: limit, isUrgent: isUrgent, completion)
        guard !isEnded, let operation = start(request.context) else {
            let number = pa_context_errno(context)
            loop.later { [self] in
                let gone = pa_context_get_state(context) != PA_CONTEXT_READY
                request.complete(
                    .failure(gone ? .disconnected : OutputError(.refused, "libpulse: \(pulseErrorText(number))")))
            }
            return
        }
        request.began(operation)
        requests.append(request)
        if request.limit != nil { armDeadline() }
    }

    /// Carries out work that asks the server for nothing urgent: now, or 20 ms after the answer of an urgent request. Until
    /// then the server, this process and the clients that get the result have the processors for themselves. Dropped when the
    /// connection ends.
    func whenCalm(_ work: @escaping @PlayerLoop () -> Void) {
        if requests.contains(where: \.isUrgent) { postponed.append(work) } else { work() }
    }

    /// An urgent request has ended. If the next one is sent before the calm ends, its own end begins another calm.
    private func calmDown() {
        guard !postponed.isEmpty, calm == nil, !isEnded else { return }
        calm = loop.deadline(EventLoop.now.advanced(bySeconds: Self.calmSeconds)) { [unowned self] in
            calm = nil
            guard !requests.contains(where: \.isUrgent) else { return }
            let works = postponed
            postponed = []
            for work in works where !isEnded { work() }
        }
    }

    /// Ends an answered request.
    func answered(_ request: PulseRequest) {
        answered()
        gaveUp(request)
    }

    /// Ends a request without an answer of the server.
    func gaveUp(_ request: PulseRequest) {
        requests.removeAll { $0 === request }
        request.release(cancel: false)
        armDeadline()
        if request.isUrgent { calmDown() }
    }

    /// Cancels the requests of an owner that ends; their completions run in the next turn of the loop.
    func cancelRequests(of owner: AnyObject) {
        cancel { $0.owner === owner }
        armDeadline()
    }

    private func cancel(_ isMeant: (PulseRequest) -> Bool) {
        let ended = requests.filter(isMeant)
        requests.removeAll(where: isMeant)
        if ended.contains(where: \.isUrgent) { calmDown() }
        for request in ended {
            request.release(cancel: true)
            if request.isAwaited { loop.later { request.complete(.failure(.disconnected)) } }
        }
    }

    /// Sets one deadline for all requests: the first limit of those that are awaited; none if there is none.
    private func armDeadline() {
        guard let first = requests.lazy.filter(\.isAwaited).compactMap(\.limit).min() else {
            deadline?.release()
            deadline = nil
            return
        }
        if let deadline {
            deadline.setDeadline(first)
        } else {
            deadline = loop.deadline(first) { [unowned self] in expire() }
        }
    }

    private func expire() {
        let now = EventLoop.now
        let due = requests.filter { request in request.isAwaited && request.limit.map { $0 <= now } == true }
        for request in due where !request.isLate {
            request.giveLastMoment(until: now.advanced(bySeconds: Self.lastMoment))
        }
        let late = due.filter { $0.limit.map { $0 <= now } == true }
        if !late.isEmpty { isHung = true }
        for request in late { request.complete(.failure(.hung)) }
        armDeadline()
    }

    /// Time at which the oldest awaited request with a limit was sent; nil: there is none.
    var oldestQuestion: MonotonicTime? {
        requests.lazy.filter { $0.isAwaited && $0.limit != nil }.map(\.sent).min()
    }

    /// Number of outstanding requests, for tests.
    var outstanding: Int { requests.count }
}

extension OutputError {
    /// Failure to connect, by libpulse's error number.
    static func connection(_ number: Int32) -> OutputError {
        switch number {
        case Int32(PA_ERR_CONNECTIONREFUSED.rawValue):
            OutputError(.noServer, "no sound server answers (is PulseAudio or pipewire-pulse running?)")
        case Int32(PA_ERR_CONNECTIONTERMINATED.rawValue): OutputError(.noServer, "the sound server ended")
        case Int32(PA_ERR_ACCESS.rawValue): OutputError(.noServer, "the sound server refuses access; check its cookie")
        case Int32(PA_ERR_TIMEOUT.rawValue): .hung
        default: OutputError(.noServer, "no connection to the sound server: \(pulseErrorText(number))")
        }
    }
}

private func contextStateChanged(_ context: OpaquePointer?, _ data: UnsafeMutableRawPointer?) {
    let connection = Unmanaged<PulseConnection>.fromOpaque(data!).takeUnretainedValue()
    PlayerLoop.assumeIsolated { connection.contextChanged() }
}

private func contextSubscriptionEvent(
    _ context: OpaquePointer?, _ event: pa_subscription_event_type_t, _ index: UInt32, _ data: UnsafeMutableRawPointer?
) {
    let connection = Unmanaged<PulseConnection>.fromOpaque(data!).takeUnretainedValue()
    PlayerLoop.assumeIsolated {
        connection.answered()
        connection.subscriptionEvent?(event.rawValue, index)
    }
}
