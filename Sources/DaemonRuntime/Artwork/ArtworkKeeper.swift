import ArtworkLookup
import AudioCore
import ControlProtocol
import LinuxSystem
import NowPlaying
import PlaybackEngine

/// Has the pictures of the item that is shown looked for, and of the one that follows it; hands them out by their ids.
@PlayerLoop final class ArtworkKeeper {
    private let player: Player
    private let workers: Workers
    private let search = ArtworkSearch()
    private let cache: ArtworkCache?
    private let rules: ArtworkSearch.Rules
    private let log: @PlayerLoop (String) -> Void
    /// Asked anew for each search: the configuration may be read again.
    private let roots: @PlayerLoop () -> MediaRoots
    /// What was found for the items looked for last, the newest at the end.
    private var known: [(item: ItemID, uri: String, found: [ArtworkSearch.Found])] = []
    /// The item that is looked for now, and what gives it up.
    private var running: (item: ItemID, uri: String, abandoned: AbandonFlag)?

    /// Items whose pictures are remembered.
    private static let remembered = 32

    /// Looks on threads of these workers; `cache` nil: pictures are told of, and can't be handed out.
    init(
        _ player: Player, _ workers: Workers, rules: ArtworkSearch.Rules, cache: ArtworkCache?,
        roots: @escaping @PlayerLoop () -> MediaRoots, log: @escaping @PlayerLoop (String) -> Void
    ) {
        self.player = player
        self.workers = workers
        self.rules = rules
        self.cache = cache
        self.roots = roots
        self.log = log
        player.artworkOf = { [unowned self] in artwork(of: $0) }
    }

    /// One picture, for listeners: the largest of its sizes.
    private func artwork(of item: ItemID) -> [Artwork] {
        let found = known.last { $0.item == item }?.found ?? []
        return found.map(\.artwork).closest(width: nil, height: nil, fit: .cover).map { [$0] } ?? []
    }

    /// What is shown changed: looks for its picture if that is not known, then for that of the item that follows.
    func follow(_ state: NowPlayingState) {
        guard let shown = state.item else { return }
        let wanted = [shown.id, state.upcoming?.itemID].compactMap(\.self)
        let next = wanted.first { item in
            guard let uri = player.queue[item]?.source.uri else { return false }
            return !known.contains { $0.item == item && $0.uri == uri }
        }
        guard let next, let source = player.queue[next]?.source else { return }
        if let running {
            if running.item == next { return }
            // What nobody looks at any more is given up; its result, if there is one, is thrown away.
            if wanted.contains(running.item) { return }
            running.abandoned.set()
        }
        look(for: next, source)
    }

    private func look(for item: ItemID, _ source: MediaSource) {
        let abandoned = AbandonFlag()
        let uri = source.uri
        running = (item, uri, abandoned)
        let (search, rules, roots) = (search, rules, roots())
        workers.submit {
            search.search(source, rules, root: { roots.place(of: $0)?.root }, abandoned)
        } _: { [weak self] result in
            guard let self, running?.abandoned === abandoned else { return }
            running = nil
            for failure in result.failures.prefix(1) { log(failure) }
            known.removeAll { $0.item == item }
            known.append((item, uri, result.found))
            if known.count > Self.remembered { known.removeFirst() }
            if !result.found.isEmpty { player.artworkFound(for: item) }
            follow(player.state)
        }
    }

    /// Answers `artwork.get`: the path of a picture in the cache, in the size that fits best.
    func get(_ request: MethodRequest, _ answer: @escaping @PlayerLoop (MethodResult) -> Void) {
        let kind = request.string("kind") ?? "image"
        guard kind == "image" else {
            return answer(.failure(.noSuchContent("there is no animated artwork", reason: "noArtwork")))
        }
        let id = request.string("id") ?? ""
        guard let item = known.last(where: { $0.found.contains { $0.artwork.id == id } }) else {
            return answer(
                .failure(
                    .noSuchContent(
                        "no picture has the id “\(PrintableText.escaped(id, limit: 64))”: ids are in the item",
                        reason: "noArtwork")))
        }
        guard let cache else {
            return answer(
                .failure(.commandFailed("noCache", "there is no folder for pictures: set “cache-directory”")))
        }
        let wanted = item.found.map(\.artwork).closest(
            width: request.integer("width"), height: request.integer("height"),
            fit: ArtworkFit(rawValue: request.string("fit") ?? "") ?? .cover)
        guard let wanted, let found = item.found.first(where: { $0.artwork == wanted }) else { return }
        let kept = Set(known.suffix(4).flatMap { $0.found.map(\.artwork.id) })
        workers.submit { () -> Result<String, ArtworkError> in
            do throws(ArtworkError) {
                if let path = cache.path(of: wanted) { return .success(path) }
                let bytes = try found.origin.bytes(AbandonFlag())
                guard Artwork(ofPicture: bytes) == wanted else {
                    throw ArtworkError(message: "it is not the same any more")
                }
                return .success(try cache.store(bytes, as: wanted, keeping: kept))
            } catch {
                return .failure(error)
            }
        } _: { result in
            switch result {
            case .success(let path):
                answer(
                    .success([
                        "path": .string(path), "type": .string(wanted.mediaType),
                        "width": .integer(Int64(wanted.width)), "height": .integer(Int64(wanted.height)),
                    ]))
            case .failure(let error):
                answer(
                    .failure(
                        .noSuchContent(
                            "\(found.origin.words) can't be had: \(error.message)", reason: "noArtwork")))
            }
        }
    }
}
