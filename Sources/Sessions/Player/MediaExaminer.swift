import AudioCore
import ControlProtocol
import LinuxSystem
import NowPlaying
import PlaybackEngine

/// Opens media to see whether they can be played.
struct MediaExaminer: Sendable {
    /// Seconds that an answer waits at most for the network to say whether there is something to play.
    private static let patience = 0.6
    /// Opens media as players do.
    let opener: DecoderOpener

    /// The refusal of a source that can't be played at this position in seconds, nil: at its start; nil: it can, as far as is
    /// known. Blocks; given up when `abandoned` is set.
    func refusal(of source: MediaSource, at position: Double?, _ abandoned: AbandonFlag) -> RPCError? {
        do throws(DecodingError) {
            let decoder = try opener(source, abandoned)
            guard case .remote(let media) = source, let late = decoder as? any LateDecoder else {
                guard let position, !decoder.lengthIsEstimated, let length = decoder.boundedLength else { return nil }
                let duration = decoder.format.seconds(frames: length)
                return position > duration ? CommandRefusal.outOfRange(position, duration: duration).error : nil
            }
            // A source that the network has not refused by now counts as present, and is reported as late.
            let deadline = EventLoop.now.advanced(bySeconds: Self.patience)
            while try !late.isOpened() {
                guard late.wait(seconds: deadline.seconds(since: EventLoop.now)) else { break }
            }
            media.keep(decoder)
            return nil
        } catch {
            return .noSuchContent("cannot play \(source.uri): \(error.message)", uris: [source.uri])
        }
    }
}
