import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlaying

/// Listings of the queue.
@PlayerLoop final class ListingDesk: CommandDesk {
    private let mirror: PlayerMirror
    private let library: LibraryCalls
    /// Lines of songs from earlier listings of the queue.
    private let rows = QueueRowTable()

    /// The queue of this mirror.
    init(_ mirror: PlayerMirror, _ library: LibraryCalls) {
        self.mirror = mirror
        self.library = library
    }

    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        let arguments = request.arguments
        let ids = mirror.queue.ids
        let count = ids.count
        var kind = QueueAnswer.Kind.songs
        var places = QueuePlaces(ids, 0..<count)
        let share = client.share()
        var selection: QueueSelection?
        var run: FilterRun?
        switch request.command {
        case .playlistinfo:
            let range =
                try arguments.first.map { argument throws(MPDFailure) in try mirror.indices(argument) } ?? 0..<count
            places = QueuePlaces(ids, range)
        case .playlistid:
            if let argument = arguments.first {
                places = QueuePlaces(ids, mirror.queue.index(of: try mirror.known(argument)).map { [$0] } ?? [])
            }
        case .playlistfind, .playlistsearch:
            var words = arguments
            let tail = try QueryTail(&words, [.window, .sort])
            let filter = try SongFilter(words, folds: request.command == .playlistsearch)
            selection = QueueSelection(tail.sort, tail.range, client.share())
            run = library.run(filter, client)
        case .playlist: kind = .names
        case _:
            if request.command == .plchangesposid { kind = .numbers }
            // As in MPD, -1 is a version that no client has.
            let version = arguments[0].text == "-1" ? Int.max : try arguments[0].count()
            let window = try arguments.count > 1 ? arguments[1].range() : nil
            let range = window.map { $0.lower..<max($0.lower, $0.upper ?? .max) } ?? 0..<Int.max
            if let changed = changedIndices(since: version) {
                places = QueuePlaces(ids, changed.filter(range.contains))
            } else {
                places = QueuePlaces(ids, range.clamped(to: 0..<count))
            }
        }
        guard share.hold(places.cost) else { throw HeldShare.tooMuch }
        client.answer(QueueAnswer(mirror, library, rows, client, places, kind, selection, run), finish)
    }

    /// The indexes that have changed since a version of clients; nil: all of them.
    private func changedIndices(since version: Int) -> [Int]? {
        let present = Int(clamping: ShadowQueue.clientVersion(mirror.queue.version))
        // Versions wrap around: a version above the present one is an earlier one.
        guard version <= present else { return nil }
        return mirror.queue.changed(since: mirror.queue.version - Int64(present - version))
    }
}
