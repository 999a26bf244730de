import ArtworkLookup
package import AudioCore
import AudioDecoders
package import LinuxSystem

/// Identity of an item's content, independent of its path. For a file it is a digest of the size and of three parts, so
/// that a renamed or moved file keeps it; for a network source, a digest of the address. Reads 48 KiB; never on the
/// loop.
package enum ContentIdentity {
    private static let partBytes = 16 << 10

    /// The identity of an item, as text without spaces; nil: its file cannot be read now.
    package static func of(_ source: MediaSource, _ abandoned: AbandonFlag = AbandonFlag()) -> String? {
        switch source {
        case .remote(let media): return "address:" + ContentDigest.of(Array(media.address.utf8))
        case .handedOver: return nil
        case .segment(let segment): return of(segment.audio, abandoned).map { "\($0)#\(segment.number)" }
        case .descriptor(let descriptor, _) where PipedMedia.isPipe(descriptor): return nil
        case .plain, .confined, .descriptor:
            guard let file = try? source.mediaFile(abandoned) else { return nil }
            return try? digest(of: file)
        }
    }

    private static func digest(of file: MediaFile) throws(DecodingError) -> String {
        let size = file.size
        var bytes = (0..<8).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) }
        let last = max(0, size - Int64(partBytes))
        for offset in [0, last / 2, last] { bytes += try file.bytes(at: offset, count: partBytes) }
        return ContentDigest.of(bytes)
    }
}
