import AudioCore
import NowPlaying

/// A chain of Ogg links that no library plays as one: a chain of FLAC, or one with different rates or codings. Each
/// link has a decoder of its own. Adjacent links of one format follow one another without a gap; where the format
/// changes, the format of this decoder changes too (see `AudioDecoder.nextFormatChange`).
final class ChainedOggDecoder: AudioDecoder {
    private struct Link {
        let bytes: Range<Int64>
        let part: Int
        /// Its frames, counted from the beginning of the file at the rate of its part.
        let frames: Range<Int64>
        let metadata: MediaMetadata
        let mediaFormat: MediaFormat
    }

    /// Links of one format that follow one another.
    private struct Part {
        let format: AudioFormat
        /// Seconds from the beginning of the file.
        let start: Double
        /// As `Link.frames`.
        var frames: Range<Int64>
    }

    private let file: MediaFile
    private let links: [Link]
    private let parts: [Part]
    /// Seconds of the whole chain.
    private let duration: Double
    /// Error that ends the chain before the end of the file; nil: none.
    private let failure: DecodingError?

    private var part = 0
    /// Index of the present link, its decoder if open, and the next frame to read.
    private var link = 0
    private var decoder: (any AudioDecoder)?
    private var position: Int64 = 0
    private var reportedLink = 0

    /// Opens each link once, to learn its length. Throws the error of the first link.
    init(_ file: MediaFile, links ranges: [Range<Int64>]) throws(DecodingError) {
        var links: [Link] = []
        var parts: [Part] = []
        var seconds = 0.0
        var failure: DecodingError?
        for bytes in ranges {
            let decoder: any AudioDecoder
            let length: Int64
            do throws(DecodingError) {
                decoder = try DecoderRegistry.openOggLink(file, bytes)
                length = try Self.length(of: decoder)
            } catch {
                // The links before the error still play.
                if links.isEmpty { throw error }
                failure = error
                break
            }
            let format = decoder.format
            if parts.last?.format != format {
                let first = format.frames(seconds: seconds)
                parts.append(Part(format: format, start: seconds, frames: first..<first))
            }
            let part = parts.count - 1
            let first = parts[part].frames.upperBound
            let frames = first..<max(first, format.length(claimed: first + length))
            parts[part].frames = parts[part].frames.lowerBound..<frames.upperBound
            seconds = TimeLimit.bounded(parts[part].start + format.seconds(frames: Int64(parts[part].frames.count)))
            links.append(
                Link(
                    bytes: bytes, part: part, frames: frames, metadata: decoder.metadata,
                    mediaFormat: decoder.mediaFormat))
        }
        self.file = file
        self.links = links
        self.parts = parts
        self.failure = failure
        duration = seconds
    }

    private static func length(of decoder: any AudioDecoder) throws(DecodingError) -> Int64 {
        guard let length = decoder.boundedLength else {
            throw DecodingError(.broken, "one of its links has no known length")
        }
        return length
    }

    var format: AudioFormat { parts[part].format }
    var mediaFormat: MediaFormat { links[link].mediaFormat }
    var metadata: MediaMetadata { links[link].metadata }

    var lengthInFrames: Int64? {
        part == parts.count - 1 ? parts[part].frames.upperBound : format.frames(seconds: duration)
    }

    // MARK: Parts of different formats

    var nextFormatChange: Double? { part + 1 < parts.count ? parts[part + 1].start : nil }

    func adoptFormat(at seconds: Double) throws(DecodingError) {
        // The tolerance is half a frame at the later rate, because seconds are not whole frames.
        let wanted = parts.lastIndex { $0.start - 0.5 / Double($0.format.sampleRate) <= seconds } ?? 0
        if wanted == part { return }
        part = wanted
        try seek(toFrame: parts[wanted].frames.lowerBound)
    }

    func seek(toFrame frame: Int64) throws(DecodingError) {
        let frames = parts[part].frames
        position = min(max(frames.lowerBound, frame), frames.upperBound)
        let wanted = links.lastIndex { $0.part == part && $0.frames.lowerBound <= position } ?? link
        if wanted != link {
            link = wanted
            decoder = nil
        }
        reportedLink = link
        guard position < frames.upperBound else { return }
        do throws(DecodingError) {
            try open().seek(toFrame: position - links[link].frames.lowerBound)
        } catch {
            decoder = nil
            throw error
        }
    }

    /// The decoder of the present link.
    private func open() throws(DecodingError) -> any AudioDecoder {
        if let decoder { return decoder }
        let opened = try DecoderRegistry.openOggLink(file, links[link].bytes)
        decoder = opened
        return opened
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int {
        let size = format.bytesPerFrame
        while position < parts[part].frames.upperBound {
            let end = links[link].frames.upperBound
            if position >= end {
                link += 1
                decoder = nil
                continue
            }
            let room = Int(min(Int64(buffer.count / size), end - position))
            guard room > 0 else { return 0 }
            let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(room * size)])
            var count = try open().read(into: target)
            if count == 0 {
                // The link is shorter than its length claims: silence fills the rest, so that all later frames keep
                // their position.
                if link == links.count - 1 { return 0 }
                target.initializeMemory(as: UInt8.self, repeating: 0)
                count = room
            }
            position += Int64(count)
            if position >= end, position < parts[part].frames.upperBound {
                link += 1
                decoder = nil
            }
            return count
        }
        if part == parts.count - 1, let failure { throw failure }
        return 0
    }

    func takeMetadataChange() -> MediaMetadata? {
        guard link != reportedLink else { return nil }
        reportedLink = link
        return metadata
    }
}
