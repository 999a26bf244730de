package import AudioCore
import AudioDecoders
import Glibc
package import LinuxSystem
package import NowPlaying
import Synchronization

/// Looks for the pictures of an item: inside of it, else beside it, else what stands for a picture. Blocks; any thread.
package final class ArtworkSearch: Sendable {
    /// What the configuration says about pictures.
    package struct Rules: Equatable, Sendable {
        /// Names of pictures beside the audio, without ending, the best first; lower case.
        package var names: [String]
        /// Stands for the picture of what has none; nil: nothing does.
        package var placeholder: String?

        /// Rules, by their parts.
        package init(names: [String] = ["cover", "folder", "front", "album", "artwork"], placeholder: String? = nil) {
            self.names = names
            self.placeholder = placeholder
        }
    }

    /// A picture and where it was found.
    package struct Found: Sendable {
        package let artwork: Artwork
        package let origin: ArtworkOrigin
    }

    /// What a search has to say.
    package struct Result: Sendable {
        /// The same picture in several sizes; empty: there is none.
        package var found: [Found] = []
        /// Pictures that can't be shown, and why, for the log.
        package var failures: [String] = []
    }

    /// Endings of pictures beside the audio, the best first.
    private static let endings = ["jpg", "jpeg", "png", "webp", "avif", "gif"]
    /// Names of a folder that are looked at, at most.
    private static let mostNames = 20_000

    private struct FileKey: Hashable {
        let device: UInt64
        let inode: UInt64
        let size: Int64
        let seconds: Int
        let nanoseconds: Int
    }

    /// Pictures beside the audio that were looked at last: an album has one for all its items.
    private let known = Mutex<[(key: FileKey, artwork: Artwork)]>([])

    /// A search that knows nothing yet.
    package init() {}

    /// The pictures of what is played from `source`. `roots` answers the folder that links must not lead out of, for a
    /// folder of music. Given up when `abandoned` is set.
    package func search(
        _ source: MediaSource, _ rules: Rules, root: (FilePath) -> FilePath?, _ abandoned: AbandonFlag
    ) -> Result {
        var result = Result()
        embedded(in: source, &result, abandoned)
        if result.found.isEmpty, !abandoned.isSet, let path = source.mediaPath {
            beside(path, rules.names, root(path.folder) ?? path.folder, &result, abandoned)
        }
        if result.found.isEmpty, let text = rules.placeholder, let path = FilePath(Array(text.utf8)) {
            look(at: ConfinedPath(root: path.folder, relative: FilePath(path.name) ?? path), &result, abandoned)
        }
        return result
    }

    private func embedded(in source: MediaSource, _ result: inout Result, _ abandoned: AbandonFlag) {
        guard let file = (try? source.mediaFile(abandoned)) ?? nil,
            let pictures = try? EmbeddedPicture.all(in: file), !pictures.isEmpty
        else { return }
        // The front cover; else what is not said to be anything; else whatever there is, icons last.
        let order = { (kind: Int) in kind == 3 ? 0 : kind == 0 ? 1 : kind == 1 || kind == 2 ? 3 : 2 }
        let best = pictures.map { order($0.kindNumber) }.sorted()
        for rank in Set(best).sorted() {
            for picture in pictures where order(picture.kindNumber) == rank {
                if abandoned.isSet { return }
                take(.embedded(picture, in: source), &result, abandoned)
            }
            if !result.found.isEmpty { return }
        }
    }

    private func beside(
        _ path: FilePath, _ names: [String], _ root: FilePath, _ result: inout Result, _ abandoned: AbandonFlag
    ) {
        let folder = path.folder
        guard let relative = folder.normalized.below(root.normalized) else { return }
        var best: (rank: Int, name: FilePath)?
        guard let stream = folder.withCString({ opendir($0) }) else { return }
        var count = 0
        while count < Self.mostNames, !abandoned.isSet, let entry = readdir(stream) {
            count += 1
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard let rank = Self.rank(bytes, names), rank < best?.rank ?? .max, let name = FilePath(bytes) else {
                continue
            }
            best = (rank, name)
        }
        closedir(stream)
        guard let best else { return }
        look(at: ConfinedPath(root: root, relative: relative.appending(best.name)), &result, abandoned)
    }

    /// How good a name is for a picture, 0 the best; nil: it is no such name.
    static func rank(_ name: [UInt8], _ names: [String]) -> Int? {
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), name.count - dot <= 5 else { return nil }
        let ending = String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
        guard let second = endings.firstIndex(of: ending) else { return nil }
        let stem = String(decoding: name[..<dot], as: UTF8.self).lowercased()
        guard let first = names.firstIndex(of: stem) else { return nil }
        return first * endings.count + second
    }

    /// A picture in a file of its own, known or not.
    private func look(at place: ConfinedPath, _ result: inout Result, _ abandoned: AbandonFlag) {
        let located = place.locate()
        guard located >= 0 else {
            if located != -ENOENT {
                result.failures.append(
                    "the picture \(MediaSource.fileURI(place.path)) is not shown: "
                        + (located == -EXDEV || located == -ELOOP
                            ? "it is a link that leads elsewhere" : SystemError.words(-located).lowercased()))
            }
            return
        }
        var status = stat()
        let isThere = fstat(located, &status) == 0
        close(located)
        let key = FileKey(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
        if isThere, let artwork = known.withLock({ known in known.first { $0.key == key }?.artwork }) {
            result.found = [Found(artwork: artwork, origin: .file(place))]
            return
        }
        take(.file(place), &result, abandoned)
        guard isThere, let artwork = result.found.first?.artwork else { return }
        known.withLock { known in
            if known.count >= 16 { known.removeFirst() }
            known.append((key, artwork))
        }
    }

    /// Reads a picture to learn what it is.
    private func take(_ origin: ArtworkOrigin, _ result: inout Result, _ abandoned: AbandonFlag) {
        do throws(ArtworkError) {
            let bytes = try origin.bytes(abandoned)
            guard let artwork = Artwork(ofPicture: bytes) else {
                throw ArtworkError(message: "it is no picture that is known (JPEG, PNG, WebP, AVIF, GIF), or broken")
            }
            if !result.found.contains(where: { $0.artwork.id == artwork.id }) {
                result.found.append(Found(artwork: artwork, origin: origin))
            }
        } catch {
            if !abandoned.isSet { result.failures.append("\(origin.words) is not shown: \(error.message)") }
        }
    }
}

extension Artwork {
    /// What the picture with these bytes is; nil: no picture that is known.
    package init?(ofPicture bytes: [UInt8]) {
        guard let header = ImageHeader(bytes) else { return nil }
        self.init(
            id: ContentDigest.of(bytes), width: header.width, height: header.height, mediaType: header.kind.mediaType)
    }
}
