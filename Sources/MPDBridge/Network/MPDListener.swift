import BridgeRuntime
import CLinux
import Glibc
import LinuxSystem
import NowPlaying

/// The addresses at which the bridge takes connections.
@PlayerLoop final class MPDListener {
    /// A connection that was taken.
    struct Connection: Sendable {
        /// The taker's.
        let descriptor: Int32
        /// Way on which it came.
        let kind: Kind
        /// True if all that it plays is an announcement.
        let announces: Bool
    }

    /// Kind of a connection.
    enum Kind: Sendable {
        case network
        case local
    }

    /// An address of the configuration.
    struct Place: Hashable, Sendable {
        let address: BindAddress
        /// True if all that its clients play is an announcement.
        let announces: Bool
        /// True if it is a default: the place may be out of this user's reach without a warning.
        let isUsual: Bool
    }

    private let loop: EventLoop
    private let log: BridgeLog
    private let take: @PlayerLoop (Connection) -> Void
    private var open: [Place: OpenPlace] = [:]
    private var retry: EventSource?
    /// Places that do not work, each with a sentence.
    private(set) var failures: [String] = []

    /// Listens nowhere yet.
    init(_ loop: EventLoop, _ log: BridgeLog, _ take: @escaping @PlayerLoop (Connection) -> Void) {
        self.loop = loop
        self.log = log
        self.take = take
    }

    /// Listens at these places alone; those that are open already stay so. One that fails is logged and left out. Throws when
    /// none works.
    func set(_ places: [Place]) throws(BridgeFailure) {
        for place in open.keys where !places.contains(place) {
            open.removeValue(forKey: place)?.end()
            log.info("listening at \(place.address.text) no longer")
        }
        failures = []
        for place in places where open[place] == nil {
            do throws(SystemError) { open[place] = try begin(place) } catch {
                let remedy =
                    error.code == EADDRINUSE
                    ? ": another program listens there, such as mpd; end it, or name another address as “bind” in [mpd]"
                    : ""
                // The message of a local socket has its path.
                let words = error.message.contains(place.address.text) ? "" : place.address.text + ": "
                let failure = words + error.message + remedy
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
        for failure in failures { log.warning("cannot listen at \(failure)") }
    }

    /// Addresses at which it listens, for people.
    var addresses: [String] { open.keys.map(\.address.text).sorted() }

    private func begin(_ place: Place) throws(SystemError) -> OpenPlace {
        switch place.address {
        case .network(let host, let port):
            let found = try TCPSocket.listen(host: host, port: port)
            for failure in found.failures { log.info(failure.message) }
            for listener in found.listeners { log.info("listening at \(listener.address)") }
            let descriptors = found.listeners.map(\.descriptor)
            return OpenPlace(descriptors, nil, sources(descriptors, .network, place.announces))
        case .local(let path):
            let file = try SocketFile(path)
            log.info("listening at \(path)")
            return OpenPlace([file.descriptor], file, sources([file.descriptor], .local, place.announces))
        }
    }

    private func sources(_ descriptors: [Int32], _ kind: Kind, _ announces: Bool) -> [EventSource] {
        descriptors.compactMap { descriptor in
            loop.watch(descriptor, UInt32(EPOLLIN.rawValue)) { [unowned self] _ in
                accept(descriptor, kind, announces)
            }
        }
    }

    private func accept(_ listener: Int32, _ kind: Kind, _ announces: Bool) {
        for _ in 0..<64 {
            do throws(SystemError) {
                let descriptor = try UnixSocket.accept(listener)
                if case .network = kind { TCPSocket.sendAtOnce(descriptor) }
                take(Connection(descriptor: descriptor, kind: kind, announces: announces))
            } catch {
                switch error.code {
                case EAGAIN, EINTR, ECONNABORTED: return
                case _: return pause(error)
                }
            }
        }
    }

    /// Out of descriptors or memory: goes on a second later.
    private func pause(_ error: SystemError) {
        log.warning("no connection can be taken for a second: \(error.message)")
        for place in open.values { place.setEnabled(false) }
        retry = loop.deadline(EventLoop.now.advanced(bySeconds: 1)) { [unowned self] in
            for place in open.values { place.setEnabled(true) }
        }
    }

    /// Listens no longer, and removes its own socket files.
    func end() {
        retry = nil
        for place in open.values { place.end() }
        open = [:]
    }
}

/// Sockets that listen at one address of the configuration.
@PlayerLoop private final class OpenPlace {
    private let descriptors: [Int32]
    private let file: SocketFile?
    private let sources: [EventSource]

    init(_ descriptors: [Int32], _ file: SocketFile?, _ sources: [EventSource]) {
        self.descriptors = descriptors
        self.file = file
        self.sources = sources
    }

    func setEnabled(_ isEnabled: Bool) { for source in sources { source.setEnabled(isEnabled) } }

    func end() {
        for source in sources { source.release() }
        for descriptor in descriptors { close(descriptor) }
        file?.remove()
    }
}
