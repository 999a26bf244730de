import ArtworkLookup
import AudioCore
import ControlProtocol
import ControlServer
import Glibc
import LinuxSystem
import NowPlaying

/// `artwork.get`.
extension ArtworkKeeper {
    /// Result of handing out a picture.
    typealias Handed = RemotePictures.Fetched

    /// Seconds that a request waits for a disk.
    private static let patience = 30.0

    /// Answers with the path of a picture in the cache, in the size that fits best.
    func get(_ request: MethodRequest, _ answer: @escaping Answer) {
        let id = request.string("id") ?? ""
        guard let cache = parts.cache else {
            return answer(
                .failure(.commandFailed(.noCache, "no cache folder for pictures; set “cache-directory”")))
        }
        let kind = request.string("kind") ?? "image"
        let finish: @PlayerLoop (String, Handed) -> Void = { [self] words, result in
            keepShown()
            hand(result, words, withDescriptor: request.bool("descriptor") == true, answer)
        }
        if kind != "image" {
            guard let film = known.reversed().lazy.flatMap(\.result.animated).first(where: { $0.artwork.id == id })
            else {
                return answer(.failure(Self.unknown(id, "animated artwork")))
            }
            return kind == "video" ? video(film, cache) { finish(film.words, $0) } : preview(film, cache, finish)
        }
        let sizes = known.last { $0.result.found.contains { $0.artwork.id == id } }?.result.found
        if let sizes {
            let wanted = sizes.map(\.artwork).closest(
                width: request.integer("width"), height: request.integer("height"),
                fit: ArtworkFit(rawValue: request.string("fit") ?? "") ?? .cover)
            guard let found = sizes.first(where: { $0.artwork == wanted }) else { return }
            return work(found.origin, found.artwork, cache) { finish(found.origin.words, $0) }
        }
        guard let remote = address(withID: id) else { return answer(.failure(Self.unknown(id, "picture"))) }
        fetch(remote, cache) { finish("the picture \(remote.shown)", $0) }
    }

    /// True if one of the known items has a picture with this id.
    func knows(_ id: String) -> Bool {
        known.contains { known in
            known.result.found.contains { $0.artwork.id == id }
                || known.result.animated.contains { $0.artwork.id == id }
        } || address(withID: id) != nil
    }

    private static func unknown(_ id: String, _ what: String) -> RPCError {
        .noSuchContent(
            "no \(what) has the id “\(PrintableText.escaped(id, limit: 64))”; see the item's artwork",
            reason: .noArtwork)
    }

    /// Does the work on another thread; `done` is called once, after 30 s at the latest.
    private func work(
        _ origin: ArtworkOrigin, _ expected: Artwork?, _ cache: ArtworkCache,
        _ done: @escaping @PlayerLoop (Handed) -> Void
    ) {
        work(done) { Self.have(origin, expected, cache, $0) }
    }

    private func work(
        _ done: @escaping @PlayerLoop (Handed) -> Void, _ body: @escaping @Sendable (ArtworkTask) -> Handed
    ) {
        let task = ArtworkTask()
        var waiting: (@PlayerLoop (Handed) -> Void)? = done
        let late = parts.loop.deadline(EventLoop.now.advanced(bySeconds: Self.patience)) {
            task.giveUp()
            waiting?(.failure(ArtworkError(message: "its disk does not answer")))
            waiting = nil
        }
        parts.workers.submit {
            body(task)
        } _: { result in
            late.release()
            waiting?(result)
            waiting = nil
        }
    }

    /// Returns a picture in the cache; loads it first if necessary. Blocks.
    nonisolated static func have(
        _ origin: ArtworkOrigin, _ expected: Artwork?, _ cache: ArtworkCache, _ task: ArtworkTask
    ) -> Handed {
        if let expected, let path = cache.path(of: expected) { return .success((expected, path)) }
        do throws(ArtworkError) {
            let bytes = try origin.bytes(task)
            let artwork = try Artwork(judging: bytes)
            guard artwork == expected ?? artwork else { throw ArtworkError(message: "it has changed") }
            return .success((artwork, try cache.store(bytes, as: artwork)))
        } catch {
            return .failure(error)
        }
    }

    // MARK: Animated

    private func video(
        _ film: AnimatedArtwork, _ cache: ArtworkCache, _ done: @escaping @PlayerLoop (Handed) -> Void
    ) {
        work(done) { task in
            if let path = cache.path(of: film.artwork) { return .success((film.artwork, path)) }
            do throws(ArtworkError) {
                let path = try cache.store(as: film.artwork) {
                    (write: ([UInt8]) throws(ArtworkError) -> Void) throws(ArtworkError) in
                    try film.copy(task, to: write)
                }
                return .success((film.artwork, path))
            } catch {
                return .failure(error)
            }
        }
    }

    /// The still picture beside a film, else the still picture of the item, else the film's first frame.
    private func preview(
        _ film: AnimatedArtwork, _ cache: ArtworkCache, _ finish: @escaping @PlayerLoop (String, Handed) -> Void
    ) {
        let id = film.artwork.id
        let item = known.last { $0.result.animated.contains { $0.artwork.id == id } }
        let still = film.still.map { ArtworkOrigin.file($0) }
        let image = item.flatMap { $0.result.isPlaceholder ? nil : $0.result.found.first }
        let before = self.preview(of: id)
        let origin = before?.origin ?? still ?? image?.origin ?? .firstFrame(film)
        let expected = before?.artwork ?? (still == nil ? image?.artwork : nil)
        work(origin, expected, cache) { [self] result in
            if case .success(let handed) = result {
                remember(ArtworkSearch.Found(artwork: handed.artwork, origin: origin), of: id)
            }
            finish(origin.words, result)
        }
    }

    // MARK: The answer

    private func hand(
        _ result: Handed, _ words: String, withDescriptor: Bool, _ answer: @escaping Answer
    ) {
        switch result {
        case .failure(let error):
            answer(.failure(.noSuchContent("cannot get \(words): \(error.message)", reason: .noArtwork)))
        case .success(let (artwork, path)):
            var value = JSONObject([
                .init("id", .string(artwork.id)), .init("path", .string(path)),
                .init("type", .string(artwork.mediaType)),
                .init("width", .integer(Int64(artwork.width))), .init("height", .integer(Int64(artwork.height))),
            ])
            guard withDescriptor else { return answer(.success(.object(value))) }
            value["descriptor"] = 0
            parts.workers.submit { [value] in
                Self.open(path, value)
            } _: {
                answer($0)
            }
        }
    }

    /// Opens the file of the cache for reading and adds it to the answer. Blocks.
    private nonisolated static func open(_ path: String, _ value: JSONObject) -> MethodResult {
        do throws(DecodingError) {
            return .withDescriptor(.object(value), try ArtworkCache.open(path))
        } catch {
            return .failure(.commandFailed(.noCache, "cannot open \(path): \(error.message)"))
        }
    }
}
