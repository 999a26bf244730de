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
        let count = mirror.queue.ids.count
        var kind = QueueAnswer.Kind.songs
        let indices: [Int]
        var selection: QueueSelection?
        switch request.command {
        case .playlistinfo:
            let range =
                try arguments.first.map { argument throws(MPDFailure) in try mirror.indices(argument) } ?? 0..<count
            indices = Array(range)
        case .playlistid:
            if let argument = arguments.first {
                indices = mirror.queue.index(of: try mirror.known(argument)).map { [$0] } ?? []
            } else {
                indices = Array(0..<count)
            }
        case .playlistfind, .playlistsearch:
            var words = arguments
            let tail = try QueryTail(&words, [.window, .sort])
            let filter = try SongFilter(words, folds: request.command == .playlistsearch)
            selection = QueueSelection(filter, tail.sort, tail.range)
            indices = Array(0..<count)
        case .playlist:
            kind = .names
            indices = Array(0..<count)
        case _:
            if request.command == .plchangesposid { kind = .numbers }
            // As in MPD, -1 is a version that no client has.
            let version = arguments[0].text == "-1" ? Int.max : try arguments[0].count()
            let changed = changedIndices(since: version, count)
            guard arguments.count > 1 else {
                indices = changed
                break
            }
            let window = try arguments[1].range()
            indices = changed.filter { $0 >= window.lower && $0 < window.upper ?? .max }
        }
        client.answer(QueueAnswer(mirror, library, rows, client, indices, kind, selection), finish)
    }

    private func changedIndices(since version: Int, _ count: Int) -> [Int] {
        let present = Int(clamping: ShadowQueue.clientVersion(mirror.queue.version))
        // Versions wrap around: a version above the present one is an earlier one.
        guard version <= present else { return Array(0..<count) }
        return mirror.queue.changed(since: mirror.queue.version - Int64(present - version)) ?? Array(0..<count)
    }
}
