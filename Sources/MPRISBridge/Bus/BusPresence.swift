import LinuxSystem
import NowPlaying

/// The player's presence on its bus, across restarts of the bus. It keeps a connection while the bus exists, and owns the
/// name while the player is to be seen. It wakes for messages, and for the bus's return.
@PlayerLoop final class BusPresence {
    /// Callbacks for events on the bus.
    struct Handlers {
        var call: @PlayerLoop (BusMessage, BusConnection) -> Void
        /// Called when the connection owns the name: clients that look for players find this one.
        var seen: @PlayerLoop () -> Void
        /// Called when the connection has ended: all knowledge from it is obsolete.
        var lost: @PlayerLoop () -> Void
        var log: @PlayerLoop (String) -> Void
        /// Called with the reason when the presence cannot continue.
        var failed: @PlayerLoop (String) -> Void
    }

    static let name = "org.mpris.MediaPlayer2.nowplayingd"

    private let loop: EventLoop
    private let address: String
    private let handlers: Handlers
    private(set) var connection: BusConnection?
    private var wantsName = false
    private var retry: EventSource?
    /// Attempts in a row that failed, or whose connection the bus ended before it answered.
    private var fruitless = 0
    private var hasEnded = false

    /// Maximum of `fruitless`; the presence fails then.
    private static let maximumAttempts = 8

    /// Connects to the bus at this address as soon as the bus is there.
    init(_ loop: EventLoop, address: String, _ handlers: Handlers) {
        self.loop = loop
        self.address = address
        self.handlers = handlers
        connect()
    }

    /// True if others see the player.
    var isSeen: Bool { connection?.isOwner ?? false }

    /// Lets others see the player, or hides it.
    func setSeen(_ isSeen: Bool) {
        wantsName = isSeen
        connection?.setName(isSeen)
    }

    /// Leaves the bus.
    func end() {
        hasEnded = true
        retry = nil
        connection?.close()
        connection = nil
    }

    private func connect() {
        guard !hasEnded else { return }
        do throws(SystemError) {
            let made = try BusConnection(
                loop, address: address, path: Introspection.path, name: Self.name, connectionHandlers)
            connection = made
            made.setName(wantsName)
        } catch {
            postpone(error.message)
        }
    }

    private var connectionHandlers: BusConnection.Handlers {
        BusConnection.Handlers(
            call: { [unowned self] message in
                if let connection { handlers.call(message, connection) }
            },
            owner: { [unowned self] isOwner in
                if isOwner { return handlers.seen() }
                if wantsName { handlers.log("another program has taken the name \(Self.name)") }
            },
            refused: { [unowned self] reason in
                handlers.failed(
                    "the bus denies the name \(Self.name): \(reason); the system bus needs a policy file that "
                        + "allows it to this user")
            },
            end: { [unowned self] in ended() })
    }

    private func ended() {
        guard !hasEnded else { return }
        let wasAnswered = connection?.wasAnswered ?? false
        connection = nil
        handlers.lost()
        if wasAnswered {
            fruitless = 0
            handlers.log("the bus has ended; waiting for a new one")
            connect()
        } else {
            postpone("the bus ends every connection before it answers")
        }
    }

    private func postpone(_ reason: String) {
        guard fruitless < Self.maximumAttempts else { return handlers.failed("\(reason) (\(address))") }
        let pause = 0.005 * Double(1 << fruitless)
        fruitless += 1
        retry = loop.deadline(EventLoop.now.advanced(bySeconds: pause)) { [unowned self] in connect() }
    }
}
