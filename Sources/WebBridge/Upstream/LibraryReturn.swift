import CLinux
import Glibc
import LinuxSystem
import NowPlaying
import NowPlayingClient

/// Reports the return of the library to its waiters. Without waiters, it watches nothing.
@PlayerLoop final class LibraryReturn {
    /// A waiter's place; its release ends the wait.
    @PlayerLoop final class Place {
        fileprivate let attempt: @PlayerLoop () -> Bool
        private weak var owner: LibraryReturn?

        fileprivate init(_ owner: LibraryReturn, _ attempt: @escaping @PlayerLoop () -> Bool) {
            self.owner = owner
            self.attempt = attempt
        }

        isolated deinit { owner?.leave(ObjectIdentifier(self)) }
    }

    private final class Reference {
        weak var place: Place?
        init(_ place: Place) { self.place = place }
    }

    private let loop: EventLoop
    private let paths: @PlayerLoop () -> [String]
    private var places: [ObjectIdentifier: Reference] = [:]
    private var watch: SocketWatch?
    private var source: EventSource?
    private var retry: EventSource?
    private var attempts = 0

    /// Attempts at an existing socket that refuses, one a second.
    private static let maximumAttempts = 10

    /// Watches for the library at `paths`, which it reads when the first waiter arrives.
    init(_ loop: EventLoop, _ paths: @escaping @PlayerLoop () -> [String]) {
        self.loop = loop
        self.paths = paths
    }

    /// Calls `attempt` when the library may be back, until it returns true or the place is released.
    func wait(_ attempt: @escaping @PlayerLoop () -> Bool) -> Place {
        let place = Place(self, attempt)
        places[ObjectIdentifier(place)] = Reference(place)
        begin()
        return place
    }

    private func begin() {
        guard watch == nil, let made = try? SocketWatch(paths()) else { return }
        watch = made
        source = loop.watch(made.descriptor, UInt32(EPOLLIN.rawValue)) { [unowned self] _ in
            guard made.takeEvents() else { return }
            attempts = 0
            serve()
        }
        // The library may have returned before the watch. A library that ends each connection costs one attempt a second.
        attempts = 0
        retry = loop.deadline(EventLoop.now.advanced(bySeconds: 1)) { [unowned self] in serve() }
    }

    private func serve() {
        retry = nil
        for reference in Array(places.values) {
            if let place = reference.place, place.attempt() { leave(ObjectIdentifier(place)) }
        }
        // A new socket may not listen yet.
        guard !places.isEmpty, attempts < Self.maximumAttempts, paths().contains(where: SocketLocation.isThere) else {
            return
        }
        attempts += 1
        retry = loop.deadline(EventLoop.now.advanced(bySeconds: 1)) { [unowned self] in serve() }
    }

    fileprivate func leave(_ key: ObjectIdentifier) {
        places[key] = nil
        guard places.isEmpty else { return }
        source?.release()
        source = nil
        watch = nil
        retry = nil
    }
}
