package import AudioCore
import AudioDecoders
import Glibc
package import LinuxSystem
package import NowPlaying
import Synchronization

/// Searches the pictures of an item: inside the file, else beside it, else the placeholder. It searches animated
/// artwork beside the file. Blocks; any thread.
package final class ArtworkSearch: Sendable {
    /// Settings for pictures.
    package struct Rules: Equatable, Sendable {
        /// Names of pictures beside the audio, without suffix, the best first; lower case.
        package var names: [String]
        /// Path of the picture for items without one; nil: there is no placeholder.
        package var placeholder: String?
        /// True if the search includes animated artwork.
        package var isAnimated = true
        package var films = FilmNames()

        /// Rules, by their parts.
        package init(names: [String] = ["cover", "folder", "front", "album", "artwork"], placeholder: String? = nil) {
            self.names = names
            self.placeholder = placeholder
        }

        /// The names of pictures in a setting, with commas between them; nil: it is not valid.
        package static func names(setting text: String) -> [String]? {
            let names = text.lowercased().split(separator: ",", omittingEmptySubsequences: false).map { part in
                String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }
            return names.count <= 32 && names.allSatisfy { !$0.isEmpty && !$0.contains("/") } ? names : nil
        }

        /// The name of films in a setting, in lower case; nil: it is not valid.
        package static func film(setting text: String) -> String? {
            text.isEmpty || text.contains("/") ? nil : text.lowercased()
        }

        /// MiB of pictures in a setting; nil: it is not valid.
        package static func cacheSize(setting text: String) -> Int? {
            Int(text).flatMap { (1...65_536).contains($0) ? $0 : nil }
        }
    }

    /// Names of animated artwork, without suffix, in lower case; nil: none of this shape. No dictionary: it would cost each
    /// start of the daemon a search through the conformances of the whole program.
    package struct FilmNames: Equatable, Sendable {
        private var square: String?
        private var tall: String?

        /// Names, by their shapes.
        package init(square: String? = "cover-square", tall: String? = "cover-tall") {
            self.square = square
            self.tall = tall
        }

        /// The name of animated artwork of this shape.
        package subscript(shape: AnimatedShape) -> String? {
            get {
                switch shape {
                case .square: square
                case .tall: tall
                }
            }
            set {
                switch shape {
                case .square: square = newValue
                case .tall: tall = newValue
                }
            }
        }
    }

    /// A picture and where it was found.
    package struct Found: Sendable {
        package let artwork: Artwork
        package let origin: ArtworkOrigin

        /// A picture, by its parts.
        package init(artwork: Artwork, origin: ArtworkOrigin) {
            self.artwork = artwork
            self.origin = origin
        }
    }

    /// Result of a search.
    package struct Result: Sendable {
        /// The same picture in several sizes; empty: there is none.
        package var found: [Found] = []
        /// True if the picture is the placeholder.
        package var isPlaceholder = false
        /// One of each shape, at most.
        package var animated: [AnimatedArtwork] = []
        /// Pictures that can't be shown, and why, for the log.
        package var failures: [String] = []

        /// Nothing found.
        package init() {}
    }

    private static let remembered = 16

    /// The last pictures that were read beside the audio: an album has one for all its items.
    private let known = Mutex<[(key: FileKey, artwork: Artwork)]>([])
    /// The last films that were read, each with the reason if it is not shown.
    private let knownFilms = Mutex<[(key: FileKey, shape: AnimatedShape, film: Film)]>([])
    private let folders = AlbumFolders()

    private typealias Film = Swift.Result<AnimatedArtwork, ArtworkError>

    /// A search without remembered results.
    package init() {}

    /// Searches the pictures of `source`. `root` returns the media root of a folder: links must not leave it. `picture`
    /// and `films` are the files that a client named with the item. Ends early when `task` is abandoned.
    package func search(
        _ source: MediaSource, _ rules: Rules, picture: ConfinedPath? = nil, films: [AnimatedShape: ConfinedPath] = [:],
        root: (FilePath) -> FilePath?, _ task: ArtworkTask
    ) -> Result {
        var result = Result()
        embedded(in: source, &result, task)
        if let path = source.mediaPath, !task.abandoned.isSet {
            let folder = path.folder
            let root = root(folder) ?? folder
            if result.found.isEmpty || rules.isAnimated, let relative = folder.normalized.below(root.normalized) {
                let names = folders.look(folder, rules, task.abandoned)
                let path = { ConfinedPath(root: root, relative: relative.appending($0)) }
                if result.found.isEmpty, let name = names.picture { look(at: path(name), &result, task) }
                for shape in AnimatedShape.allCases where films[shape] == nil {
                    guard let name = names.films[shape] else { continue }
                    look(at: path(name), still: names.stills[shape].map(path), as: shape, &result, task)
                }
            }
        }
        if result.found.isEmpty, let picture { look(at: picture, &result, task) }
        if rules.isAnimated {
            for shape in AnimatedShape.allCases {
                if let film = films[shape] { look(at: film, still: nil, as: shape, &result, task) }
            }
        }
        if result.found.isEmpty, let text = rules.placeholder, let path = FilePath(Array(text.utf8)) {
            look(at: ConfinedPath(root: path.folder, relative: FilePath(path.name) ?? path), &result, task)
            result.isPlaceholder = !result.found.isEmpty
        }
        return result
    }

    private func embedded(in source: MediaSource, _ result: inout Result, _ task: ArtworkTask) {
        guard let file = (try? source.mediaFile(task.abandoned)) ?? nil,
            let pictures = try? EmbeddedPicture.all(in: file)
        else { return }
        if pictures.isEmpty { return picturesByChild(in: file, source, &result, task) }
        // Front covers first, then pictures of no stated kind, then the other kinds, and icons last.
        let order = { (kind: Int) in kind == 3 ? 0 : kind == 0 ? 1 : kind == 1 || kind == 2 ? 3 : 2 }
        let best = pictures.map { order($0.kindNumber) }.sorted()
        for rank in Set(best).sorted() {
            for picture in pictures where order(picture.kindNumber) == rank {
                if task.abandoned.isSet { return }
                take(.embedded(picture, in: source), &result, task)
            }
            if !result.found.isEmpty { return }
        }
    }

    /// Searches pictures that only the child can find.
    private func picturesByChild(in file: MediaFile, _ source: MediaSource, _ result: inout Result, _ task: ArtworkTask)
    {
        guard (try? EmbeddedPicture.needsChild(in: file)) == true else { return }
        do throws(DecodingError) {
            for (index, bytes) in try EmbeddedPicture.byChild(in: file, task.fetch).enumerated() {
                let origin = ArtworkOrigin.byChild(index, in: source)
                do throws(ArtworkError) { try keep(bytes, origin, &result) } catch {
                    result.failures.append("cannot show \(origin.words): \(error.message)")
                }
            }
        } catch {
            // A file that cannot be opened is reported when it plays.
        }
    }

    /// Adds the picture in this file; reads it if it is not known yet.
    private func look(at path: ConfinedPath, _ result: inout Result, _ task: ArtworkTask) {
        guard let key = identity(of: path, "the picture", &result) else { return }
        if let artwork = known.withLock({ known in known.first { $0.key == key }?.artwork }) {
            result.found = [Found(artwork: artwork, origin: .file(path))]
            return
        }
        take(.file(path), &result, task)
        guard let artwork = result.found.first?.artwork else { return }
        known.withLock { known in
            if known.count >= Self.remembered { known.removeFirst() }
            known.append((key, artwork))
        }
    }

    /// Adds the film in this file; reads it if it is not known yet.
    private func look(
        at path: ConfinedPath, still: ConfinedPath?, as shape: AnimatedShape, _ result: inout Result,
        _ task: ArtworkTask
    ) {
        guard let key = identity(of: path, "the animated picture", &result) else { return }
        var film = knownFilms.withLock { known in known.first { $0.key == key && $0.shape == shape }?.film }
        if film == nil {
            do throws(ArtworkError) {
                film = .success(try AnimatedArtwork(path, still: still, as: shape, task.abandoned))
            } catch {
                film = .failure(error)
            }
            if let film, !task.abandoned.isSet {
                knownFilms.withLock { known in
                    if known.count >= Self.remembered { known.removeFirst() }
                    known.append((key, shape, film))
                }
            }
        }
        switch film {
        case .success(let film)?: result.animated.append(AnimatedArtwork(film, at: path, still: still))
        case .failure(let error)?:
            result.failures.append("cannot show \(AnimatedArtwork.words(path)): \(error.message)")
        case nil: break
        }
    }

    /// Identity of the file at this path; nil: there is none, or a link leads to a forbidden path.
    private func identity(of path: ConfinedPath, _ what: String, _ result: inout Result) -> FileKey? {
        let located = path.locate()
        guard located >= 0 else {
            if located != -ENOENT {
                result.failures.append(
                    "cannot show \(what) \(MediaSource.fileURI(path.path)): "
                        + (located == -EXDEV || located == -ELOOP
                            ? "it is a link that leads elsewhere" : SystemError.words(-located).lowercased()))
            }
            return nil
        }
        defer { close(located) }
        var status = stat()
        return fstat(located, &status) == 0 ? FileKey(status) : nil
    }

    /// Reads and identifies a picture.
    private func take(_ origin: ArtworkOrigin, _ result: inout Result, _ task: ArtworkTask) {
        do throws(ArtworkError) { try keep(try origin.bytes(task), origin, &result) } catch {
            if !task.abandoned.isSet { result.failures.append("cannot show \(origin.words): \(error.message)") }
        }
    }

    private func keep(_ bytes: [UInt8], _ origin: ArtworkOrigin, _ result: inout Result) throws(ArtworkError) {
        let artwork = try Artwork(judging: bytes)
        if !result.found.contains(where: { $0.artwork.id == artwork.id }) {
            result.found.append(Found(artwork: artwork, origin: origin))
        }
    }
}

extension Artwork {
    /// Identifies the picture with these bytes; nil: it is of no known kind.
    package init?(ofPicture bytes: [UInt8]) {
        guard let header = ImageHeader(bytes) else { return nil }
        self.init(
            id: ContentDigest.of(bytes), width: header.width, height: header.height, mediaType: header.kind.mediaType)
    }

    /// Identifies the picture with these bytes. Throws an error whose text follows the name of the picture.
    package init(judging bytes: [UInt8]) throws(ArtworkError) {
        guard let artwork = Artwork(ofPicture: bytes) else {
            throw ArtworkError(message: "it is damaged or not a supported picture (JPEG, PNG, WebP, AVIF, GIF)")
        }
        self = artwork
    }
}
