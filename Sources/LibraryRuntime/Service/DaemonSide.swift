package import ControlProtocol
package import ControlServer
package import LinuxSystem
import NowPlayingClient

/// The parts of the library that work with the daemon, and the lists: methods of lists, additions, pictures, and the mirror of
/// feedback.
@PlayerLoop package final class DaemonSide {
    private let lists: ListDesk
    private let pictures: PictureDesk
    private let link: DaemonLink?
    /// Names of the saved lists, for search.
    let named: NamedLists

    /// The parts, which follow the daemon from now on. `changed` is called after changes of tracks' feedback, `playing`
    /// when the daemon starts or stops playback.
    package init(
        _ loop: EventLoop, _ paths: LibraryPaths, _ settings: LibrarySettings, cacheFolder: String?,
        _ views: LibraryViews, _ events: ChangeEvents,
        _ pool: ReaderPool, _ rest: ReaderRest, _ writer: LibraryWriter, changed: @escaping @PlayerLoop () -> Void,
        playing: @escaping @PlayerLoop (Bool) -> Void
    ) {
        let sockets = [paths.daemonSocket]
        let folder = FilePath(Array(paths.lists.utf8)) ?? ""
        let store = ListStore(folder)
        rest.release { store.recent.clear() }
        named = NamedLists(store, in: folder)
        let news = ListNews(loop, events, store, in: folder)
        lists = ListDesk(loop, views, news, pool, rest, store, DaemonCaller(loop, paths: sockets))
        // The folder of the socket is in memory.
        let runtime = FilePath(paths.socket.utf8)?.folder.text
        pictures = PictureDesk(
            views, pool, settings, cacheFolder: cacheFolder, spare: runtime.map { $0 + "/library-artwork" })
        let mirror = FeedbackMirror { change, then in writer.perform(change, then: then) }
        mirror.onChange = changed
        do throws(ClientError) {
            link = try DaemonLink(loop, paths: sockets, mirror: mirror)
            link?.onPlaying = playing
            if link?.isPlaying == true { playing(true) }
        } catch {
            Log.warning("cannot follow the daemon: the system has no inotify instances left; ratings are not mirrored")
            link = nil
        }
    }

    /// Reports to the measuring of loudness which files play, as long as it needs that.
    func lead(_ loudness: LoudnessDesk, _ views: LibraryViews) {
        link?.onItem = { [weak loudness] in
            if let place = views.view(isForeign: false).place(of: $0) { loudness?.played(place) }
        }
        loudness.onNeed = { [weak link, weak loudness] in link?.followItems(loudness?.needsPlays ?? false) }
    }

    /// Presence of the daemon.
    package var presence: DaemonLink.Presence { link?.presence ?? .absent }

    /// The status of the library with that of the daemon.
    func added(to status: JSONValue) -> JSONValue {
        guard case .object(var object) = status else { return status }
        switch presence {
        case .absent: object["daemon"] = ["state": "absent"]
        case .connected: object["daemon"] = ["state": .string(link?.isPlaying == true ? "playing" : "connected")]
        case .refuses(let words): object["daemon"] = ["state": "refuses", "problem": .string(words)]
        }
        return .object(object)
    }

    /// The plan for one of these methods.
    package func plan(_ name: LibraryMethodName, _ request: JudgedRequest) throws(RPCError) -> RequestPlan {
        switch name {
        case .libraryAdd: return lists.add(request)
        case .libraryArtwork: return try pictures.get(request)
        case .listsList: return lists.list(request)
        case .listsGet: return lists.get(request)
        case .listsSave: return lists.save(request)
        case .listsEdit: return lists.change(request) { (methods, given) throws(RPCError) in try methods.edit(given) }
        case .listsRename:
            return lists.change(request) { (methods, given) throws(RPCError) in try methods.rename(given) }
        case .listsDelete:
            return lists.change(request) { (methods, given) throws(RPCError) in try methods.delete(given) }
        case .hello, .rpcDiscover, .libraryStatus, .librarySubscribe, .libraryUnsubscribe, .libraryUpdate,
            .libraryLoudness, .libraryQuery,
            .libraryCount, .libraryValues, .libraryBrowse, .libraryGet, .libraryComments,
            .librarySearch:
            throw LibraryCatalogue.table.unknownMethod(request.method)
        }
    }

    /// Applies changed settings.
    func change(_ settings: LibrarySettings) { pictures.change(settings) }

    /// Ends the connections to the daemon.
    package func end() { link?.end() }
}
