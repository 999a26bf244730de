package import AudioCore
package import AudioDecoders
import Glibc
package import LinuxSystem
import NowPlaying

/// Source of a picture. Every read blocks.
package enum ArtworkOrigin: Sendable {
    /// Inside of a music file.
    case embedded(EmbeddedPicture, in: MediaSource)
    /// The same in a file that the child reads: its index among the pictures found by the child.
    case byChild(Int, in: MediaSource)
    /// A file of its own, in a folder that its links don't lead out of.
    case file(ConfinedPath)
    /// On the network. `shown`: the address without what lets in; `certificates`: a file of those to trust instead of the
    /// system's.
    case remote(PictureFetch.Address, shown: String, certificates: String?)
    /// The beginning of an animated one.
    case firstFrame(AnimatedArtwork)

    /// Bytes of a picture, at most.
    package static let largest = 32 << 20

    /// For the log, without control characters (addresses are percent-encoded).
    package var words: String {
        switch self {
        case .embedded(_, let source), .byChild(_, let source): "the picture in \(source.uri)"
        case .file(let file): "the picture \(MediaSource.fileURI(file.path))"
        case .remote(_, let shown, _): "the picture \(shown)"
        case .firstFrame(let film): film.words
        }
    }

    /// True if it keeps a client's open file.
    package var holdsDescriptors: Bool {
        switch self {
        case .embedded(_, let source), .byChild(_, let source): source.holdsDescriptors
        case .file, .remote, .firstFrame: false
        }
    }

    /// All of the picture. Throws words that follow `words`.
    package func bytes(_ task: ArtworkTask) throws(ArtworkError) -> [UInt8] {
        do throws(DecodingError) {
            switch self {
            case .embedded(let picture, let source):
                guard let file = try source.mediaFile(task.abandoned) else { throw Self.gone }
                return try picture.bytes(in: file, limit: Self.largest)
            case .byChild(let index, let source):
                guard let file = try source.mediaFile(task.abandoned) else { throw Self.gone }
                let pictures = try EmbeddedPicture.byChild(in: file, task.fetch)
                guard pictures.indices.contains(index) else { throw Self.gone }
                return pictures[index]
            case .file(let file):
                let file = try file.mediaFile(task.abandoned)
                guard file.size <= Self.largest else {
                    throw DecodingError(.unavailable, "it has more than \(Self.largest >> 20) MiB")
                }
                return try file.bytes(at: 0, count: Int(file.size))
            case .remote(let address, _, let certificates):
                return try task.fetch.fetch(
                    address, certificates: certificates, userAgent: "\(Product.name)/\(Product.version)")
            case .firstFrame(let film): return try film.firstFrame(task)
            }
        } catch {
            throw ArtworkError(message: error.message)
        }
    }

    private static let gone = DecodingError(.unavailable, "is gone")
}

/// Why a picture can't be had.
package struct ArtworkError: Error, Equatable, Sendable {
    /// Words that follow what it is about; no control characters.
    package let message: String

    /// An error in these words.
    package init(message: String) { self.message = message }
}

extension ConfinedPath {
    /// The regular file that is there, open. Throws what opening it throws.
    func mediaFile(_ abandoned: AbandonFlag) throws(DecodingError) -> MediaFile {
        let opened = openFile()
        guard opened >= 0 else { throw MediaFile.openingError(-opened) }
        return try MediaFile(descriptor: opened, shouldStop: { abandoned.isSet })
    }
}

extension MediaSource {
    /// The file of the disk that is played, opened once more; nil: there is none (it comes from the network).
    /// Throws what opening it throws.
    package func mediaFile(_ abandoned: AbandonFlag) throws(DecodingError) -> MediaFile? {
        switch self {
        case .file(let path): return try MediaFile(pathBytes: path.bytes, shouldStop: { abandoned.isSet })
        case .confined(let file): return try file.mediaFile(abandoned)
        case .descriptor(let descriptor, _):
            let own = fcntl(descriptor.number, F_DUPFD_CLOEXEC, 0)
            guard own >= 0 else { throw MediaFile.openingError(errno) }
            return try MediaFile(descriptor: own, shouldStop: { abandoned.isSet })
        case .segment(let segment): return try segment.audio.mediaFile(abandoned)
        case .remote, .handedOver: return nil
        }
    }

    /// The path of the file that is played; nil: it has none that is known.
    var mediaPath: FilePath? {
        switch self {
        case .file(let path): path
        case .confined(let file): file.path
        case .segment(let segment): segment.audio.mediaPath
        case .descriptor, .remote, .handedOver: nil
        }
    }
}
