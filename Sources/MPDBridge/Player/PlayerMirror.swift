import BridgeRuntime
import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlaying
import NowPlayingClient

/// The daemon as MPD's clients see it: the newest state, and a copy of the queue that follows it.
@PlayerLoop final class PlayerMirror {
    /// Called with each subsystem that has changed.
    var onChange: (@PlayerLoop (Subsystem) -> Void)?
    /// The newest state; nil: no daemon is there.
    private(set) var state: StateView?
    /// The queue that clients see. Its revision may be behind that of the state for a moment.
    private(set) var queue = ShadowQueue()

    private let daemon: FollowedDaemon
    /// True while the queue is listed or its changes are asked for.
    private var isAsking = false
    /// Ids of a listing that has not ended.
    private var listed: [Int32] = []

    /// Ids in a page of a listing.
    private static let page: Int64 = 10_000

    /// A mirror of this daemon. It sets the daemon's handlers.
    init(_ daemon: FollowedDaemon) {
        self.daemon = daemon
        daemon.onState = { [unowned self] in take($0) }
        daemon.onLoss = { [unowned self] in lost() }
    }

    /// Calls a method of the daemon. `answer` gets its result, or the failure in words of MPD.
    func call(
        _ method: String, _ parameters: JSONValue = [:],
        _ answer: @escaping @PlayerLoop (Result<JSONValue, MPDFailure>) -> Void
    ) {
        daemon.call(method, parameters) { message in
            guard let message else {
                return answer(.failure(MPDFailure(.system, "nowplayingd is not running: start it, or wait for it")))
            }
            if let result = message["result"] { return answer(.success(result)) }
            answer(.failure(MPDFailure(refusal: RemoteFailure(message["error"] ?? [:]))))
        }
    }

    /// The current item's id; nil: there is none.
    var current: Int32? { state?.itemID.flatMap(Int32.init(exactly:)) }

    /// Index of the current item in the queue that clients see.
    var currentIndex: Int? { current.flatMap { queue.index(of: $0) } }

    // MARK: States

    private func take(_ new: StateView) {
        let old = state
        state = new
        follow(new, after: old)
        guard let old else {
            // Clients stay over a restart of the daemon: anything may be different.
            for subsystem in [Subsystem.player, .mixer, .options, .output] { onChange?(subsystem) }
            return
        }
        for subsystem in new.changes(since: old) { onChange?(subsystem) }
    }

    private func lost() {
        state = nil
        isAsking = false
        onChange?(.player)
    }

    // MARK: The queue

    private func follow(_ new: StateView, after old: StateView?) {
        let queue = new.json["queue"]
        guard let revision = queue?["revision"]?.integerValue, !isAsking else { return }
        if old?.instance != new.instance { return list(from: 0) }
        guard revision != self.queue.revision else { return }
        if queue?["from"]?.integerValue == self.queue.revision, let edits = queue?["edits"]?.arrayValue {
            return apply(edits, revision)
        }
        ask()
    }

    private func apply(_ edits: [JSONValue], _ revision: Int64) {
        guard queue.apply(edits, to: revision) else { return list(from: 0) }
        onChange?(.playlist)
    }

    private func ask() {
        isAsking = true
        daemon.call("queue.changes", ["since": .integer(queue.revision)]) { [weak self] answer in
            guard let self, isAsking else { return }
            isAsking = false
            guard let result = answer?["result"], let revision = result["revision"]?.integerValue,
                let edits = result["edits"]?.arrayValue, result["reset"] == nil
            else { return list(from: 0) }
            apply(edits, revision)
            catchUp()
        }
    }

    private func list(from offset: Int64) {
        isAsking = true
        if offset == 0 { listed = [] }
        let parameters: JSONValue = ["offset": .integer(offset), "limit": .integer(Self.page), "fields": ["id"]]
        daemon.call("queue.list", parameters) { [weak self] answer in
            guard let self, isAsking else { return }
            guard let result = answer?["result"], let revision = result["revision"]?.integerValue,
                let items = result["items"]?.arrayValue
            else {
                isAsking = false
                return
            }
            // Another page of another revision would not fit.
            if offset > 0, revision != listedRevision { return list(from: 0) }
            listedRevision = revision
            listed += items.compactMap { $0["id"]?.integerValue.flatMap(Int32.init(exactly:)) }
            if let next = result["next"]?.integerValue { return list(from: next) }
            isAsking = false
            queue = ShadowQueue(ids: listed, revision: revision)
            listed = []
            onChange?(.playlist)
            catchUp()
        }
    }

    private var listedRevision: Int64 = 0

    /// Follows what happened while an answer was awaited.
    private func catchUp() {
        guard !isAsking, let revision = state?.json["queue"]?["revision"]?.integerValue, revision > queue.revision
        else {
            return
        }
        ask()
    }
}

extension StateView {
    /// Subsystems of MPD in which this state differs from an earlier one, the queue aside.
    fileprivate func changes(since old: StateView) -> [Subsystem] {
        var result: [Subsystem] = []
        func differs(_ names: String...) -> Bool { names.contains { json[$0] != old.json[$0] } }
        let player: Set<String> = [
            "play", "pause", "stop", "seek", "rate", "track", "stall", "unstall", "interruption-begin",
            "interruption-end", "error", "metadata", "session", "snapshot",
        ]
        if differs("state", "item", "error", "session", "stall") || causes.contains(where: player.contains) {
            result.append(.player)
        }
        if differs("volume", "muted") { result.append(.mixer) }
        if differs("repeatMode", "shuffleMode", "consumeMode", "singleMode", "loudness", "crossfade") {
            result.append(.options)
        }
        if json["output"]?["name"] != old.json["output"]?["name"] { result.append(.output) }
        if json["item"]?["feedback"] != old.json["item"]?["feedback"] { result.append(.sticker) }
        return result
    }
}

extension MPDFailure {
    /// A refusal of the daemon as MPD has it.
    init(refusal: RemoteFailure) {
        let code: AckCode =
            switch (refusal.code, refusal.reason) {
            case (403, _): .permission
            case (404, _), (100, "noSuchItem"), (_, "noSuchFile"): .noExist
            case (-32602, _): .argument
            case (_, "queueFull"): .playlistMaximum
            case (_, "noItem"), (_, "notPlaying"): .playerSync
            case (_, _): .system
            }
        self.init(code, refusal.message)
    }
}
