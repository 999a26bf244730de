import BridgeRuntime
import ControlProtocol
import LinuxSystem
import NowPlayingClient

/// The part of the queue around the current item, as MPRIS allows for long lists. It is fetched at the first request, and
/// from then on after each change.
@PlayerLoop final class TrackWindow {
    /// Maximum number of items in the window, and number of items before the current one at a fetch.
    static let length: Int64 = 200
    static let lead: Int64 = 50

    private let daemon: FollowedDaemon
    /// The items in their order, from `queue.list`.
    private(set) var entries: [JSONValue] = []
    /// Index of the first item in the queue.
    private(set) var offset: Int64 = 0
    /// Version of the queue and run of the daemon of the fetched items; nil: none were fetched.
    private var version: String?
    /// Callbacks for the fetch in progress; nil: there is none.
    private var waiting: [@PlayerLoop (Bool) -> Void]?
    /// True after the first request.
    private(set) var isWanted = false

    /// A window on the queue of this daemon.
    init(_ daemon: FollowedDaemon) { self.daemon = daemon }

    /// The paths of the items.
    var paths: [String] { entries.compactMap { $0["id"]?.integerValue.map(TrackPath.of) } }

    /// The item of this path and its index in the queue; nil: it is not in the window.
    func entry(_ path: String) -> (entry: JSONValue, index: Int64)? {
        guard let id = TrackPath.id(path), let index = entries.firstIndex(where: { $0["id"]?.integerValue == id })
        else { return nil }
        return (entries[index], offset + Int64(index))
    }

    /// Empties the window at the end of the daemon.
    func forget() {
        entries = []
        offset = 0
        version = nil
    }

    /// True if the window shows the queue of this state.
    func isCurrent(_ state: StateView) -> Bool {
        guard version == Self.version(state) else { return false }
        guard let index = state.queueIndex else { return true }
        let end = offset + Int64(entries.count)
        // The window contains the next item too, if there is one.
        return index >= offset && (index < end) && (index + 1 < end || end >= state.queueCount)
    }

    /// Makes the window current, and then calls `then`; false: that failed.
    func refresh(_ state: StateView, _ then: @escaping @PlayerLoop (Bool) -> Void) {
        isWanted = true
        if isCurrent(state) { return then(true) }
        guard waiting == nil else {
            waiting?.append(then)
            return
        }
        waiting = [then]
        let first = max(0, (state.queueIndex ?? 0) - Self.lead)
        let parameters: JSONValue = ["offset": .integer(first), "limit": .integer(Self.length)]
        let instance = state.instance
        daemon.call("queue.list", parameters) { [weak self] answer in
            guard let self else { return }
            let result = answer?["result"]
            if let result, let list = result["items"]?.arrayValue, let version = result["version"]?.integerValue {
                entries = list
                offset = first
                self.version = "\(instance) \(version)"
            }
            let callers = waiting ?? []
            waiting = nil
            for caller in callers { caller(result != nil) }
        }
    }

    private static func version(_ state: StateView) -> String {
        "\(state.instance) \(state.json["queue"]?["version"]?.integerValue ?? -1)"
    }
}
