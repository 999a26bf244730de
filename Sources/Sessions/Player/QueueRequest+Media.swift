import MediaAccess
import NowPlaying
import PlaybackEngine
import StateKeeping

extension QueueRequest {
    /// Requests for these media in order; the first gets the first of the numbers. Not isolated: in a closure that is, it would be looked for each of them whether this is the loop.
    static func list(of media: [ResolvedMedia], _ numbers: TakenNumbers?) -> [QueueRequest] {
        guard let first = numbers?.first else {
            return media.map { QueueRequest(source: $0.source, details: $0.details) }
        }
        return media.enumerated().map { index, media in
            QueueRequest(source: media.source, details: media.details, number: first + Int64(index))
        }
    }
}
