import ControlProtocol
import LinuxSystem
import SnapcastControl
import WebProtocol

/// The calls of one caller about the rooms of a Snapcast server.
@PlayerLoop final class RoomCalls {
    private let desk: RoomDesk
    private let send: @PlayerLoop ([UInt8]) -> Void
    private var pending = 0
    private var isPaused = false
    /// True if the rooms have changed while the caller was paused.
    private var isStale = false
    private var isClosed = false
    /// True if the caller has subscribed to changes of the rooms.
    private(set) var isFollowing = false

    /// Maximum requests of one caller at the same time.
    private static let maximumPending = 16

    /// `send` takes notifications for the caller.
    init(_ desk: RoomDesk, _ send: @escaping @PlayerLoop ([UInt8]) -> Void) {
        self.desk = desk
        self.send = send
    }

    /// Answers a request by `done`. Throws for invalid parameters, and for too many requests.
    func take(
        _ name: RoomMethods.Name, _ parameters: JSONObject, _ done: @escaping RoomDesk.Done
    ) throws(RPCError) {
        try NetworkMethods.table.method(name.rawValue)?.check(parameters)
        guard pending < Self.maximumPending else {
            throw .commandFailed(.tooMany, "\(pending) requests about rooms have no answer yet")
        }
        pending += 1
        let answer: RoomDesk.Done = { [weak self] outcome in
            guard let self, !isClosed else { return }
            pending -= 1
            done(outcome)
        }
        let id = parameters["id"]?.stringValue ?? ""
        switch name {
        case .list: desk.list(answer)
        case .subscribe:
            isFollowing = true
            desk.follow(self, answer)
        case .unsubscribe:
            isFollowing = false
            desk.unfollow(self)
            answer(.success(RoomDesk.empty))
        case .setVolume, .configure: desk.set(id, Self.change(parameters), answer)
        case .remove:
            var change = RoomChange()
            change.isRemoved = true
            desk.set(id, change, answer)
        }
    }

    private static func change(_ parameters: JSONObject) -> RoomChange {
        var change = RoomChange()
        change.percent = parameters["volume"]?.integerValue.map { Int($0) }
        change.isMuted = parameters["muted"]?.boolValue
        change.isGroupMuted = parameters["groupMuted"]?.boolValue
        change.name = parameters["name"]?.stringValue
        change.latency = parameters["latency"]?.integerValue.map { Int($0) }
        change.stream = parameters["stream"]?.stringValue
        if let other = parameters["join"]?.stringValue { change.place = .with(other) }
        if parameters["leave"] == true { change.place = .alone }
        return change
    }

    /// Sends a notification of changes, or records that the rooms have changed.
    func report(_ line: [UInt8]) {
        isStale = isPaused
        if !isPaused { send(line) }
    }

    /// Sends nothing while paused, and all rooms afterwards if some have changed.
    func setPaused(_ isPaused: Bool) {
        self.isPaused = isPaused
        if isStale, !isPaused, let newest = desk.newest { report(newest) }
    }

    /// Ends it: nothing is called from now on.
    func close() {
        isClosed = true
        isFollowing = false
        desk.unfollow(self)
    }
}
