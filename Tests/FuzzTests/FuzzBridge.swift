import CSystemd
import ControlProtocol
import Dispatch
import LinuxSystem
import NowPlayingClient
import TestSupport

@testable import BridgeRuntime
@testable import MPRISBridge

/// A bridge to MPRIS on the loop, beside the daemon of `FuzzServer`, on a bus that never comes: calls are put into its hands
/// as those of a bus would be. They want no answer: it is written, and not sent.
@PlayerLoop final class FuzzBridge {
    private static var shared: FuzzBridge?
    /// Beside the real thing, where a bus may come to be.
    private let folder = TemporaryFolder()
    private let bridge: MediaPlayerBridge
    private let connection: BusConnection
    /// Bus object for making messages; never connected.
    private let bus: OpaquePointer

    private init() {
        let loop = EventLoop.current
        let address = "unix:path=" + folder.path("bus")
        let handlers = BusConnection.Handlers(call: { _ in }, owner: { _ in }, refused: { _ in }, end: {})
        var made: OpaquePointer?
        guard let daemon = try? FollowedDaemon(loop, paths: [FuzzServer.shared.path]),
            let connection = try? BusConnection(
                loop, address: address, path: Introspection.path, name: BusPresence.name, handlers),
            sd_bus_new(&made) >= 0, sd_bus_set_address(made, address) >= 0, sd_bus_set_watch_bind(made, 1) >= 0,
            sd_bus_start(made) >= 0, let made
        else { preconditionFailure("no bridge") }
        self.connection = connection
        bus = made
        bridge = MediaPlayerBridge(
            BridgeContext(loop: loop, daemon: daemon, log: BridgeLog(program: "fuzz")), address: address,
            SenderJudge(controlGroup: nil, readGroup: nil), .admitted)
    }

    /// Has the loop do `body` with a bridge that follows its daemon, and returns when it and all that it began is done.
    nonisolated static func run(_ body: @escaping @PlayerLoop @Sendable (FuzzBridge) -> Void) {
        let isDone = DispatchSemaphore(value: 0)
        // It is there before the loop is asked for anything, which its beginning waits for.
        _ = FuzzServer.shared
        // Nothing here is awaited: all threads of the tests may be waiting for it.
        Task { @PlayerLoop in
            let own = shared ?? FuzzBridge()
            shared = own
            own.take(body) { isDone.signal() }
        }
        isDone.wait()
    }

    private func take(
        _ body: @escaping @PlayerLoop (FuzzBridge) -> Void, _ done: @escaping @PlayerLoop () -> Void
    ) {
        guard bridge.state != nil else { return EventLoop.current.later { self.take(body, done) } }
        bridge.daemon.onState?(Self.state)
        body(self)
        finish(done)
    }

    private func finish(_ done: @escaping @PlayerLoop () -> Void) {
        bridge.outstanding == 0 ? done() : EventLoop.current.later { self.finish(done) }
    }

    /// A state with a playing item, which the calls can name.
    private static let state = StateView(
        [
            "instance": "f3a9", "cause": "snapshot", "state": "playing", "volume": 0.8, "muted": true,
            "repeatMode": "off", "shuffleMode": "off", "queue": ["index": 0, "count": 1, "version": 3],
            "item": ["id": 12, "uri": "/m/12.flac", "duration": 200, "title": "T"],
            "anchor": ["elapsed": 5, "rate": 1, "defaultRate": 1, "skew": 0, "monotonic": 1],
        ])

    /// A call of the object with the arguments of `write`; nil: it cannot be sent.
    func call(_ interface: String?, _ member: String, _ write: (OpaquePointer) -> Bool) -> BusMessage? {
        var made: OpaquePointer?
        guard
            sd_bus_message_new_method_call(bus, &made, BusPresence.name, Introspection.path, interface, member) >= 0,
            let made
        else { return nil }
        let message = BusMessage(owning: made)
        sd_bus_message_set_expect_reply(made, 0)
        guard write(made), sd_bus_message_seal(made, 1, 0) >= 0, sd_bus_message_rewind(made, 1) >= 0 else { return nil }
        return message
    }

    /// Makes the bridge serve a call of a sender with these rights.
    func serve(_ message: BusMessage, _ rights: SenderRights) {
        bridge.serve(MediaPlayerBridge.Call(message: message, bus: connection, rights: rights))
        precondition(bridge.outstanding <= 256)
    }
}
