import BridgeRuntime
import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlaying
import NowPlayingClient

/// A session of the daemon for MPD's clients: the newest state, and a copy of the queue that follows it.
@PlayerLoop final class PlayerMirror {
    /// Called with the changed subsystems, once for each state.
    var onChange: (@PlayerLoop (SubsystemSet) -> Void)?
    /// Called with the daemon's first state, and with the first state after each loss of the daemon.
    var onReturn: (@PlayerLoop () -> Void)?
    /// Called when the session has closed.
    var onGone: (@PlayerLoop () -> Void)?
    /// The newest state; nil: no daemon is there.
    private(set) var state: StateView? { didSet { changes += 1 } }
    /// The queue for clients. Its revision may be older than that of the state for a moment.
    private(set) var queue = ShadowQueue() { didSet { changes += 1 } }
    /// True if another player has the session, such as AirPlay: its item is the whole queue.
    private(set) var isExternal = false { didSet { changes += 1 } }
    /// Number of changes of the state, the queue and `isExternal` so far.
    private(set) var changes: Int64 = 0
    /// Subsystems that the state in progress has changed; nil: no state is in progress.
    private var collected: SubsystemSet?
    /// Total time of playback since the start of the bridge.
    private(set) var playTime = PlayTime()

    /// Name of the session; nil: the active one.
    let session: String?
    private let daemon: FollowedDaemon
    /// True during a request for the queue or its changes.
    private var isAsking = false
    /// Callbacks that wait until the queue is known again.
    private var waiting: [@PlayerLoop () -> Void] = []
    /// Ids of an unfinished listing.
    private var listed: [Int32] = []
    private var listedRevision: Int64 = 0

    /// Ids in a page of a listing.
    private static let page: Int64 = 2000

    /// A mirror of a session of this daemon; nil: the active one. It sets the daemon's handlers.
    init(_ daemon: FollowedDaemon, session: String? = nil) {
        self.daemon = daemon
        self.session = session
        daemon.onState = { [unowned self] in take($0.asRequested) }
        daemon.onLoss = { [unowned self] in lost() }
    }

    /// The current item's id; nil: there is none.
    var current: Int32? { state?.itemID.flatMap(Int32.init(exactly:)) }

    /// Index of the current item in the queue for clients.
    var currentIndex: Int? { current.flatMap { queue.index(of: $0) } }

    // MARK: Calls

    /// Calls a method of the daemon, in this session. `answer` gets its result, or the failure with MPD's message. `link`: a
    /// connection with the rights of a client; nil: the call has the bridge's own rights.
    func call(
        _ method: String, _ parameters: JSONValue = [:], by link: ClientLink? = nil,
        _ answer: @escaping @PlayerLoop (Result<JSONValue, MPDFailure>) -> Void
    ) {
        var parameters = parameters.objectValue ?? JSONObject()
        var method = method
        if isExternal {
            switch ExternalCall(method, &parameters) {
            case .asIs: break
            case .other(let name): method = name
            case .refused(let failure): return answer(.failure(failure))
            case .list: return answer(.success(externalList()))
            }
        }
        if let session, SessionMethods.contains(method) { parameters["session"] = .string(session) }
        if let link {
            return link.call(method, parameters) { [weak self] result in
                switch result {
                case .failure(let failure): answer(.failure(failure))
                case .success(let reply): self?.catchUp { answer(.success(reply.value)) }
                }
            }
        }
        daemon.call(method, .object(parameters)) { [weak self] message in
            guard let message else {
                return answer(.failure(MPDFailure(.system, "nowplayingd is not running: start it, or wait for it")))
            }
            if let result = message["result"] {
                // The client's next command must see the queue with this command's changes.
                guard let self, isAsking else { return answer(.success(result)) }
                return waiting.append { answer(.success(result)) }
            }
            let refusal = RemoteFailure(message["error"] ?? [:])
            answer(.failure(MPDFailure(refusal: refusal)))
            if let self, self.session != nil, refusal.reason == "noSession" { onGone?() }
        }
    }

    /// Calls `done` when the queue has the changes of a call on another connection.
    func catchUp(_ done: @escaping @PlayerLoop () -> Void) {
        call("queue.list", ["limit": 1, "fields": ["id"]]) { _ in done() }
    }

    private func externalList() -> JSONValue {
        guard let item = state?.item else { return ["revision": .integer(queue.revision), "items": []] }
        return ["revision": .integer(queue.revision), "items": [item]]
    }

    // MARK: States

    private func take(_ new: StateView) {
        collected = []
        defer {
            let changed = collected.take() ?? []
            if !changed.isEmpty { onChange?(changed) }
        }
        let old = state
        state = new
        playTime.follow(isPlaying: new.state == .playing)
        let isSame = old?.instance == new.instance && old?.json["session"] == new.json["session"]
        if !isSame { judge(new) }
        follow(new, isSame: isSame)
        guard let old else {
            onReturn?()
            // Clients stay connected during a restart of the daemon: everything may differ.
            note(.player, .mixer, .options, .output)
            return
        }
        collected?.formUnion(new.changes(since: old))
        if session != nil, new.cause == "session" { findSession() }
    }

    /// Reports changes. The changes of a state in progress are reported at its end.
    private func note(_ subsystems: Subsystem...) {
        let changed = SubsystemSet(subsystems.map(SubsystemSet.init))
        if collected == nil { onChange?(changed) } else { collected?.formUnion(changed) }
    }

    private func lost() {
        state = nil
        endAsking()
        playTime.follow(isPlaying: false)
        note(.player)
    }

    /// Detects a session of another player: the daemon lists no queue for its item.
    private func judge(_ new: StateView) {
        isExternal = new.item != nil && new.queueCount == 0
        guard !isExternal, new.json["session"] != "main" else { return }
        findSession()
    }

    /// Requests the kind of the shown session. A state without an item does not contain it.
    private func findSession() {
        daemon.call("session.list") { [weak self] answer in
            guard let self, let sessions = answer?["result"]?["sessions"]?.arrayValue, let state else { return }
            guard let found = sessions.first(where: { $0["name"] == state.json["session"] }) else {
                if session != nil { onGone?() }
                return
            }
            guard found["external"] == true, !isExternal else { return }
            isExternal = true
            follow(state, isSame: false)
        }
    }

    // MARK: The queue

    private func follow(_ new: StateView, isSame: Bool) {
        if isExternal { return showExternal(new) }
        let queue = new.json["queue"]
        guard isSame else { return list(from: 0) }
        guard let revision = queue?["revision"]?.integerValue, !isAsking, revision != self.queue.revision else {
            return
        }
        if queue?["from"]?.integerValue == self.queue.revision, let edits = queue?["edits"]?.arrayValue {
            return apply(edits, revision)
        }
        ask()
    }

    private func showExternal(_ new: StateView) {
        endAsking()
        let ids = new.itemID.flatMap(Int32.init(exactly:)).map { [$0] } ?? []
        let isOther = queue.ids != ids || new.causes.contains { ["metadata", "session", "snapshot"].contains($0) }
        guard isOther else { return }
        show(ids, revision: 0)
    }

    private func show(_ ids: [Int32], revision: Int64) {
        queue = ShadowQueue(ids: ids, revision: revision, earlier: queue.version)
        note(.playlist)
    }

    private func apply(_ edits: [JSONValue], _ revision: Int64) {
        guard queue.apply(edits, to: revision) else { return list(from: 0) }
        note(.playlist)
    }

    /// Parameters of a request for the shown queue.
    private func question(_ members: [JSONObject.Member]) -> JSONValue {
        var object = JSONObject(members)
        object["session"] = state?.json["session"]
        return .object(object)
    }

    private func ask() {
        isAsking = true
        let asked = state?.json["session"]
        daemon.call("queue.changes", question([.init("since", .integer(queue.revision))])) { [weak self] answer in
            guard let self, isAsking, asked == state?.json["session"] else { return }
            isAsking = false
            guard let result = answer?["result"], let revision = result["revision"]?.integerValue,
                let edits = result["edits"]?.arrayValue, result["reset"] == nil
            else { return list(from: 0) }
            apply(edits, revision)
            catchUp()
            if !isAsking { endAsking() }
        }
    }

    private func list(from offset: Int64) {
        isAsking = true
        if offset == 0 { listed = [] }
        let asked = state?.json["session"]
        let parameters = question([
            .init("offset", .integer(offset)), .init("limit", .integer(Self.page)), .init("fields", ["id"]),
        ])
        daemon.call("queue.list", parameters) { [weak self] answer in
            // The answer for an earlier session is obsolete.
            guard let self, isAsking, asked == state?.json["session"] else { return }
            guard let result = answer?["result"], let revision = result["revision"]?.integerValue,
                let items = result["items"]?.arrayValue
            else { return endAsking() }
            // Pages of different revisions do not fit together.
            if offset > 0, revision != listedRevision { return list(from: 0) }
            listedRevision = revision
            listed += items.compactMap { $0["id"]?.integerValue.flatMap(Int32.init(exactly:)) }
            if let next = result["next"]?.integerValue { return list(from: next) }
            isAsking = false
            show(listed, revision: revision)
            listed = []
            catchUp()
            if !isAsking { endAsking() }
        }
    }

    /// Calls the waiting callbacks: the queue is known, or its request has failed.
    private func endAsking() {
        isAsking = false
        let answers = waiting
        waiting = []
        for answer in answers { answer() }
    }

    /// Requests the changes that occurred during the last request.
    private func catchUp() {
        guard !isAsking, let revision = state?.json["queue"]?["revision"]?.integerValue, revision > queue.revision
        else {
            return
        }
        ask()
    }
}
