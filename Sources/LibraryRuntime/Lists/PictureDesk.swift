import ArtworkLookup
import AudioCore
import ControlProtocol
import ControlServer
package import LinuxSystem
import MediaAccess
import NowPlaying
import TrackDatabase

/// Carries out `library.artwork`. The code that searches and reads pictures is the daemon's.
@PlayerLoop package final class PictureDesk {
    private let views: LibraryViews
    private let pool: ReaderPool
    /// Nil: there is no folder for pictures.
    private let cache: ArtworkCache?
    private let search = ArtworkSearch()
    private var rules = ArtworkSearch.Rules()

    /// Tracks of an album whose files are searched, at most.
    private nonisolated static let mostTracks = 100

    /// A desk with its cache in this folder; nil: there is none. `spare`: a folder in memory for pictures that the first one
    /// cannot take; nil: none.
    package init(
        _ views: LibraryViews, _ pool: ReaderPool, _ settings: LibrarySettings, cacheFolder: String?,
        spare: String? = nil
    ) {
        self.views = views
        self.pool = pool
        cache = (cacheFolder ?? spare).map { ArtworkCache.at(folder: $0, limit: Self.bytes(settings), spare: spare) }
        change(settings)
    }

    /// Applies changed settings for pictures.
    func change(_ settings: LibrarySettings) {
        rules = settings.artwork
        cache?.setLimit(Self.bytes(settings))
    }

    private static func bytes(_ settings: LibrarySettings) -> Int64 { Int64(settings.artworkCacheSize) << 20 }

    /// `library.artwork`.
    func get(_ request: JudgedRequest) throws(RPCError) -> RequestPlan {
        guard let cache else {
            throw .commandFailed(.noCache, "no cache folder for pictures: set HOME or XDG_CACHE_HOME")
        }
        let (pool, search, rules) = (pool, search, rules)
        let sight = views.sight(isForeign: request.rights.isForeign)
        let (parameters, user) = (request.parameters, request.user)
        return .prepare { _, abandoned in
            let work = PictureSearch(sight: sight, search: search, rules: rules, cache: cache, abandoned: abandoned)
            do throws(RPCError) {
                let files = try Self.files(parameters, sight, pool, user)
                let answer = try work.answer(parameters, files)
                return .success { _, done in done(answer) }
            } catch {
                return .failure(error)
            }
        }
    }

    /// Paths of the files that may have the picture, the best first.
    private nonisolated static func files(
        _ parameters: JSONObject, _ sight: CallerSight, _ pool: ReaderPool, _ user: UInt32
    ) throws(RPCError) -> [FilePath] {
        if let uri = parameters["uri"]?.stringValue {
            guard case .file(let path, _) = try sight.checked(uri, parameter: "uri") else {
                throw .noSuchContent("the library has pictures of files alone", reason: .noArtwork)
            }
            return [path]
        }
        let album = parameters["album"]?.integerValue ?? 0
        let tracks: [StoredTrack]
        do throws(TrackDatabaseError) {
            tracks = try pool.read(for: user, showing: sight.view.visible) { reader throws(TrackDatabaseError) in
                let order = try TrackSort(names: ["albums"], seed: 0)
                return try reader.query(TrackQuery(filter: .album(album), sort: order, limit: mostTracks)).rows
            }
        } catch {
            throw RPCError(error)
        }
        guard !tracks.isEmpty else {
            throw .noSuchContent("there is no album with the number \(album)", reason: .noArtwork)
        }
        // A file with a picture of its own precedes one that has only its folder's.
        let best = tracks.first(where: \.record.hasPicture).map { [$0] } ?? []
        return (best + tracks.prefix(1)).compactMap { sight.view.path(of: $0.record.path.bytes) }
    }
}

/// One search for a picture. On a worker thread; it blocks.
private struct PictureSearch {
    let sight: CallerSight
    let search: ArtworkSearch
    let rules: ArtworkSearch.Rules
    let cache: ArtworkCache
    let abandoned: AbandonFlag

    /// The answer with the first picture found in these files.
    func answer(_ parameters: JSONObject, _ files: [FilePath]) throws(RPCError) -> MethodResult {
        var failure: String?
        for (index, file) in files.enumerated() {
            let task = ArtworkTask()
            let result = search.search(
                source(file), rules, root: { folder in (sight.roots ?? libraryRoots).confinedPath(of: folder)?.root },
                task)
            // The next file may have a picture of its own.
            if result.isPlaceholder, index + 1 < files.count { continue }
            do throws(ArtworkError) {
                guard let found = try picture(parameters, result, task) else {
                    failure = failure ?? result.failures.first
                    continue
                }
                return try hand(found.artwork, found.path, parameters)
            } catch {
                failure = failure ?? error.message
            }
        }
        throw .noSuchContent(
            failure.map { PrintableText.escaped($0) } ?? "there is no picture of it, neither inside nor beside it",
            reason: .noArtwork)
    }

    /// Links in folders of the library must not leave them.
    private var libraryRoots: MediaRoots { MediaRoots(folders: sight.view.roots.map(\.path)) }

    /// The file, opened within the bounds of the caller.
    private func source(_ path: FilePath) -> MediaSource {
        let bounds = sight.roots ?? libraryRoots
        guard let confined = bounds.confinedPath(of: path) else { return .file(path) }
        return .confined(confined)
    }

    private func picture(
        _ parameters: JSONObject, _ result: ArtworkSearch.Result, _ task: ArtworkTask
    ) throws(ArtworkError) -> (artwork: Artwork, path: String)? {
        switch parameters["kind"]?.stringValue {
        case "video":
            guard let film = result.animated.first else { return nil }
            if let path = cache.path(of: film.artwork) { return (film.artwork, path) }
            let path = try cache.store(as: film.artwork) {
                (write: ([UInt8]) throws(ArtworkError) -> Void) throws(ArtworkError) in
                try film.copy(task, to: write)
            }
            return (film.artwork, path)
        case "preview":
            guard let film = result.animated.first else { return nil }
            let origin = film.still.map { ArtworkOrigin.file($0) } ?? result.found.first?.origin ?? .firstFrame(film)
            return try stored(origin, task)
        default:
            let size = number(parameters, "size")
            let best = result.found.map(\.artwork).closest(
                width: size ?? number(parameters, "width"), height: size ?? number(parameters, "height"),
                fit: ArtworkFit(rawValue: parameters["fit"]?.stringValue ?? "") ?? .cover)
            guard let found = result.found.first(where: { $0.artwork == best }) else { return nil }
            if let path = cache.path(of: found.artwork) { return (found.artwork, path) }
            return try stored(found.origin, task)
        }
    }

    private func number(_ parameters: JSONObject, _ name: String) -> Int? {
        parameters[name]?.integerValue.map { Int(clamping: $0) }
    }

    private func stored(
        _ origin: ArtworkOrigin, _ task: ArtworkTask
    ) throws(ArtworkError) -> (artwork: Artwork, path: String) {
        let bytes = try origin.bytes(task)
        let artwork = try Artwork(judging: bytes)
        if let known = cache.path(of: artwork) { return (artwork, known) }
        return (artwork, try cache.store(bytes, as: artwork))
    }

    private func hand(
        _ artwork: Artwork, _ path: String, _ parameters: JSONObject
    ) throws(ArtworkError) -> MethodResult {
        var value = JSONObject([
            .init("id", .string(artwork.id)), .init("path", .string(path)), .init("type", .string(artwork.mediaType)),
            .init("width", .integer(Int64(artwork.width))), .init("height", .integer(Int64(artwork.height))),
        ])
        guard parameters["descriptor"]?.boolValue == true else { return .success(.object(value)) }
        value["descriptor"] = 0
        do throws(DecodingError) {
            return .withDescriptor(.object(value), try ArtworkCache.open(path))
        } catch {
            throw ArtworkError(message: error.message)
        }
    }
}
