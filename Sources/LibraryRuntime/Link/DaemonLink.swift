import CLinux
import ControlProtocol
import Glibc
package import LinuxSystem
package import NowPlayingClient

/// The library's own connection to the daemon, kept over restarts of the daemon: its playback state and its feedback.
/// It uses the background socket, so it neither starts the daemon nor keeps it running. It wakes only for events of the
/// daemon and for its return.
@PlayerLoop package final class DaemonLink {
    /// Presence of the daemon.
    package enum Presence: Equatable, Sendable {
        case absent
        case connected
        /// It refuses a request that the library needs, for this reason.
        case refuses(String)
    }

    /// Called when the daemon starts or stops playback, and when it disconnects.
    package var onPlaying: (@PlayerLoop (Bool) -> Void)?
    /// Called with the uri of the item when its play begins or ends, and after `followItems(true)` for each item.
    var onItem: (@PlayerLoop (String) -> Void)?
    /// True while the daemon plays or is stalled.
    package private(set) var isPlaying = false
    /// Presence of the daemon.
    package private(set) var presence = Presence.absent
    /// Messages that the daemon has sent since the start.
    package private(set) var messageCount = 0

    private let loop: EventLoop
    private let paths: [String]
    private let mirror: FeedbackMirror
    private var channel: DaemonChannel?
    private var watch: SocketWatch?
    private var watching: EventSource?

    /// Key events at which playback starts or stops.
    private static let causes = [
        "play", "pause", "stop", "stall", "unstall", "interruption-began", "interruption-ended", "session",
    ]

    /// True: it asks for the beginning of each item, too.
    private var followsItems = false

    /// Follows a daemon whose control socket is at one of these paths. `mirror` copies its feedback. Throws
    /// `ClientError` if the system cannot watch for the daemon.
    package init(_ loop: EventLoop, paths: [String], mirror: FeedbackMirror) throws(ClientError) {
        self.loop = loop
        self.paths = paths.map { BackgroundSocket.path(beside: $0) }
        self.mirror = mirror
        try wait()
        connect()
    }

    isolated deinit { end() }

    /// Ends the connection and the wait for the daemon.
    package func end() {
        stopWaiting()
        channel?.close()
        channel = nil
        mirror.end()
    }

    private func wait() throws(ClientError) {
        let watch = try SocketWatch(paths)
        self.watch = watch
        watching = loop.watch(watch.descriptor, UInt32(EPOLLIN.rawValue)) { [unowned self] _ in
            if watch.takeEvents() { connect() }
        }
    }

    private func stopWaiting() {
        watching?.release()
        watching = nil
        watch = nil
    }

    private func connect() {
        guard channel == nil else { return }
        // A killed daemon's socket refuses connections. The next daemon replaces it, and that is an event of its
        // folder.
        for path in paths {
            guard let made = try? DaemonChannel(loop, path) else { continue }
            stopWaiting()
            begin(made)
            return
        }
    }

    private func begin(_ made: DaemonChannel) {
        channel = made
        presence = .connected
        made.onLoss = { [unowned self] in lost() }
        made.onNotification = { [unowned self] method, parameters in
            messageCount += 1
            switch method {
            case "nowPlaying.changed": take(state: parameters)
            case Catalogue.feedbackChanged: mirror.take(change: parameters)
            default: break
            }
        }
        made.call("hello", JSONObject([.init("client", "nowplaying-library")])) { [unowned self] in judge($0) }
        subscribe(made)
        made.call("feedback.subscribe") { [unowned self] reply in
            judge(reply)
            guard case .result = reply, let channel else { return }
            mirror.begin { [weak self, weak channel] parameters, done in
                guard let channel else { return done(.lost) }
                channel.call("feedback.changes", parameters) { reply in
                    self?.judge(reply)
                    done(reply)
                }
            }
        }
    }

    /// Asks for the beginning of each item of the daemon, or no longer.
    func followItems(_ follows: Bool) {
        guard follows != followsItems else { return }
        followsItems = follows
        if let channel { subscribe(channel) }
    }

    private func subscribe(_ channel: DaemonChannel) {
        let causes = Self.causes + (followsItems ? ["track"] : [])
        let parameters = JSONObject([.init("causes", .array(causes.map { .string($0) }))])
        channel.call("nowPlaying.subscribe", parameters) { [unowned self] reply in
            judge(reply)
            if case .result(let state) = reply { take(state: state) }
        }
    }

    private func judge(_ reply: DaemonChannel.Reply) {
        switch reply {
        case .result: messageCount += 1
        case .refused(let error):
            messageCount += 1
            presence = .refuses(error.message)
            Log.warning("the daemon refuses a request of the library: \(error.message)")
        case .lost: break
        }
    }

    private func take(state: JSONValue) {
        let text = state["state"]?.stringValue
        let plays = text == "playing" || text == "stalled"
        if plays || isPlaying, let uri = state["item"]?["uri"]?.stringValue { onItem?(uri) }
        setPlaying(plays)
    }

    private func setPlaying(_ playing: Bool) {
        guard playing != isPlaying else { return }
        isPlaying = playing
        onPlaying?(playing)
    }

    private func lost() {
        channel = nil
        presence = .absent
        mirror.end()
        setPlaying(false)
        do throws(ClientError) {
            try wait()
            // Another daemon may have started between the loss and the watch.
            connect()
        } catch {
            Log.warning("cannot wait for the daemon's return: start the library again when it is back")
        }
    }
}
