package import AudioCore
package import AudioDecoders
import Glibc
package import LinuxSystem
import NowPlaying

/// Source of a picture. Every read blocks.
package enum ArtworkOrigin: Sendable {
    /// Inside a music file.
    case embedded(EmbeddedPicture, in: MediaSource)
    /// In a music file that the child reads: its index among the pictures that the child finds.
    case byChild(Int, in: MediaSource)
    /// A file of its own, in a folder that its links do not leave.
    case file(ConfinedPath)
    /// On the network. `shown`: the address without credentials; `certificates`: a file of certificates to trust in
    /// place of the system's.
    case remote(PictureFetch.Address, shown: String, certificates: String?)
    /// The first frame of animated artwork.
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

    /// True if the origin keeps a client's open file.
    package var holdsDescriptors: Bool {
        switch self {
        case .embedded(_, let source), .byChild(_, let source): source.holdsDescriptors
        case .file, .remote, .firstFrame: false
        }
    }

    /// The whole picture. Throws an error whose text follows `words`.
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

/// Reason why a picture is not available.
package struct ArtworkError: Error, Equatable, Sendable {
    /// Text that follows the name of the picture; no control characters.
    package let message: String

    /// An error in these words.
    package init(message: String) { self.message = message }
}

extension ConfinedPath {
    /// Opens the regular file at this path. Throws the error of the open.
    func mediaFile(_ abandoned: AbandonFlag) throws(DecodingError) -> MediaFile {
        let opened = openFile()
        guard opened >= 0 else { throw MediaFile.openingError(-opened) }
        return try MediaFile(descriptor: opened, shouldStop: { abandoned.isSet })
    }
}

extension MediaSource {
    /// Opens the local file of the source once more; nil: the source comes from the network. Throws the error of the
    /// open.
    package func mediaFile(_ abandoned: AbandonFlag) throws(DecodingError) -> MediaFile? {
        switch self {
        case .plain(let path): return try MediaFile(pathBytes: path.path.bytes, shouldStop: { abandoned.isSet })
        case .confined(let file): return try file.mediaFile(abandoned)
        case .descriptor(let descriptor, _):
            let own = fcntl(descriptor.number, F_DUPFD_CLOEXEC, 0)
            guard own >= 0 else { throw MediaFile.openingError(errno) }
            return try MediaFile(descriptor: own, shouldStop: { abandoned.isSet })
        case .segment(let segment): return try segment.audio.mediaFile(abandoned)
        case .remote, .handedOver: return nil
        }
    }

    /// The path of the local file of the source; nil: none is known.
    var mediaPath: FilePath? {
        switch self {
        case .plain(let path): path.path
        case .confined(let file): file.path
        case .segment(let segment): segment.audio.mediaPath
        case .descriptor, .remote, .handedOver: nil
        }
    }
}
