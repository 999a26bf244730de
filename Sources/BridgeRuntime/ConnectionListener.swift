import CLinux
import Glibc
package import LinuxSystem
import NowPlaying

/// An address at which a bridge takes connections.
package enum ListenerAddress: Hashable, Sendable {
    /// Host `*`: every address of this machine. Port 0: a free port.
    case network(host: String, port: UInt16)
    case local(path: String)

    /// The address in the configuration's notation.
    package var text: String {
        switch self {
        case .network(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .local(let path): path
        }
    }
}

/// The addresses at which a bridge takes connections. `Kind` is the kind of service for connections of an address.
@PlayerLoop package final class ConnectionListener<Kind: Hashable & Sendable> {
    /// A connection that was taken.
    package struct Connection: Sendable {
        /// Descriptor of the connection. The taker closes it.
        package let descriptor: Int32
        /// True if it came by a local socket.
        package let isLocal: Bool
        package let kind: Kind
    }

    /// An address of the configuration.
    package struct Place: Hashable, Sendable {
        package let address: ListenerAddress
        package let kind: Kind
        /// True if it is a default: the place may be out of this user's reach without a warning.
        package let isUsual: Bool

        /// A place, by its parts.
        package init(address: ListenerAddress, kind: Kind, isUsual: Bool) {
            self.address = address
            self.kind = kind
            self.isUsual = isUsual
        }
    }

    private let loop: EventLoop
    private let log: BridgeLog
    private let remedy: String
    private let take: @PlayerLoop (Connection) -> Void
    private var open: [Place: OpenPlace] = [:]
    private lazy var rest = AcceptPause(loop) { [unowned self] in setEnabled(true) }
    private var failedAccepts = LogRate()
    /// Connections that one address gives in a turn of the loop: the clients of another address wait for no more of them.
    private static var turn: Int { 16 }
    /// Places that do not work, each with a sentence.
    package private(set) var failures: [String] = []

    /// A listener without addresses. `remedy`: the words after “another program listens there”.
    package init(
        _ loop: EventLoop, _ log: BridgeLog, remedy: String, _ take: @escaping @PlayerLoop (Connection) -> Void
    ) {
        self.loop = loop
        self.log = log
        self.remedy = remedy
        self.take = take
        // The timer needs a descriptor, which later there may not be.
        _ = rest
    }

    /// Listens at exactly these places; open ones stay open. A place that fails is logged and left out. Throws if all fail.
    package func set(_ places: [Place]) throws(BridgeFailure) {
        for place in open.keys where !places.contains(place) {
            open.removeValue(forKey: place)?.end()
            log.info("listening at \(place.address.text) no longer")
        }
        failures = []
        for place in places where open[place] == nil {
            do throws(SystemError) { open[place] = try begin(place) } catch {
                let remedy = error.code == EADDRINUSE ? ": another program listens there" + remedy : ""
                // The operation “listen on” repeats the words before it.
                let isListening = error.operation.hasPrefix("listen on ")
                let reason = isListening ? SystemError.words(error.code) : error.message
                let failure = "\(place.address.text): \(reason)\(remedy)"
                if place.isUsual, error.code != EADDRINUSE {
                    log.info("not listening at \(failure)")
                } else {
                    failures.append(failure)
                }
            }
        }
        guard !open.isEmpty else {
            throw BridgeFailure("cannot listen at any address: " + failures.joined(separator: "; "))
        }
        for failure in failures { log.warning("cannot listen at \(failure)", .cannotListen) }
    }

    /// Addresses of the open places, for people.
    package var addresses: [String] { open.keys.map(\.address.text).sorted() }

    /// The bound addresses of places of a kind: `127.0.0.1:6600`, `[::1]:6600` or a path.
    package func bound(_ kind: Kind) -> [String] {
        open.filter { $0.key.kind == kind }.flatMap(\.value.addresses).sorted()
    }

    private func begin(_ place: Place) throws(SystemError) -> OpenPlace {
        switch place.address {
        case .network(let host, let port):
            let found = try TCPSocket.listen(host: host, port: port)
            for failure in found.failures { log.info(failure.message) }
            for listener in found.listeners { log.info("listening at \(listener.address)") }
            let descriptors = found.listeners.map(\.descriptor)
            return OpenPlace(descriptors, nil, sources(descriptors, place), found.listeners.map(\.address))
        case .local(let path):
            let file = try SocketFile(path)
            log.info("listening at \(path)")
            return OpenPlace([file.descriptor], file, sources([file.descriptor], place), [path])
        }
    }

    private func sources(_ descriptors: [Int32], _ place: Place) -> [EventSource] {
        descriptors.compactMap { descriptor in
            loop.watch(descriptor, UInt32(EPOLLIN.rawValue)) { [unowned self] _ in accept(descriptor, place) }
        }
    }

    private func accept(_ listener: Int32, _ place: Place) {
        for _ in 0..<Self.turn {
            do throws(SystemError) {
                let descriptor = try UnixSocket.accept(listener)
                switch place.address {
                case .network:
                    TCPSocket.sendAtOnce(descriptor)
                    take(Connection(descriptor: descriptor, isLocal: false, kind: place.kind))
                case .local: take(Connection(descriptor: descriptor, isLocal: true, kind: place.kind))
                }
            } catch {
                return AcceptPause.passes(error) ? () : pause(error)
            }
        }
    }

    private func pause(_ error: SystemError) {
        if let line = failedAccepts.line("no connection can be taken for a second: \(error.message)", at: EventLoop.now)
        {
            log.warning(line, .outOfDescriptors)
        }
        setEnabled(false)
        rest.begin()
    }

    private func setEnabled(_ isEnabled: Bool) { for place in open.values { place.setEnabled(isEnabled) } }

    /// Stops listening, and removes its own socket files.
    package func end() {
        for place in open.values { place.end() }
        open = [:]
    }
}

/// Sockets that listen at one address of the configuration.
@PlayerLoop private final class OpenPlace {
    /// The bound addresses.
    let addresses: [String]
    private let descriptors: [Int32]
    private let file: SocketFile?
    private let sources: [EventSource]

    init(_ descriptors: [Int32], _ file: SocketFile?, _ sources: [EventSource], _ addresses: [String]) {
        self.descriptors = descriptors
        self.file = file
        self.sources = sources
        self.addresses = addresses
    }

    func setEnabled(_ isEnabled: Bool) { for source in sources { source.setEnabled(isEnabled) } }

    func end() {
        for source in sources { source.release() }
        for descriptor in descriptors { close(descriptor) }
        file?.remove()
    }
}
