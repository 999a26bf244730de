import AudioCore
import AudioDecoders
import Glibc
package import LinuxSystem
package import NowPlaying

/// The shapes of animated artwork.
package enum AnimatedShape: String, Sendable, CaseIterable {
    case square = "1:1"
    case tall = "3:4"
}

/// A short film that is shown in a loop instead of the picture of an item. Only its header was read.
package struct AnimatedArtwork: Sendable {
    /// The film as clients see it.
    package let artwork: Artwork
    /// Path of the film.
    package let path: ConfinedPath
    /// The still picture that replaces the film; nil: there is none beside it.
    package let still: ConfinedPath?
    let header: VideoHeader

    /// Seconds and frames a second above which `advice` warns.
    private static let longest = 30.0
    private static let fastest = 60.0
    /// Bytes of a film, at most: half of the cache's default size.
    package static let largest: Int64 = 64 << 20
    /// Bytes from the start of a film that its id depends on, besides its size.
    private static let identifyingBytes = 64 << 10

    /// Reads a film's file. Blocks. Throws an error whose text follows the name of the file.
    init(
        _ path: ConfinedPath, still: ConfinedPath?, as shape: AnimatedShape, _ abandoned: AbandonFlag
    ) throws(ArtworkError) {
        do throws(DecodingError) {
            let file = try path.mediaFile(abandoned)
            guard let header = try VideoHeader(file) else {
                throw DecodingError(.notRecognised, "it is damaged or not a supported film (MP4, WebM, GIF)")
            }
            guard file.size <= Self.largest else {
                throw DecodingError(.unavailable, "it has more than \(Self.largest >> 20) MiB")
            }
            let size = withUnsafeBytes(of: file.size.littleEndian) { Array($0) }
            let first = try file.bytes(at: 0, count: Int(min(file.size, Int64(Self.identifyingBytes))))
            let artwork = Artwork(
                id: ContentDigest.of(size + first), kind: .animated, width: header.width, height: header.height,
                mediaType: header.mediaType)
            guard artwork.aspect == shape.rawValue else {
                throw DecodingError(
                    .unavailable, "it is \(header.width) × \(header.height), which is not \(shape.rawValue)")
            }
            self.artwork = artwork
            self.path = path
            self.still = still
            self.header = header
        } catch {
            throw ArtworkError(message: error.message)
        }
    }

    /// The same film at another path.
    init(_ other: AnimatedArtwork, at path: ConfinedPath, still: ConfinedPath?) {
        artwork = other.artwork
        header = other.header
        self.path = path
        self.still = still
    }

    /// Advice for its owner, in sentences.
    package var advice: [String] {
        var result: [String] = []
        if let duration = header.duration, duration > Self.longest {
            result.append(
                "it lasts \(Int(clamping: duration.rounded())) s; loops longer than \(Int(clamping: Self.longest)) s cost"
            )
        }
        if let rate = header.frameRate, rate > Self.fastest + 0.5 {
            result.append(
                "it has \(Int(clamping: rate.rounded())) frames a second: more than \(Int(clamping: Self.fastest)) are wasted"
            )
        }
        return result
    }

    /// For the log.
    package var words: String { Self.words(path) }

    /// A film at this path, for the log.
    static func words(_ path: ConfinedPath) -> String { "the animated picture \(MediaSource.fileURI(path.path))" }

    /// The first frame of the film, decoded by the child. Blocks. Throws the errors of the read and of the child.
    func firstFrame(_ task: ArtworkTask) throws(DecodingError) -> [UInt8] {
        try task.fetch.firstFrame(of: try path.mediaFile(task.abandoned))
    }

    /// Passes the whole film to `write`, piece by piece, while the file is unchanged. Blocks. Throws an error whose
    /// text follows `words`.
    package func copy(
        _ task: ArtworkTask, to write: ([UInt8]) throws(ArtworkError) -> Void
    ) throws(ArtworkError) {
        let shape = AnimatedShape(rawValue: artwork.aspect) ?? .square
        guard try AnimatedArtwork(path, still: nil, as: shape, task.abandoned).artwork == artwork else {
            throw ArtworkError(message: "it has changed")
        }
        do throws(DecodingError) {
            let file = try path.mediaFile(task.abandoned)
            guard file.size <= Self.largest else { throw DecodingError(.unavailable, "it grows during the read") }
            var offset: Int64 = 0
            while offset < file.size {
                let count = Int(min(Int64(Self.pieceBytes), file.size - offset))
                let piece = try file.bytes(at: offset, count: count)
                guard piece.count == count else { throw DecodingError(.unavailable, "it is truncated") }
                offset += Int64(count)
                do throws(ArtworkError) { try write(piece) } catch {
                    throw DecodingError(.unavailable, error.message)
                }
            }
        } catch {
            throw ArtworkError(message: error.message)
        }
    }

    private static let pieceBytes = 1 << 20
}
