import CLinux
import ControlProtocol
import Glibc
import LinuxSystem
import MPDProtocol
import NowPlaying
import NowPlayingClient

/// The bridge's view of the library: its presence, folders, version and scans.
@PlayerLoop final class Library {
    /// Called with each changed subsystem.
    var onChange: (@PlayerLoop (Subsystem) -> Void)?
    /// True while the library answers and its folders are known.
    private(set) var isThere = false
    /// Version of its contents.
    private(set) var version: Int64 = 0
    /// Number of the running update; nil: there is none.
    private(set) var updating: Int?
    /// Time of the last change or scan, in seconds since 1970; nil: not known.
    private(set) var updated: Int64?

    /// The library with the rights of clients.
    let links: LinkPool

    private let loop: EventLoop
    private let paths: [String]
    private let names: SongNameTable
    private let own: CallerLink
    private var watch: SocketWatch?
    private var source: EventSource?
    private var retry: EventSource?
    private var attempts = 0
    /// Number of updates so far.
    private var jobs = 0
    private var versionAtBegin: Int64 = 0
    private var counts: (version: Int64, answer: LibraryCounts)?

    /// Attempts at an existing socket that refuses, one a second.
    private static let maximumAttempts = 10

    /// Follows the library at one of these paths; its folders become the names of songs.
    init(_ loop: EventLoop, paths: [String], _ names: SongNameTable) {
        self.loop = loop
        self.paths = paths
        self.names = names
        own = CallerLink(loop, .library, paths: paths, for: .own)
        links = LinkPool(loop, .library, paths: paths)
        own.onNotification = { [unowned self] in notified($0, $1) }
        own.onLoss = { [unowned self] in lost() }
        watch = try? SocketWatch(paths)
        if let watch {
            source = loop.watch(watch.descriptor, UInt32(EPOLLIN.rawValue)) { [unowned self] _ in
                guard self.watch?.takeEvents() == true, !own.isConnected else { return }
                attempts = 0
                begin()
            }
        }
        begin()
    }

    // MARK: Presence

    private func begin() {
        retry = nil
        guard own.connect() else {
            // A new socket may not listen yet.
            guard attempts < Self.maximumAttempts, paths.contains(where: SocketLocation.isThere) else { return }
            attempts += 1
            retry = loop.deadline(EventLoop.now.advanced(bySeconds: 1)) { [unowned self] in begin() }
            return
        }
        own.call("library.subscribe") { [weak self] result in
            guard case .success(let reply) = result else { return }
            self?.version = reply.value["version"]?.integerValue ?? 0
        }
        own.call("library.status") { [weak self] result in
            guard let self, case .success(let reply) = result else { return }
            if let finished = reply.value["lastScan"]?["finished"]?.doubleValue {
                updated = Int64(clamping: finished.rounded(.down))
            }
            follow(reply.value["scan"])
        }
        readFolders()
    }

    private func lost() {
        isThere = false
        counts = nil
        if updating != nil { endUpdate() }
        begin()
    }

    private func readFolders() {
        own.call("library.browse") { [weak self] result in
            guard let self, case .success(let reply) = result else { return }
            let roots = (reply.value["rows"]?.arrayValue ?? []).compactMap(Self.root)
            let found = SongNames(roots)
            let isNew = !isThere || found != names.names
            names.set(found)
            isThere = true
            if isNew { onChange?(.database) }
        }
    }

    private static func root(_ row: JSONValue) -> SongNames.Root? {
        guard let uri = row["uri"]?.stringValue, let name = row["name"]?.stringValue else { return nil }
        let path = SongNames.path(ofURI: uri)
        // If the name is not UTF-8, the folder's own name is used.
        let isExact = !name.unicodeScalars.contains("\u{FFFD}")
        let last = path.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? []
        return SongNames.Root(name: isExact ? Array(name.utf8) : last, path: path)
    }

    // MARK: Changes

    private func notified(_ name: String, _ parameters: JSONValue) {
        switch name {
        case "lists.changed": onChange?(.storedPlaylist)
        case "library.changed":
            let new = parameters["version"]?.integerValue ?? version
            let isOther = new != version
            version = new
            if isOther { updated = Int64(clamping: WallClock.time(of: EventLoop.now).rounded(.down)) }
            let wasUpdating = updating != nil
            follow(parameters["scan"])
            // A library that refused requests may answer them now.
            if updating == nil || !isThere { readFolders() }
            if updating == nil, isOther, !wasUpdating { onChange?(.database) }
        case _: break
        }
    }

    private func follow(_ scan: JSONValue?) {
        let phase = scan?["phase"]?.stringValue
        // The library identifies contents in quiet hours. That changes nothing for clients.
        let isScanning = phase != nil && phase != "identify"
        if isScanning, updating == nil { _ = beginUpdate() }
        if !isScanning, updating != nil { endUpdate() }
    }

    private func beginUpdate() -> Int {
        jobs = jobs % Int(Int32.max) + 1
        updating = jobs
        versionAtBegin = version
        onChange?(.update)
        return jobs
    }

    private func endUpdate() {
        updating = nil
        onChange?(.update)
        if version != versionAtBegin { onChange?(.database) }
    }

    /// Begins an update of a file or folder; nil: of everything. Returns the number of the job for the client.
    func update(_ uri: String?, by user: UInt32?, _ done: @escaping @PlayerLoop (Result<Int, MPDFailure>) -> Void) {
        let parameters = uri.map { JSONObject([.init("uri", .string($0))]) } ?? JSONObject()
        links.link(for: user).call("library.update", parameters) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let failure): done(.failure(failure))
            case .success: done(.success(updating ?? beginUpdate()))
            }
        }
    }

    // MARK: Counts

    /// Calls `done` with the numbers of artists, albums and songs.
    func count(_ done: @escaping @PlayerLoop (LibraryCounts) -> Void) {
        if let counts, counts.version == version { return done(counts.answer) }
        let version = version
        LibraryCounts.read(links.link(for: geteuid())) { [weak self] answer in
            if let answer { self?.counts = (version, answer) }
            done(answer ?? LibraryCounts())
        }
    }
}

/// Statistics of a library.
struct LibraryCounts: Equatable, Sendable {
    /// Different artists.
    var artists = 0
    /// Different names of albums.
    var albums = 0
    /// Songs whose files are there.
    var songs: Int64 = 0
    /// Seconds of all songs.
    var duration = 0.0

    /// Reads the statistics; nil: the library has gone.
    @PlayerLoop static func read(_ link: ClientLink, _ done: @escaping @PlayerLoop (LibraryCounts?) -> Void) {
        values("artist", link) { artists in
            values("album", link) { albums in
                link.call("library.count") { result in
                    guard let artists, let albums, case .success(let reply) = result else { return done(nil) }
                    done(
                        LibraryCounts(
                            artists: artists, albums: albums, songs: reply.value["tracks"]?.integerValue ?? 0,
                            duration: reply.value["duration"]?.doubleValue ?? 0))
                }
            }
        }
    }

    /// Counts the values of a tag.
    @PlayerLoop private static func values(
        _ tag: String, _ link: ClientLink, _ done: @escaping @PlayerLoop (Int?) -> Void
    ) {
        let feed = PageFeed(link, "library.values", JSONObject([.init("tag", .string(tag))]))
        var count = 0
        feed.drain { _ in
            count += 1
        } _: { failure in
            done(failure == nil ? count : nil)
        }
    }
}
