package import AudioCore
package import AudioDecoders
import Glibc
package import LinuxSystem

/// Where a picture is to be had. Every reading blocks.
package enum ArtworkOrigin: Sendable {
    /// Inside of a music file.
    case embedded(EmbeddedPicture, in: MediaSource)
    /// A file of its own, in a folder that its links don't lead out of.
    case file(ConfinedPath)

    /// Bytes of a picture, at most.
    package static let largest = 32 << 20

    /// For the log, without control characters (addresses are percent-encoded).
    package var words: String {
        switch self {
        case .embedded(_, let source): "the picture in \(source.uri)"
        case .file(let place): "the picture \(MediaSource.fileURI(place.path))"
        }
    }

    /// All of the picture. Throws words that follow `words`.
    package func bytes(_ abandoned: AbandonFlag) throws(ArtworkError) -> [UInt8] {
        do throws(DecodingError) {
            switch self {
            case .embedded(let picture, let source):
                guard let file = try source.mediaFile(abandoned) else { throw DecodingError(.unavailable, "is gone") }
                return try picture.bytes(in: file, limit: Self.largest)
            case .file(let place):
                let opened = place.openFile()
                guard opened >= 0 else { throw MediaFile.openingError(-opened) }
                let file = try MediaFile(descriptor: opened, shouldStop: { abandoned.isSet })
                guard file.size <= Self.largest else {
                    throw DecodingError(.unavailable, "it has more than \(Self.largest >> 20) MiB")
                }
                return try file.bytes(at: 0, count: Int(file.size))
            }
        } catch {
            throw ArtworkError(message: error.message)
        }
    }
}

/// Why a picture can't be had.
package struct ArtworkError: Error, Equatable, Sendable {
    /// Words that follow what it is about; no control characters.
    package let message: String

    /// An error in these words.
    package init(message: String) { self.message = message }
}

extension MediaSource {
    /// The file of the disk that is played, opened once more; nil: there is none (it comes from the network).
    /// Throws what opening it throws.
    package func mediaFile(_ abandoned: AbandonFlag) throws(DecodingError) -> MediaFile? {
        switch self {
        case .file(let path): return try MediaFile(pathBytes: path.bytes, shouldStop: { abandoned.isSet })
        case .confined(let place):
            let opened = place.openFile()
            guard opened >= 0 else { throw MediaFile.openingError(-opened) }
            return try MediaFile(descriptor: opened, shouldStop: { abandoned.isSet })
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
        case .confined(let place): place.path
        case .segment(let segment): segment.audio.mediaPath
        case .descriptor, .remote, .handedOver: nil
        }
    }
}
