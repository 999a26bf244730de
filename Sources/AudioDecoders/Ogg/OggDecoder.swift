import AudioCore
import NowPlaying

/// Ogg Vorbis and Opus, as float32, the libraries' own form (`MP3Decoder` has the reasons). Links of a chain follow one
/// another without a gap, each with its tags. Where their numbers of channels differ, all come out with the largest
/// number, so that no channel is lost. Silence of the same length replaces missing parts, so that all later frames keep
/// their position.
final class OggDecoder: AudioDecoder {
    let format: AudioFormat
    let lengthInFrames: Int64?
    /// Index of the next frame's link, and index of the link whose tags were reported last.
    private var section = 0
    private var reportedSection = 0
    var metadata: MediaMetadata { links[section].metadata }
    var mediaFormat: MediaFormat { links[section].format }

    private struct Link {
        /// Its first frame, counted over all links.
        let start: Int64
        let channels: Int
        let metadata: MediaMetadata
        let format: MediaFormat
        /// For each delivered channel, the index of the link's channel; nil: silence.
        let sources: [Int?]
    }

    private let stream: any LinkedStream
    private let links: [Link]
    /// True if all links have the delivered channels.
    private let isUniform: Bool
    private let end: Int64
    /// The next frame to deliver, and the frames to drop before it.
    private var position: Int64 = 0
    private var framesToDrop: Int64 = 0
    private var isAtEnd = false
    /// Decoded frames of one link that are not delivered yet.
    private let decoded = UnsafeMutablePointer<Float>.allocate(capacity: OggDecoder.pieceFrames * 8)
    private var pending = LinkedPiece(frames: 0, link: 0, followsHole: false)
    private var pendingStart = 0
    private var silentFrames: Int64 = 0
    /// Frames after a hole for which the position is uncertain.
    private var framesInDoubt: Int64 = 0

    /// Error of a read that had frames before it; the next read throws it.
    private var failure: DecodingError?

    /// 120 ms of Opus: the longest packet of both codings.
    private static let pieceFrames = 5760
    /// Frames after which a read decodes no other packet; most packets have a quarter of it. More would delay the first sound.
    private static let framesAtOnce = 4096

    /// Takes over an open stream whose links have one rate. `codec`: its name for people; in `Opus` the R128 tags for
    /// loudness take precedence. Throws `.broken`.
    init(_ stream: any LinkedStream, codec: String) throws(DecodingError) {
        self.stream = stream
        let all = stream.links
        guard let first = all.first, let most = all.map(\.channels).max(), (1...8).contains(most) else {
            throw DecodingError(
                .broken, "it has \(all.map(\.channels).max() ?? 0) channels; 1 to 8 are supported")
        }
        guard (1...DecoderRegistry.maximumSampleRate).contains(first.sampleRate) else {
            throw DecodingError(
                .broken, "its sample rate is \(first.sampleRate) Hz; the sound server takes at most 384 kHz")
        }
        let order = ChannelPosition.vorbisOrder(channels: most)
        format = AudioFormat(sampleFormat: .float32, sampleRate: first.sampleRate, channels: order)
        var start: Int64 = 0
        var links: [Link] = []
        for link in all {
            links.append(
                Link(
                    start: start, channels: link.channels,
                    metadata: link.fields.metadata(prefersR128: codec == "Opus"),
                    format: MediaFormat(codec: codec, sampleRate: link.sampleRate, channels: link.channels),
                    sources: Self.sources(of: ChannelPosition.vorbisOrder(channels: link.channels), for: order)))
            start = format.length(claimed: start + format.length(claimed: link.frames))
        }
        self.links = links
        isUniform = links.allSatisfy { $0.channels == most }
        end = start
        lengthInFrames = start
    }

    deinit { decoded.deallocate() }

    /// Maps the channels of a link to those of the output. A single channel plays on both sides; others keep their
    /// position.
    private static func sources(of link: [ChannelPosition], for order: [ChannelPosition]) -> [Int?] {
        if link == [.mono], order.count > 1 { return order.map { $0 == .frontLeft || $0 == .frontRight ? 0 : nil } }
        return order.map { link.firstIndex(of: $0) }
    }

    func seek(toFrame frame: Int64) throws(DecodingError) {
        let target = min(max(0, frame), end)
        pending.frames = 0
        failure = nil
        silentFrames = 0
        framesInDoubt = 0
        position = target
        section = links.lastIndex { $0.start <= target && ($0.start < end || target == end) } ?? 0
        reportedSection = section
        isAtEnd = target >= end
        if isAtEnd { return }
        framesToDrop = target - (try stream.approach(target, notBefore: links[section].start))
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int {
        let room = Int64(buffer.count / format.bytesPerFrame)
        guard room > 0, let target = buffer.bindMemory(to: Float.self).baseAddress else { return 0 }
        if let failure {
            self.failure = nil
            throw failure
        }
        // Pages may claim earlier times than their sound needs: all sound plays.
        while !isAtEnd {
            if silentFrames > 0 {
                let count = Int(min(room, silentFrames, linkEnd - position))
                target.update(repeating: 0, count: count * format.channels.count)
                silentFrames -= Int64(count)
                position += Int64(count)
                section = links.lastIndex { $0.start <= position && position < end } ?? section
                return count
            }
            if pending.frames > 0 {
                let count = Int(min(room, Int64(pending.frames), linkEnd - position))
                deliver(count, to: target)
                section = links.lastIndex { $0.start <= position && position < end } ?? section
                return count
            }
            if isUniform, framesToDrop == 0, framesInDoubt <= 0 {
                let count = try decodeDirectly(Int(room), to: target)
                if count > 0 { return count }
            } else {
                pending = try stream.read(Self.pieceFrames, channels: 8, into: decoded)
                isAtEnd = !take()
            }
        }
        return 0
    }

    /// Decodes usual pieces of one link into the caller's buffer, which has room for `room` frames, and returns their number. A
    /// piece that is the end, follows a hole or crosses the end of a link ends this, and becomes `pending`.
    private func decodeDirectly(_ room: Int, to target: UnsafeMutablePointer<Float>) throws(DecodingError) -> Int {
        let channels = format.channels.count
        let link = section
        let most = min(room, Self.framesAtOnce)
        var (done, last) = (0, 0)
        // The library would copy a packet for which there is no room.
        while done < most, done + last <= most, section == link {
            let rest = target + done * channels
            let piece: LinkedPiece
            do throws(DecodingError) {
                piece = try stream.read(room - done, channels: channels, into: rest)
            } catch {
                guard done > 0 else { throw error }
                failure = error
                return done
            }
            guard piece.frames > 0, piece.link == link, !piece.followsHole, Int64(piece.frames) <= linkEnd - position
            else {
                decoded.update(from: rest, count: piece.frames * channels)
                pending = piece
                isAtEnd = !take()
                return done
            }
            last = piece.frames
            done += last
            position += Int64(piece.frames)
            section = links.lastIndex { $0.start <= position && position < end } ?? section
        }
        return done
    }

    /// Takes the decoded piece; false: it is the end.
    private func take() -> Bool {
        pendingStart = 0
        guard pending.frames > 0, links.indices.contains(pending.link) else {
            pending.frames = 0
            return false
        }
        if pending.followsHole { framesInDoubt = 4 * Int64(format.sampleRate) }
        if framesInDoubt > 0 {
            // The file's own times give the length of the gap; in Vorbis only at the end of a page.
            framesInDoubt -= Int64(pending.frames)
            let missing = stream.position.subtractingClamped(
                Int64(pending.frames) + position - framesToDrop)
            if missing > 0, missing < end - position {
                let dropped = min(framesToDrop, missing)
                framesToDrop -= dropped
                silentFrames = missing - dropped
                framesInDoubt = 0
            }
        }
        let dropped = Int(min(framesToDrop, Int64(pending.frames)))
        framesToDrop -= Int64(dropped)
        pendingStart = dropped
        pending.frames -= dropped
        return true
    }

    /// End of the present link, if another follows: no read crosses it.
    private var linkEnd: Int64 { section + 1 < links.count ? links[section + 1].start : .max }

    func takeMetadataChange() -> MediaMetadata? {
        guard section != reportedSection else { return nil }
        reportedSection = section
        return metadata
    }

    private func deliver(_ count: Int, to target: UnsafeMutablePointer<Float>) {
        let link = links[pending.link]
        let channels = format.channels.count
        let source = decoded + pendingStart * link.channels
        if link.channels == channels {
            target.update(from: source, count: count * channels)
        } else {
            for channel in 0..<channels {
                for index in 0..<count {
                    target[index * channels + channel] =
                        link.sources[channel].map { source[index * link.channels + $0] } ?? 0
                }
            }
        }
        pendingStart += count
        pending.frames -= count
        position += Int64(count)
    }
}
