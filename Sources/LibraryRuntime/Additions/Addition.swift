import AudioCore
import ControlProtocol
import LinuxSystem
import TrackDatabase

/// Collects the items of one `library.add` into a list for the daemon. On a worker thread.
final class Addition {
    /// Items that are left out: their files are missing, or the caller may not see them.
    private(set) var missing = 0

    private let list: ItemListFile
    private let sight: CallerSight
    private let reader: TrackReader
    private let abandoned: AbandonFlag
    /// Items, at most.
    private let limit: Int

    /// Items of the queue, at most.
    private static let most = 1_000_000

    /// An addition without items. `limit`: items, at most; nil: the limit of the queue.
    init(_ sight: CallerSight, _ reader: TrackReader, limit: Int?, _ abandoned: AbandonFlag) throws(RPCError) {
        list = try ItemListFile()
        self.sight = sight
        self.reader = reader
        self.limit = limit ?? Self.most + 1
        self.abandoned = abandoned
    }

    private var isFull: Bool { list.count >= limit || list.failure != nil || abandoned.isSet }

    /// Adds the tracks of a query in its order.
    func add(_ query: TrackQuery) throws(RPCError) {
        do throws(TrackDatabaseError) {
            try reader.walk(query) { tracks in
                for track in tracks where !isFull { add(track) }
                return !isFull
            }
        } catch {
            throw RPCError(error)
        }
    }

    private func add(_ track: StoredTrack) {
        guard !track.isMissing, let path = sight.view.path(of: track.record.path.bytes), sight.finds(path) else {
            missing += 1
            return
        }
        list.add(track, uri: MediaSource.fileURI(path))
    }

    /// Adds the items of a list or of a request.
    func add(_ items: [ListItem]) throws(RPCError) {
        for item in items where !isFull { try add(item) }
    }

    private func add(_ item: ListItem) throws(RPCError) {
        switch sight.medium(item.uri) {
        case .file(let path, let uri):
            let track: StoredTrack?
            do throws(TrackDatabaseError) { track = try sight.track(at: path, reader) } catch { throw RPCError(error) }
            if let track, !uri.contains("#track=") { return add(track) }
            guard sight.finds(path) else {
                missing += 1
                return
            }
            list.add(uri: uri, title: item.title, duration: item.duration)
        case .address(let address): list.add(uri: address, title: item.title, duration: item.duration)
        case .hidden, .unplayable: missing += 1
        }
    }

    /// The list for the daemon. Throws if nothing matches, or the list is too long.
    func sealed() throws(RPCError) -> OwnedDescriptor {
        if abandoned.isSet { throw .commandFailed(.abandoned, "the client disconnected") }
        if let failure = list.failure { throw failure }
        guard list.count <= Self.most else {
            throw .commandFailed(.tooMany, "more than \(Self.most) items, the limit of the queue: set a limit")
        }
        guard list.count > 0 else {
            var error = RPCError.commandFailed(
                .noMatch,
                missing == 0
                    ? "no track of the library matches: nothing was added"
                    : "the files of all \(missing) items are missing: nothing was added")
            error.data["missing"] = .integer(Int64(missing))
            throw error
        }
        return try list.sealed()
    }
}
